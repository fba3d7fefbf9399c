/* Theory of operation: glue, in the caller. Knows no key by name and no mechanism. */
#include "py_convert.h"

#include <string.h>

PyObject *
csb_py_get(PyObject *mapping, const char *key)
{
    PyObject *value = PyMapping_GetItemString(mapping, key);
    if (value == NULL && PyErr_ExceptionMatches(PyExc_KeyError)) {
        PyErr_Format(PyExc_ValueError, "missing key '%s'", key);
    }
    return value;
}

/* New bytes object in the file-system encoding, without an embedded NUL. */
static PyObject *
encoded(PyObject *text, const char *key)
{
    PyObject *bytes;
    char *data;
    if (!PyUnicode_Check(text)) {
        PyErr_Format(PyExc_ValueError, "key '%s': expected str, got %R", key,
                     (PyObject *)Py_TYPE(text));
        return NULL;
    }
    bytes = PyUnicode_EncodeFSDefault(text);
    if (bytes != NULL && PyBytes_AsStringAndSize(bytes, &data, NULL) < 0) {
        PyErr_Format(PyExc_ValueError, "key '%s': a string contains a NUL character",
                     key);
        Py_CLEAR(bytes);
    }
    return bytes;
}

int
csb_py_get_string(PyObject *mapping, const char *key, char **ret_owned)
{
    PyObject *value = csb_py_get(mapping, key);
    PyObject *bytes = value == NULL ? NULL : encoded(value, key);
    *ret_owned = bytes == NULL ? NULL : strdup(PyBytes_AsString(bytes));
    Py_XDECREF(value);
    if (bytes != NULL && *ret_owned == NULL) {
        PyErr_NoMemory();
    }
    Py_XDECREF(bytes);
    return *ret_owned == NULL ? -1 : 0;
}

int
csb_py_get_double(PyObject *mapping, const char *key, double *ret)
{
    PyObject *value = csb_py_get(mapping, key);
    *ret = value == NULL ? -1.0 : PyFloat_AsDouble(value);
    Py_XDECREF(value);
    return *ret == -1.0 && PyErr_Occurred() ? -1 : 0;
}

int
csb_py_get_u64(PyObject *mapping, const char *key, uint64_t *ret)
{
    PyObject *value = csb_py_get(mapping, key);
    *ret = value == NULL ? UINT64_MAX : (uint64_t)PyLong_AsUnsignedLongLong(value);
    Py_XDECREF(value);
    return *ret == UINT64_MAX && PyErr_Occurred() ? -1 : 0;
}

int
csb_py_for_each_string(PyObject *mapping, const char *key,
                       int (*each)(const char *text, void *argument), void *argument)
{
    PyObject *value = csb_py_get(mapping, key);
    PyObject *list = value == NULL ? NULL : PySequence_List(value);
    int result = list == NULL ? -1 : 0;
    for (Py_ssize_t i = 0; result == 0 && i < PyList_Size(list); i++) {
        PyObject *bytes = encoded(PyList_GetItem(list, i), key);
        result = bytes == NULL ? -1 : each(PyBytes_AsString(bytes), argument);
        Py_XDECREF(bytes);
    }
    Py_XDECREF(list);
    Py_XDECREF(value);
    return result;
}

static int
append(const char *text, void *argument)
{
    if (csb_strings_add(argument, text) < 0) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

int
csb_py_get_strings(PyObject *mapping, const char *key, struct csb_strings *ret)
{
    return csb_py_for_each_string(mapping, key, append, ret);
}

static int
append_variable(PyObject *item, const char *key, struct csb_strings *ret)
{
    PyObject *name = encoded(PyTuple_GetItem(item, 0), key);
    PyObject *value = name == NULL ? NULL : encoded(PyTuple_GetItem(item, 1), key);
    int result = -1;
    if (value != NULL) {
        const char *text = PyBytes_AsString(name);
        if (text[0] == '\0' || strchr(text, '=') != NULL) {
            PyErr_Format(PyExc_ValueError, "key '%s': '%s' is no name of a variable",
                         key, text);
        } else if (csb_strings_add_pair(ret, text, PyBytes_AsString(value)) < 0) {
            PyErr_NoMemory();
        } else {
            result = 0;
        }
    }
    Py_XDECREF(name);
    Py_XDECREF(value);
    return result;
}

int
csb_py_get_environment(PyObject *mapping, const char *key, struct csb_strings *ret)
{
    PyObject *value = csb_py_get(mapping, key);
    PyObject *items = value == NULL ? NULL : PyMapping_Items(value);
    int result = items == NULL ? -1 : 0;
    for (Py_ssize_t i = 0; result == 0 && i < PyList_Size(items); i++) {
        result = append_variable(PyList_GetItem(items, i), key, ret);
    }
    Py_XDECREF(items);
    Py_XDECREF(value);
    return result;
}

int
csb_py_set(PyObject *dict, const char *key, PyObject *value)
{
    int result = value == NULL ? -1 : PyDict_SetItemString(dict, key, value);
    Py_XDECREF(value);
    return result;
}
