/* Theory of operation: runs in a zygote and in its new children, on programs of ours. The
 * first compilation in a process costs more than all the rest of a short run, and the first
 * write to each page after a fork is a fault; both are paid for here. Leaves no name, module
 * or output that a program could see. */
#include "child_warm.h"

#include "child_facts.h"

#include <fcntl.h>
#include <unistd.h>

/* What most programs do, no more: every page that is dirtied here without need is copied, and
 * freed, once a run. */
static const char sample[] = "def f(n):\n"
                             "    t = {}\n"
                             "    for i in range(n):\n"
                             "        t[str(i)] = [i, (i, 'x' * i)]\n"
                             "    return sorted(t)\n"
                             "class C:\n"
                             "    def __init__(self, v):\n"
                             "        self.v = v\n"
                             "r = f(3), C(3).v, f'{1}', 'a,b'.split(',')\n"
                             "print(end='')\n";

static int
run_text(const char *text)
{
    PyObject *names = PyDict_New();
    PyObject *source = PyUnicode_FromString(text);
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

/* An error goes through modules that nothing else uses: once, into a stream of our own. */
static const char failing[] =
    "import io, sys\n"
    "kept, sys.stderr = sys.stderr, io.StringIO()\n"
    "def f():\n"
    "    raise ValueError('x')\n"
    "try:\n"
    "    import traceback\n"
    "    try:\n"
    "        f()\n"
    "    except ValueError as e:\n"
    "        traceback.print_exception(type(e), e, e.__traceback__)\n"
    "finally:\n"
    "    sys.stderr = kept\n";

/* As in the child, where only its text is another. */
static int
fill_loader(const struct csb_child *child)
{
    PyObject *text = PyUnicode_FromString("");
    int result = text == NULL ? -1 : csb_child_loader_fill(child->loader, text);
    Py_XDECREF(text);
    return result;
}

int
csb_child_warm(struct csb_child *child)
{
    for (int i = 0; i < 3; i++) {
        if (run_text(sample) < 0 || run_text(failing) < 0) {
            return -1;
        }
    }
    child->loader = csb_child_loader_new();
    return child->loader == NULL || fill_loader(child) < 0 ? -1 : freeze();
}

/* The ways that a run takes beside its own code: names, variables, the end. */
static int
go_the_ways(const struct csb_child *child)
{
    static char name[] = "submission.py";
    const struct csb_child_task task = {.file_name = name, .first_argument = name};
    int result = fill_loader(child) < 0 ? -1 : csb_child_become(&task);
    (void)PyGC_Collect();
    return result;
}

/* Output goes to nobody: its descriptor is not yet that of a run. */
static int
print_to_nobody(void)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0 || dup2(ends[1], STDOUT_FILENO) < 0) {
        PyErr_SetFromErrno(PyExc_OSError);
        return -1;
    }
    return run_text("print(1)\n");
}

int
csb_child_touch(const struct csb_child *child)
{
    if (run_text(sample) < 0 || go_the_ways(child) < 0 || print_to_nobody() < 0) {
        return -1;
    }
    csb_child_rehearse_leave();
    return 0;
}
