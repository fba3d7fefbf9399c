/* Theory of operation: runs in a zygote and in its new children, on programs of ours. The
 * first compilation in a process costs more than all the rest of a short run, and the first
 * write to each page after a fork is a fault; both are paid for here. Leaves no name, module
 * or output that a program could see. */
#include "child_warm.h"

#include "child_facts.h"

#include <string.h>

/* What most programs do: functions, loops, strings, containers, an exception, output. */
static const char sample[] =
    "def f(n, *a, **k):\n"
    "    t = {}\n"
    "    for i in range(n):\n"
    "        t[str(i)] = [i, i * 2.5, (i, 'x' * i)]\n"
    "    try:\n"
    "        raise ValueError(f'{n}')\n"
    "    except ValueError as e:\n"
    "        t['e'] = str(e)\n"
    "    return sorted(t), sum(x for x in range(n))\n"
    "class C:\n"
    "    def __init__(self, v):\n"
    "        self.v = v\n"
    "    def g(self):\n"
    "        return [self.v + j for j in range(8)]\n"
    "r = f(24, 1, k=2), C(3).g(), 'a,b'.split(','), ' '.join(map(str, range(40)))\n"
    "print(end='')\n";

static int
run_sample(void)
{
    PyObject *names = PyDict_New();
    PyObject *source = PyUnicode_FromString(sample);
    struct csb_fact_list facts = {0};
    PyObject *code = NULL;
    PyObject *result = NULL;
    if (names != NULL && source != NULL &&
        PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins()) == 0) {
        code = csb_child_compile(source, "<csandbox>");
    }
    if (code != NULL && csb_child_collect(code, &facts) == 0) {
        result = PyEval_EvalCode(code, names, names);
    }
    csb_fact_list_done(&facts);
    Py_XDECREF(code);
    Py_XDECREF(source);
    Py_XDECREF(names);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

static int
call_if_loaded(const char *module_name, const char *function)
{
    PyObject *name = PyUnicode_FromString(module_name);
    PyObject *module = name == NULL ? NULL : PyImport_GetModule(name);
    PyObject *result = NULL;
    int status = name == NULL || (module == NULL && PyErr_Occurred()) ? -1 : 0;
    if (module != NULL) {
        result = PyObject_CallMethod(module, function, NULL);
        status = result == NULL ? -1 : 0;
    }
    Py_XDECREF(result);
    Py_XDECREF(module);
    Py_XDECREF(name);
    return status;
}

static int
freeze(void)
{
    PyObject *gc = PyImport_ImportModule("gc");
    PyObject *collected = gc == NULL ? NULL : PyObject_CallMethod(gc, "collect", NULL);
    PyObject *frozen =
        collected == NULL ? NULL : PyObject_CallMethod(gc, "freeze", NULL);
    Py_XDECREF(gc);
    Py_XDECREF(collected);
    Py_XDECREF(frozen);
    return frozen == NULL ? -1 : 0;
}

int
csb_child_warm(const struct csb_child *child)
{
    (void)child;
    for (int i = 0; i < 3; i++) {
        if (run_sample() < 0) {
            return -1;
        }
    }
    return freeze();
}

int
csb_child_reseed(void)
{
    return call_if_loaded("random", "seed") < 0 ||
                   call_if_loaded("numpy.random", "seed") < 0
               ? -1
               : 0;
}

int
csb_child_touch(const struct csb_child *child)
{
    (void)child;
    return run_sample();
}
