/* Theory of operation: runs in the child, when the submission has ended with an exception.
 * Prints it the way CPython prints an uncaught exception (the traceback holds only frames
 * of the submission, because the exception is caught here, before it passes ours), tells
 * the supervisor which kind of failure it was, and leaves through SystemExit, so that
 * threads are joined, atexit handlers run and streams are flushed as usual. */
#include "child_script.h"

#include "child_explain.h"

#include <errno.h>

enum { STATUS_FAILED = 1, STATUS_INTERRUPTED = 130 };

struct exception {
    PyObject *type;
    PyObject *value;
    PyObject *traceback; /* may be NULL */
};

/* traceback.print_exception reads source lines through the loader; before 3.13 the built-in
 * printer looks for a file on disk and shows none. */
static int
print_by_module(const struct exception *exception)
{
    PyObject *traceback = PyImport_ImportModule("traceback");
    PyObject *result = NULL;
    if (traceback != NULL) {
        result = PyObject_CallMethod(
            traceback, "print_exception", "OOO", exception->type, exception->value,
            exception->traceback == NULL ? Py_None : exception->traceback);
    }
    Py_XDECREF(traceback);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

static void
print_exception(struct exception *exception)
{
    PyObject *hook = PySys_GetObject("excepthook");         /* borrowed */
    PyObject *original = PySys_GetObject("__excepthook__"); /* borrowed */
    PyObject *stream = PySys_GetObject("stderr");           /* borrowed */
    /* For no stream print() would take stdout; CPython's own printer knows better. */
    const bool silent = stream == NULL || stream == Py_None;
    if (!silent && hook != NULL && hook == original &&
        print_by_module(exception) == 0) {
        return;
    }
    PyErr_Clear();
    Py_INCREF(exception->type);
    Py_XINCREF(exception->value);
    Py_XINCREF(exception->traceback);
    PyErr_Restore(exception->type, exception->value, exception->traceback);
    PyErr_PrintEx(0);
}

/* mmap.mmap says "no memory" with an OSError. */
static bool
is_out_of_memory(const struct exception *exception)
{
    PyObject *number = NULL;
    bool result = PyErr_GivenExceptionMatches(exception->type, PyExc_MemoryError);
    if (!result && PyErr_GivenExceptionMatches(exception->type, PyExc_OSError)) {
        number = PyObject_GetAttrString(exception->value, "errno");
        result =
            number != NULL && PyLong_Check(number) && PyLong_AsLong(number) == ENOMEM;
        PyErr_Clear(); /* an attribute that is missing or no number: not that error */
    }
    Py_XDECREF(number);
    return result;
}

static enum csb_wire_end
kind_of(const struct exception *exception, enum csb_wire_end phase)
{
    if (is_out_of_memory(exception)) {
        return CSB_END_MEMORY_ERROR;
    }
    return phase;
}

static PyObject *
exit_with(int status)
{
    PyObject *code = PyLong_FromLong(status);
    if (code != NULL) {
        PyErr_SetObject(PyExc_SystemExit, code);
        Py_DECREF(code);
    }
    return NULL;
}

static void
take_exception(struct exception *ret)
{
    PyErr_Fetch(&ret->type, &ret->value, &ret->traceback);
    PyErr_NormalizeException(&ret->type, &ret->value, &ret->traceback);
    if (ret->traceback != NULL) {
        (void)PyException_SetTraceback(ret->value, ret->traceback);
    }
}

static void
exception_done(struct exception *exception)
{
    Py_XDECREF(exception->type);
    Py_XDECREF(exception->value);
    Py_XDECREF(exception->traceback);
}

/* A refusal that no function of child_courtesy.c has put into words (io.FileIO, a C module):
 * which call it was is not known here. */
static void
explain(const struct csb_child *child, PyObject *value)
{
    PyObject *profile = NULL;
    if (child->profile[0] != '\0' &&
        PyErr_GivenExceptionMatches(value, PyExc_PermissionError)) {
        profile = PyUnicode_DecodeFSDefault(child->profile);
    }
    if (profile != NULL) {
        csb_child_explain_error(value, CSB_DENIAL_CALL, "", profile);
    }
    PyErr_Clear();
    Py_XDECREF(profile);
}

void
csb_child_print_error(void)
{
    struct exception exception = {NULL, NULL, NULL};
    take_exception(&exception);
    print_exception(&exception);
    exception_done(&exception);
    PyErr_Clear();
}

PyObject *
csb_child_end(const struct csb_child *child, enum csb_wire_end phase,
              const char *file_name, PyObject *source)
{
    struct exception exception = {NULL, NULL, NULL};
    int status = STATUS_FAILED;
    if (PyErr_ExceptionMatches(PyExc_SystemExit)) {
        return NULL; /* the interpreter knows what to do with it */
    }
    if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
        status = STATUS_INTERRUPTED;
    }
    take_exception(&exception);
    csb_child_say_end(kind_of(&exception, phase));
    if (source != NULL) {
        csb_child_show_lines(file_name, source);
    }
    explain(child, exception.value);
    print_exception(&exception);
    exception_done(&exception);
    return exit_with(status);
}
