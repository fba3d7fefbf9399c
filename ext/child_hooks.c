/* Theory of operation: in a zygote, around its preloads, and in each new child. What `random`
 * and `threading` have called after a fork (os.register_at_fork) is Python code that dirties
 * some hundred pages, a quarter of what a small run costs. A zygote forks with one thread and
 * no lock held, so that `threading` has nothing to mend; `random` gets its new state without
 * the detour. Hooks of everybody else are registered and run as ever. */
#include "child_warm.h"

#include "raw.h"

/* What csb_child.hooks holds: while modules are imported the first two, afterwards, in place
 * of the first, the function that seeds generators (None without any); the first thread and
 * numpy's function, or None. */
enum { REGISTER = 0, SEED = 0, GENERATORS = 1, THREAD = 2, NUMPY_SEED = 3 };

static const char *const homes[] = {"posix", "os"};
static const char name[] = "register_at_fork";

static bool
is_named(PyObject *hook, const char *module, const char *qualified)
{
    PyObject *home = PyObject_GetAttrString(hook, "__module__");
    PyObject *own = home == NULL ? NULL : PyObject_GetAttrString(hook, "__qualname__");
    bool result = own != NULL && PyUnicode_Check(home) && PyUnicode_Check(own) &&
                  PyUnicode_CompareWithASCIIString(home, module) == 0 &&
                  PyUnicode_CompareWithASCIIString(own, qualified) == 0;
    PyErr_Clear(); /* something callable without a name */
    Py_XDECREF(home);
    Py_XDECREF(own);
    return result;
}

static PyObject *
stand_in(PyObject *self, PyObject *args, PyObject *keywords)
{
    PyObject *hook = NULL; /* borrowed */
    if (PyTuple_Size(args) == 0 && keywords != NULL && PyDict_Size(keywords) == 1) {
        hook = PyDict_GetItemString(keywords, "after_in_child");
    }
    if (hook != NULL && is_named(hook, "threading", "_after_fork")) {
        Py_RETURN_NONE;
    }
    if (hook != NULL && is_named(hook, "random", "Random.seed")) {
        return PyList_Append(PyTuple_GetItem(self, GENERATORS), hook) < 0
                   ? NULL
                   : Py_NewRef(Py_None);
    }
    return PyObject_Call(PyTuple_GetItem(self, REGISTER), args, keywords);
}

static PyMethodDef definition = {
    name, (PyCFunction)(void (*)(void))stand_in, METH_VARARGS | METH_KEYWORDS,
    "os.register_at_fork, as modules see it that are imported ahead."};

static int
set_everywhere(PyObject *function)
{
    int result = 0;
    for (size_t i = 0; result == 0 && i < CSB_ARRAY_LEN(homes); i++) {
        PyObject *module = PyImport_ImportModule(homes[i]);
        result = module == NULL ? -1 : PyObject_SetAttrString(module, name, function);
        Py_XDECREF(module);
    }
    return result;
}

int
csb_child_hooks_watch(struct csb_child *child)
{
    PyObject *posix = PyImport_ImportModule(homes[0]);
    PyObject *original = posix == NULL ? NULL : PyObject_GetAttrString(posix, name);
    PyObject *generators = PyList_New(0);
    PyObject *self = NULL;
    PyObject *function = NULL;
    int result = -1;
    if (original != NULL && generators != NULL) {
        self = PyTuple_Pack(2, original, generators);
    }
    if (self != NULL) {
        function = PyCFunction_New(&definition, self);
    }
    if (function != NULL) {
        result = set_everywhere(function);
    }
    child->hooks = self;
    Py_XDECREF(function);
    Py_XDECREF(generators);
    Py_XDECREF(original);
    Py_XDECREF(posix);
    return result;
}

/* In place of each hook its generator, seeded once as `random` does it, which also forgets
 * what gauss() had in store. */
static int
keep_generators(PyObject *hooks)
{
    for (Py_ssize_t i = 0; i < PyList_Size(hooks); i++) {
        PyObject *hook = PyList_GetItem(hooks, i); /* borrowed */
        PyObject *seeded = PyObject_CallNoArgs(hook);
        PyObject *generator =
            seeded == NULL ? NULL : PyObject_GetAttrString(hook, "__self__");
        Py_XDECREF(seeded);
        if (generator == NULL || PyList_SetItem(hooks, i, generator) < 0) {
            return -1;
        }
    }
    return 0;
}

/* New reference to what an imported module has; None where it was not imported. */
static PyObject *
find(const char *module_name, const char *attribute)
{
    PyObject *key = PyUnicode_FromString(module_name);
    PyObject *module = key == NULL ? NULL : PyImport_GetModule(key);
    PyObject *result = NULL;
    if (module != NULL) {
        result = PyObject_GetAttrString(module, attribute);
    } else if (!PyErr_Occurred()) {
        result = Py_NewRef(Py_None);
    }
    Py_XDECREF(key);
    Py_XDECREF(module);
    return result;
}

int
csb_child_hooks_keep(struct csb_child *child)
{
    PyObject *watching = child->hooks;
    PyObject *generators = PyTuple_GetItem(watching, GENERATORS);
    PyObject *type = find("_random", "Random");
    PyObject *seed = type == NULL || type == Py_None
                         ? Py_XNewRef(type)
                         : PyObject_GetAttrString(type, "seed");
    PyObject *thread = find("threading", "_main_thread");
    PyObject *numpy = find("numpy.random", "seed");
    child->hooks = NULL;
    if (seed != NULL && thread != NULL && numpy != NULL &&
        set_everywhere(PyTuple_GetItem(watching, REGISTER)) == 0 &&
        keep_generators(generators) == 0) {
        child->hooks = PyTuple_Pack(4, seed, generators, thread, numpy);
    }
    Py_XDECREF(type);
    Py_XDECREF(seed);
    Py_XDECREF(thread);
    Py_XDECREF(numpy);
    Py_DECREF(watching);
    return child->hooks == NULL ? -1 : 0;
}

/* The number of the thread is the child's; of all that `threading` keeps, nothing else. */
static int
number_thread(PyObject *thread)
{
    PyObject *number = PyLong_FromLong(csb_syscall(SYS_gettid));
    int result =
        number == NULL ? -1 : PyObject_SetAttrString(thread, "_native_id", number);
    Py_XDECREF(number);
    return result;
}

static int
call(PyObject *function, PyObject *argument)
{
    PyObject *result = PyObject_CallFunctionObjArgs(function, argument, NULL);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

int
csb_child_hooks_run(const struct csb_child *child)
{
    PyObject *seed = PyTuple_GetItem(child->hooks, SEED); /* borrowed, as the next */
    PyObject *generators = PyTuple_GetItem(child->hooks, GENERATORS);
    PyObject *thread = PyTuple_GetItem(child->hooks, THREAD);
    PyObject *numpy = PyTuple_GetItem(child->hooks, NUMPY_SEED);
    for (Py_ssize_t i = 0; i < PyList_Size(generators); i++) {
        if (call(seed, PyList_GetItem(generators, i)) < 0) {
            return -1;
        }
    }
    return (numpy != Py_None && call(numpy, NULL) < 0) ||
                   (thread != Py_None && number_thread(thread) < 0)
               ? -1
               : 0;
}
