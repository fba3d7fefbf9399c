/* Theory of operation: glue, in the caller. Takes bytes and options, compares without the GIL,
 * and makes a dict of the first difference. Excerpts are of what a hostile child wrote, so
 * what a terminal would obey is escaped in them. */
#include "py_compare.h"

#include "compare_text.h"
#include "compare_value.h"
#include "py_convert.h"
#include "py_value.h"
#include "py_value_encode.h"
#include "text.h"

#include <errno.h>
#include <math.h>

/* mapping[key] when it is there; 0 or -1 with an exception. */
static int
get_flag(PyObject *options, const char *key, bool *ret)
{
    PyObject *value;
    int result;
    if (!PyMapping_HasKeyString(options, key)) {
        return 0;
    }
    value = csb_py_get(options, key);
    result = value == NULL ? -1 : PyObject_IsTrue(value);
    Py_XDECREF(value);
    *ret = result == 1;
    return result < 0 ? -1 : 0;
}

static int
get_tolerance(PyObject *options, const char *key, double *ret)
{
    if (!PyMapping_HasKeyString(options, key)) {
        return 0;
    }
    if (csb_py_get_double(options, key, ret) < 0) {
        return -1;
    }
    if (!isfinite(*ret) || *ret < 0) {
        PyErr_Format(PyExc_ValueError, "option '%s': expected a number, 0 or above",
                     key);
        return -1;
    }
    return 0;
}

/* Unknown options are errors, so that a misspelt tolerance is not a strict one. */
static int
check_names(PyObject *options, const char *const *names, size_t count)
{
    PyObject *keys = PyMapping_Keys(options);
    int result = keys == NULL ? -1 : 0;
    for (Py_ssize_t i = 0; result == 0 && i < PyList_Size(keys); i++) {
        PyObject *key = PyList_GetItem(keys, i); /* borrowed */
        result = -1;
        for (size_t k = 0; k < count && PyUnicode_Check(key) && result < 0; k++) {
            result = PyUnicode_CompareWithASCIIString(key, names[k]) == 0 ? 0 : -1;
        }
        if (result < 0) {
            PyErr_Format(PyExc_ValueError, "unknown option %R", key);
        }
    }
    Py_XDECREF(keys);
    return result;
}

static PyObject *
escaped(const void *bytes, size_t count)
{
    struct csb_text text = {0};
    PyObject *result;
    csb_text_escape(&text, bytes, count);
    result = text.failed ? PyErr_NoMemory()
                         : PyUnicode_DecodeUTF8(text.len == 0 ? "" : text.bytes,
                                                (Py_ssize_t)text.len, "replace");
    csb_text_done(&text);
    return result;
}

static int
set_text(PyObject *dict, const char *key, const char *text)
{
    return csb_py_set(dict, key, escaped(text, strlen(text)));
}

/* ---- text ------------------------------------------------------------------------- */

static int
get_text_options(PyObject *options, struct csb_compare_options *ret)
{
    static const char *const names[] = {"rel", "abs", "nan_equal", "final_newline"};
    *ret = (struct csb_compare_options){.final_newline = true};
    return check_names(options, names, CSB_ARRAY_LEN(names)) < 0 ||
                   get_tolerance(options, "rel", &ret->relative) < 0 ||
                   get_tolerance(options, "abs", &ret->absolute) < 0 ||
                   get_flag(options, "nan_equal", &ret->nan_equal) < 0 ||
                   get_flag(options, "final_newline", &ret->final_newline) < 0
               ? -1
               : 0;
}

static PyObject *
make_place(const struct csb_text_place *place)
{
    PyObject *dict = PyDict_New();
    if (dict != NULL &&
        (csb_py_set(dict, "line", PyLong_FromSize_t(place->line)) < 0 ||
         csb_py_set(dict, "column", PyLong_FromSize_t(place->column)) < 0 ||
         csb_py_set(dict, "at_end", PyBool_FromLong(place->at_end)) < 0 ||
         csb_py_set(dict, "text", escaped(place->excerpt.bytes, place->excerpt.count)) <
             0)) {
        Py_CLEAR(dict);
    }
    return dict;
}

static PyObject *
make_text_difference(const struct csb_text_difference *difference)
{
    PyObject *dict = PyDict_New();
    PyObject *got = make_place(&difference->got);
    PyObject *expected = make_place(&difference->expected);
    if (dict == NULL || got == NULL || expected == NULL ||
        csb_py_set(dict, "presentation", PyBool_FromLong(difference->presentation)) <
            0 ||
        set_text(dict, "what", difference->what) < 0 ||
        set_text(dict, "path", difference->path) < 0) {
        Py_CLEAR(dict);
    }
    /* JSON has no lines: the two values are what is shown. */
    if (dict != NULL && difference->path[0] != '\0' &&
        (set_text(got, "text", difference->got_value) < 0 ||
         set_text(expected, "text", difference->expected_value) < 0)) {
        Py_CLEAR(dict);
    }
    if (dict != NULL && (PyDict_SetItemString(dict, "got", got) < 0 ||
                         PyDict_SetItemString(dict, "expected", expected) < 0)) {
        Py_CLEAR(dict);
    }
    Py_XDECREF(got);
    Py_XDECREF(expected);
    return dict;
}

static struct csb_text_piece
piece_of(PyObject *bytes)
{
    return (struct csb_text_piece){(const unsigned char *)PyBytes_AsString(bytes),
                                   (size_t)PyBytes_Size(bytes)};
}

