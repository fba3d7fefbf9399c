/* Theory of operation: in the child, before a call. The entry is the caller's text, evaluated
 * in the submission's globals, where everything may be redefined: then it is what the
 * submission made of it. */
#include "child_entry.h"

#include "py_value_path.h"

#include <string.h>

/* Whether the exception comes from the entry itself and not from a function that it called:
 * its traceback has one frame, or none (SyntaxError). */
static bool
is_of_entry(void)
{
    PyObject *type;
    PyObject *value;
    PyObject *traceback;
    PyObject *next;
    bool result;
    if (!PyErr_ExceptionMatches(PyExc_NameError) &&
        !PyErr_ExceptionMatches(PyExc_AttributeError) &&
        !PyErr_ExceptionMatches(PyExc_SyntaxError)) {
        return false;
    }
    PyErr_Fetch(&type, &value, &traceback);
    next = traceback == NULL ? NULL : PyObject_GetAttrString(traceback, "tb_next");
    result = next == NULL || next == Py_None;
    Py_XDECREF(next);
    PyErr_Clear();
    PyErr_Restore(type, value, traceback);
    return result;
}

static PyObject *
evaluate(PyObject *globals, PyObject *text)
{
    const char *utf8 = PyUnicode_AsUTF8AndSize(text, NULL);
    PyObject *code =
        utf8 == NULL ? NULL : Py_CompileString(utf8, "<entry>", Py_eval_input);
    PyObject *result = code == NULL ? NULL : PyEval_EvalCode(code, globals, globals);
    Py_XDECREF(code);
    return result;
}

/* Is `name` of this class, or of a class it derives from, a plain function? */
static bool
is_method(PyObject *type, PyObject *name)
{
    PyObject *order = PyObject_GetAttrString(type, "__mro__");
    bool result = false;
    for (Py_ssize_t i = 0;
         order != NULL && PyTuple_Check(order) && i < PyTuple_Size(order); i++) {
        PyObject *members =
            PyObject_GetAttrString(PyTuple_GetItem(order, i), "__dict__");
        PyObject *found = members == NULL ? NULL : PyObject_GetItem(members, name);
        char text[16];
        Py_XDECREF(members);
        PyErr_Clear(); /* KeyError: not in this one */
        if (found != NULL) {
            csb_py_type_name((PyObject *)Py_TYPE(found), text, sizeof text);
            Py_DECREF(found);
            result = strcmp(text, "function") == 0;
            break;
        }
    }
    Py_XDECREF(order);
    PyErr_Clear();
    return result;
}

/* Where the last "." of a dotted path is, -1 when it is none. */
static Py_ssize_t
last_dot(PyObject *entry)
{
    const char *utf8 = PyUnicode_AsUTF8AndSize(entry, NULL);
    const char *dot = utf8 == NULL ? NULL : strrchr(utf8, '.');
    PyErr_Clear();
    /* Only ASCII, so that bytes are characters; anything else is evaluated whole. */
    if (dot == NULL ||
        strcspn(utf8, " ()[]{},:'\"\\\n\t+-*/%@<>=!&|^~#;") != strlen(utf8)) {
        return -1;
    }
    return strlen(utf8) == (size_t)PyUnicode_GetLength(entry) ? dot - utf8 : -1;
}

/* The attribute, on a new instance when it is a method of a class. */
static PyObject *
find_attribute(PyObject *globals, PyObject *entry, Py_ssize_t dot, bool *ret_missing)
{
    PyObject *path = PyUnicode_Substring(entry, 0, dot);
    PyObject *name = PyUnicode_Substring(entry, dot + 1, PyUnicode_GetLength(entry));
    PyObject *owner = path == NULL || name == NULL ? NULL : evaluate(globals, path);
    PyObject *result = NULL;
    *ret_missing = owner == NULL && is_of_entry();
    if (owner != NULL && PyType_Check(owner) && is_method(owner, name)) {
        PyObject *instance = PyObject_CallNoArgs(owner);
        Py_DECREF(owner);
        owner = instance;
    }
    if (owner != NULL) {
        result = PyObject_GetAttr(owner, name);
        *ret_missing = result == NULL && is_of_entry();
    }
    Py_XDECREF(path);
    Py_XDECREF(name);
    Py_XDECREF(owner);
    return result;
}

PyObject *
csb_child_find_entry(PyObject *globals, PyObject *entry, bool *ret_missing)
{
    Py_ssize_t dot = last_dot(entry);
    PyObject *result;
    *ret_missing = false;
    if (dot >= 0) {
        result = find_attribute(globals, entry, dot, ret_missing);
    } else {
        result = evaluate(globals, entry);
        *ret_missing = result == NULL && is_of_entry();
    }
    if (result != NULL && !PyCallable_Check(result)) {
        PyErr_SetString(PyExc_TypeError, "it is not callable");
        *ret_missing = true;
        Py_CLEAR(result);
    }
    return result;
}
