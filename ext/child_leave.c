/* Theory of operation: runs in a forked child after the submission has ended. Tearing the
 * whole interpreter down would free what a zygote made and nobody will use again, page by
 * copied page; so only what a program can see of an interpreter's end is done, in CPython's
 * order: threads joined, exit functions called, streams flushed, the program's own objects
 * let go (their __del__ may print), streams flushed again. */
#include "child_script.h"

#include "raw.h"

#include <stdlib.h>

enum { STATUS_FAILED = 1, STATUS_NOT_FLUSHED = 120 };

/* To descriptor 2, and a line feed. */
static void
write_raw(PyObject *value)
{
    PyObject *text = PyObject_Str(value);
    PyObject *line = text == NULL ? NULL : PyUnicode_FromFormat("%U\n", text);
    PyObject *bytes =
        line == NULL ? NULL
                     : PyUnicode_AsEncodedString(line, "utf-8", "backslashreplace");
    if (bytes != NULL) {
        (void)csb_syscall(SYS_write, 2, PyBytes_AsString(bytes), PyBytes_Size(bytes));
    }
    PyErr_Clear();
    Py_XDECREF(text);
    Py_XDECREF(line);
    Py_XDECREF(bytes);
}

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
    if (errors == NULL || errors == Py_None) {
        write_raw(code); /* as CPython: to the C stream */
    } else {
        (void)PyFile_WriteObject(code, errors, Py_PRINT_RAW);
        PyErr_Clear(); /* text that can not be made is an empty line */
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

/* An error without a traceback would be given our own frame, the caller of all this. */
static void
write_unraisable(PyObject *about)
{
    PyObject *type;
    PyObject *value;
    PyObject *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != NULL) {
        PyErr_Restore(type, value, traceback);
        PyErr_WriteUnraisable(about);
        return;
    }
    PySys_FormatStderr("Exception ignored in: %R\n", about);
    PyErr_Display(type, value, NULL);
    PyErr_Clear();
    Py_XDECREF(type);
    Py_XDECREF(value);
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
        write_unraisable(module);
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
flushed(const char *name, bool tell)
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
    if (result == NULL && tell) {
        write_unraisable(stream);
    }
    PyErr_Clear();
    Py_XDECREF(result);
    return result != NULL;
}

/* Of errors on stderr nobody can be told; as in CPython they are a failure all the same. */
static bool
flush_streams(void)
{
    bool output = flushed("stdout", true);
    return flushed("stderr", false) && output;
}

/* What is let go from here on writes to the streams of the beginning. */
static void
restore_stream(const char *name, const char *original)
{
    PyObject *stream = PySys_GetObject(original); /* borrowed */
    if (stream != NULL) {
        (void)PySys_SetObject(name, stream);
    }
    PyErr_Clear();
}

/* Things that others may still need when they are let go. */
static bool
is_definition(PyObject *value)
{
    return PyType_Check(value) || PyModule_Check(value) || PyCallable_Check(value);
}

static bool
let_go(bool definitions)
{
    bool any = false;
    PyObject *names = PyModule_GetDict(PyImport_AddModule("__main__")); /* borrowed */
    PyObject *keys = PyDict_Keys(names);
    for (Py_ssize_t i = 0; keys != NULL && i < PyList_Size(keys); i++) {
        PyObject *key = PyList_GetItem(keys, i); /* borrowed, as the next */
        PyObject *value = PyDict_GetItemWithError(names, key);
        if (value != NULL && value != Py_None && is_definition(value) == definitions &&
            PyUnicode_CompareWithASCIIString(key, "__builtins__") != 0) {
            (void)PyDict_SetItem(names, key, Py_None);
            any = true;
        }
        PyErr_Clear();
    }
    Py_XDECREF(keys);
    return any;
}

static void
collect(void)
{
    (void)PyGC_Collect();
    PyErr_Clear();
}

void
csb_child_rehearse_leave(void)
{
    (void)had_threads();
    (void)flush_streams();
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
    restore_stream("stdout", "__stdout__");
    restore_stream("stderr", "__stderr__");
    (void)let_go(false);
    collect();
    if (let_go(true)) {
        collect(); /* a class is part of a cycle, and may hold things */
    }
    (void)flushed("stdout", false); /* when these close, CPython says nothing either */
    (void)flushed("stderr", false);
    (void)csb_syscall(SYS_exit_group, status);
    abort();
}