PyObject *
csb_py_compare_text(PyObject *module, PyObject *args)
{
    const char *name;
    PyObject *got;
    PyObject *expected;
    PyObject *mapping;
    struct csb_compare_options options;
    struct csb_text_difference difference;
    enum csb_text_kind kind;
    int result;
    (void)module;
    if (!PyArg_ParseTuple(args, "sSSO:compare_text", &name, &got, &expected,
                          &mapping) ||
        get_text_options(mapping, &options) < 0) {
        return NULL;
    }
    kind = csb_text_kind_of(name);
    if (kind == CSB_TEXT_KINDS) {
        return PyErr_Format(PyExc_ValueError, "no comparison is called '%s'", name);
    }
    Py_BEGIN_ALLOW_THREADS result = csb_compare_text(
        kind, piece_of(got), piece_of(expected), &options, &difference);
    Py_END_ALLOW_THREADS if (result == -EINVAL)
    {
        return PyErr_Format(PyExc_ValueError, "%s: %s", name, difference.what);
    }
    if (result < 0) {
        return PyErr_NoMemory();
    }
    return result == 0 ? Py_NewRef(Py_None) : make_text_difference(&difference);
}

/* ---- values ----------------------------------------------------------------------- */

static int
get_rules(PyObject *options, struct csb_value_rules *ret)
{
    static const char *const names[] = {"rel",     "abs",       "nan_equal",
                                        "numeric", "sequences", "sets"};
    *ret = (struct csb_value_rules){0};
    return check_names(options, names, CSB_ARRAY_LEN(names)) < 0 ||
                   get_tolerance(options, "rel", &ret->relative) < 0 ||
                   get_tolerance(options, "abs", &ret->absolute) < 0 ||
                   get_flag(options, "nan_equal", &ret->nan_equal) < 0 ||
                   get_flag(options, "numeric", &ret->numeric) < 0 ||
                   get_flag(options, "sequences", &ret->sequences) < 0 ||
                   get_flag(options, "sets", &ret->sets) < 0
               ? -1
               : 0;
}

static PyObject *
make_value_difference(const struct csb_value_difference *difference)
{
    static const char *const reasons[] = {
        [CSB_DIFFERS_IN_TYPE] = "type",     [CSB_DIFFERS_IN_VALUE] = "value",
        [CSB_DIFFERS_IN_LENGTH] = "length", [CSB_DIFFERS_BY_MISSING] = "missing",
        [CSB_DIFFERS_BY_EXTRA] = "extra",
    };
    PyObject *dict = PyDict_New();
    if (dict != NULL && (set_text(dict, "reason", reasons[difference->reason]) < 0 ||
                         set_text(dict, "path", difference->path) < 0 ||
                         set_text(dict, "got", difference->got) < 0 ||
                         set_text(dict, "expected", difference->expected) < 0)) {
        Py_CLEAR(dict);
    }
    return dict;
}

static PyObject *
compare(const struct csb_encoded *got, const struct csb_encoded *expected,
        const struct csb_value_rules *rules)
{
    struct csb_value_difference difference;
    struct csb_value_fault fault;
    bool bad_got = false;
    int result;
    Py_BEGIN_ALLOW_THREADS result =
        csb_compare_values(got, expected, rules, &difference, &fault, &bad_got);
    Py_END_ALLOW_THREADS if (result == -EBADMSG)
    {
        return PyErr_Format(PyExc_ValueError, "%s: %s", bad_got ? "got" : "expected",
                            fault.message);
    }
    if (result < 0) {
        return PyErr_NoMemory();
    }
    return result == 0 ? Py_NewRef(Py_None) : make_value_difference(&difference);
}

PyObject *
csb_py_compare_encoded(PyObject *module, PyObject *args)
{
    PyObject *got;
    PyObject *expected;
    PyObject *options;
    PyObject *mapping;
    struct csb_value_limits limits;
    struct csb_value_rules rules;
    (void)module;
    if (!PyArg_ParseTuple(args, "SSOO:compare_encoded", &got, &expected, &options,
                          &mapping) ||
        get_rules(options, &rules) < 0 || csb_py_value_limits(mapping, &limits) < 0) {
        return NULL;
    }
    return compare(
        &(struct csb_encoded){piece_of(got).bytes, piece_of(got).count, &limits},
        &(struct csb_encoded){piece_of(expected).bytes, piece_of(expected).count,
                              &limits},
        &rules);
}

/* The encoding of one side; 0 or -1 with an exception that names it. */
static int
encode_side(PyObject *object, const char *side, const struct csb_value_limits *limits,
            struct csb_value_writer *writer)
{
    struct csb_value_fault fault;
    int result;
    writer->limit = limits->bytes;
    result = csb_py_encode(object, limits, writer, &fault);
    if (result > 0) {
        PyErr_Format(fault.of_type ? PyExc_TypeError : PyExc_ValueError,
                     "%s: at %s: %s", side, fault.path, fault.message);
    }
    return result == 0 ? 0 : -1;
}

PyObject *
csb_py_compare_value(PyObject *module, PyObject *args)
{
    PyObject *got;
    PyObject *expected;
    PyObject *options;
    PyObject *mapping;
    struct csb_value_limits limits;
    struct csb_value_rules rules;
    struct csb_value_writer one = {0};
    struct csb_value_writer two = {0};
    PyObject *result = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOO:compare_value", &got, &expected, &options,
                          &mapping) ||
        get_rules(options, &rules) < 0 || csb_py_value_limits(mapping, &limits) < 0) {
        return NULL;
    }
    if (encode_side(got, "got", &limits, &one) == 0 &&
        encode_side(expected, "expected", &limits, &two) == 0) {
        result = compare(&(struct csb_encoded){one.bytes, one.count, &limits},
                         &(struct csb_encoded){two.bytes, two.count, &limits}, &rules);
    }
    csb_value_writer_done(&one);
    csb_value_writer_done(&two);
    return result;
}
