/* Theory of operation: runs in a forked child after the submission has ended. Tearing the
 * whole interpreter down would free what a zygote made and nobody will use again, page by
 * copied page; so only what a program can see of an interpreter's end is done, in CPython's
 * order: threads joined, exit functions called, streams flushed, the program's own objects
 * let go (their __del__ may print), streams flushed again. */
#include "child_script.h"

#include "raw.h"

#include <stdlib.h>

enum { STATUS_FAILED = 1, STATUS_NOT_FLUSHED = 120 };

/* What a SystemExit asks for (CPython's handle_system_exit). Text is printed. */
static int
status_of(PyObject *code)
{
    PyObject *errors = PySys_GetObject("stderr"); /* borrowed */
    if (code == Py_None) {
        return 0;
    }
    if (PyLong_Check(code)) {
        long value = PyLong_AsLong(code);
        PyErr_Clear(); /* too large: -1, as CPython has it */
        return (int)(value & 0xFF);
    }
    if (errors != NULL && errors != Py_None &&
        PyFile_WriteObject(code, errors, Py_PRINT_RAW) == 0) {
        (void)PyFile_WriteString("\n", errors);
    }
    PyErr_Clear();
    return STATUS_FAILED;
}

static int
take_status(PyObject *result)
{
    PyObject *type;
    PyObject *value;
    PyObject *traceback;
    PyObject *code;
    int status = STATUS_FAILED;
    if (result != NULL) {
        return 0;
    }
    if (!PyErr_ExceptionMatches(PyExc_SystemExit)) {
        PyErr_Print();
        return STATUS_FAILED;
    }
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    code = PyObject_GetAttrString(value, "code");
    if (code != NULL) {
        status = status_of(code);
    }
    PyErr_Clear();
    Py_XDECREF(code);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return status;
}

/* A function of a module that the program has loaded; what it raises is told on stderr. */
static void
call_if_loaded(const char *module_name, const char *function)
{
    PyObject *name = PyUnicode_FromString(module_name);
    PyObject *module = name == NULL ? NULL : PyImport_GetModule(name);
    PyObject *result =
        module == NULL ? NULL : PyObject_CallMethod(module, function, NULL);
    if (module != NULL && result == NULL) {
        PyErr_WriteUnraisable(module);
    }
    PyErr_Clear();
    Py_XDECREF(result);
    Py_XDECREF(module);
    Py_XDECREF(name);
}

/* The length of a container of a module; 0 when it has none of that name. */
static Py_ssize_t
length_of(PyObject *module, const char *name)
{
    PyObject *container = PyObject_GetAttrString(module, name);
    Py_ssize_t length = container == NULL ? 0 : PyObject_Size(container);
    PyErr_Clear();
    Py_XDECREF(container);
    return length;
}

/* Has the program started a thread, or asked to be told of the end of threads? Without that
 * threading._shutdown has nothing to do, and it is the most costly part of an end. */
static bool
had_threads(void)
{
    PyObject *name = PyUnicode_FromString("threading");
    PyObject *module = name == NULL ? NULL : PyImport_GetModule(name);
    bool result =
        module != NULL &&
        (length_of(module, "_active") != 1 || length_of(module, "_limbo") != 0 ||
         length_of(module, "_shutdown_locks") > 1 || /* the main one */
         length_of(module, "_threading_atexits") != 0);
    PyErr_Clear();
    Py_XDECREF(module);
    Py_XDECREF(name);
    return result;
}

static bool
flushed(const char *name)
{
    PyObject *stream = PySys_GetObject(name); /* borrowed */
    PyObject *closed;
    PyObject *result;
    int is_closed;
    if (stream == NULL || stream == Py_None) {
        return true;
    }
    closed = PyObject_GetAttrString(stream, "closed");
    is_closed = closed == NULL ? 0 : PyObject_IsTrue(closed);
    Py_XDECREF(closed);
    PyErr_Clear();
    if (is_closed != 0) {
        return true;
    }
    result = PyObject_CallMethod(stream, "flush", NULL);
    if (result == NULL) {
        PyErr_WriteUnraisable(stream);
    }
    Py_XDECREF(result);
    return result != NULL;
}

static bool
flush_streams(void)
{
    bool output = flushed("stdout");
    (void)flushed("stderr"); /* nobody can be told; as in CPython */
    PyErr_Clear();
    return output;
}

/* Things that others may still need when they are let go. */
static bool
is_definition(PyObject *value)
{
    return PyType_Check(value) || PyModule_Check(value) || PyCallable_Check(value);
}

static void
let_go(bool definitions)
{
    PyObject *names = PyModule_GetDict(PyImport_AddModule("__main__")); /* borrowed */
    PyObject *keys = PyDict_Keys(names);
    for (Py_ssize_t i = 0; keys != NULL && i < PyList_Size(keys); i++) {
        PyObject *key = PyList_GetItem(keys, i); /* borrowed, as the next */
        PyObject *value = PyDict_GetItemWithError(names, key);
        if (value != NULL && value != Py_None && is_definition(value) == definitions &&
            PyUnicode_CompareWithASCIIString(key, "__builtins__") != 0) {
            (void)PyDict_SetItem(names, key, Py_None);
        }
        PyErr_Clear();
    }
    Py_XDECREF(keys);
}

static void
collect(void)
{
    (void)PyGC_Collect();
    PyErr_Clear();
}

void
csb_child_leave(PyObject *result)
{
    int status = take_status(result);
    Py_XDECREF(result);
    if (had_threads()) {
        call_if_loaded("threading", "_shutdown");
    }
    call_if_loaded("atexit", "_run_exitfuncs");
    status = flush_streams() ? status : STATUS_NOT_FLUSHED;
    let_go(false);
    collect();
    let_go(true);
    status = flush_streams() ? status : STATUS_NOT_FLUSHED;
    (void)csb_syscall(SYS_exit_group, status);
    abort();
}
