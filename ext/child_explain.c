/* Theory of operation: runs in the child, beside hostile code, on its exceptions. The system
 * call was made, refused and counted before anything here looks at it; only the words for it
 * change. Trusts nothing: an attribute that is not what it should be leaves the exception as it is. */
#include "child_explain.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>

struct exception {
    PyObject *type;
    PyObject *value;
    PyObject *traceback;
};

static void
take(struct exception *ret)
{
    PyErr_Fetch(&ret->type, &ret->value, &ret->traceback);
    PyErr_NormalizeException(&ret->type, &ret->value, &ret->traceback);
}

static void
give_back(const struct exception *exception)
{
    PyErr_Clear(); /* a failure of ours is not the program's business */
    PyErr_Restore(exception->type, exception->value, exception->traceback);
}

static const char *
reason(enum csb_denial denial)
{
    switch (denial) {
    case CSB_DENIAL_NETWORK:
        return "the network is off";
    case CSB_DENIAL_PROCESS:
        return "no process can be started";
    case CSB_DENIAL_SIGNAL:
        return "only the program itself can be signalled";
    case CSB_DENIAL_CALL:
        break;
    }
    return "not allowed";
}

/* The words that the C library has for it, NULL when it is no refusal. */
static const char *
plain_text(long number, enum csb_denial denial)
{
    if (number == EPERM || number == EACCES) {
        return strerror((int)number);
    }
    if (denial == CSB_DENIAL_NETWORK &&
        (number == EAI_AGAIN || number == EAI_NONAME || number == EAI_FAIL)) {
        return gai_strerror((int)number);
    }
    return NULL;
}

static PyObject *
clear_text(long number, enum csb_denial denial, const char *what, PyObject *profile)
{
    if (number == EACCES) {
        return PyUnicode_FromFormat("%s, out of reach in profile %U "
                                    "(csandbox explain CSR041)",
                                    strerror(EACCES), profile);
    }
    return PyUnicode_FromFormat("%s: %s in profile %U (csandbox explain CSR040)",
                                what[0] == '\0' ? strerror(EPERM) : what,
                                reason(denial), profile);
}

/* The errno of the error when its text is still the C library's; 0 else. */
static long
untold_number(PyObject *error, enum csb_denial denial)
{
    PyObject *number = PyObject_GetAttrString(error, "errno");
    PyObject *text = PyObject_GetAttrString(error, "strerror");
    long result = 0;
    const char *plain = NULL;
    if (number != NULL && PyLong_Check(number)) {
        result = PyLong_AsLong(number);
        plain = plain_text(result, denial);
    }
    if (plain == NULL || text == NULL || !PyUnicode_Check(text) ||
        PyUnicode_CompareWithASCIIString(text, plain) != 0) {
        result = 0;
    }
    PyErr_Clear();
    Py_XDECREF(number);
    Py_XDECREF(text);
    return result;
}

void
csb_child_explain_error(PyObject *error, enum csb_denial denial, const char *what,
                        PyObject *profile)
{
    PyObject *text;
    PyObject *args = NULL;
    long number;
    if (error == NULL ||
        !PyErr_GivenExceptionMatches((PyObject *)Py_TYPE(error), PyExc_OSError)) {
        return;
    }
    number = untold_number(error, denial);
    if (number == 0) {
        return;
    }
    text = clear_text(number, denial, what, profile);
    if (text != NULL) {
        args = Py_BuildValue("(lO)", number, text);
    }
    if (args != NULL && PyObject_SetAttrString(error, "strerror", text) == 0) {
        (void)PyObject_SetAttrString(error, "args", args);
    }
    PyErr_Clear();
    Py_XDECREF(args);
    Py_XDECREF(text);
}

void
csb_child_explain(enum csb_denial denial, const char *what, PyObject *profile)
{
    struct exception exception;
    if (!PyErr_ExceptionMatches(PyExc_OSError)) {
        return;
    }
    take(&exception);
    csb_child_explain_error(exception.value, denial, what, profile);
    give_back(&exception);
}

/* The whole text, when it is the usual one for a top-level module. */
static PyObject *
import_text(PyObject *error, PyObject *name, PyObject *profile)
{
    PyObject *plain = PyUnicode_FromFormat("No module named %R", name);
    PyObject *said = PyObject_GetAttrString(error, "msg");
    PyObject *result = NULL;
    if (plain != NULL && said != NULL && PyUnicode_Check(said) &&
        PyUnicode_Compare(plain, said) == 0 &&
        PyUnicode_FindChar(name, '.', 0, PyUnicode_GetLength(name), 1) == -1) {
        result = PyUnicode_FromFormat("%U in profile %U (csandbox explain CSB101)",
                                      plain, profile);
    }
    Py_XDECREF(plain);
    Py_XDECREF(said);
    return result;
}

void
csb_child_explain_import(PyObject *name, PyObject *profile)
{
    struct exception exception;
    PyObject *text;
    PyObject *args = NULL;
    if (!PyErr_ExceptionMatches(PyExc_ModuleNotFoundError) || !PyUnicode_Check(name)) {
        return;
    }
    take(&exception);
    text = import_text(exception.value, name, profile);
    if (text != NULL) {
        args = Py_BuildValue("(O)", text);
    }
    if (args != NULL && PyObject_SetAttrString(exception.value, "msg", text) == 0) {
        (void)PyObject_SetAttrString(exception.value, "args", args);
    }
    Py_XDECREF(args);
    Py_XDECREF(text);
    give_back(&exception);
}
