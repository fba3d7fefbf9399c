/* Theory of operation: glue, in the caller, on bytes that a hostile child wrote. A value is
 * read through for its faults and handed on as bytes, so that it can be compared without any
 * Python object being made of it; the few words of the other kinds are decoded. */
#include "py_value_reply.h"

#include "py_convert.h"
#include "py_value.h"
#include "py_value_decode.h"
#include "value_reader.h"

#include <string.h>

enum { MOST_WORDS = 16 * 1024, HEAD_BYTES = 64, HEAD_ITEMS = 4 };

static const struct csb_value_limits word_limits = {MOST_WORDS, 8, 1, 100};

static PyObject *
no_reply(const char *why)
{
    PyErr_Format(PyExc_ValueError, "no reply to a call: %s", why);
    return NULL;
}

static bool
is_word(const struct csb_value_token *token, const char *word)
{
    return token->kind == CSB_VALUE_TEXT && token->count == strlen(word) &&
           memcmp(token->bytes, word, token->count) == 0;
}

/* {"kind": "value", "value": …}: 1 with where the value begins, 0 when it is another kind. */
static int
find_value(struct csb_value_reader *reader, size_t *ret_start,
           struct csb_value_fault *fault)
{
    static const char *const words[] = {"kind", "value", "value"};
    struct csb_value_token token;
    int result = csb_value_next(reader, &token, fault);
    if (result <= 0 || token.kind != CSB_VALUE_DICT || token.number != HEAD_ITEMS) {
        return result < 0 ? result : 0;
    }
    for (size_t i = 0; i < CSB_ARRAY_LEN(words); i++) {
        result = csb_value_next(reader, &token, fault);
        if (result <= 0 || !is_word(&token, words[i])) {
            return result < 0 ? result : 0;
        }
    }
    *ret_start = reader->at;
    do {
        result = csb_value_next(reader, &token, fault);
    } while (result > 0);
    return result < 0 ? result : 1;
}

static PyObject *
make_value(const unsigned char *bytes, size_t count)
{
    PyObject *dict = PyDict_New();
    if (dict != NULL && (csb_py_set(dict, "kind", PyUnicode_FromString("value")) < 0 ||
                         csb_py_set(dict, "value",
                                    PyBytes_FromStringAndSize(
                                        (const char *)bytes, (Py_ssize_t)count)) < 0)) {
        Py_CLEAR(dict);
    }
    return dict;
}

static bool
has_str(PyObject *dict, const char *key)
{
    PyObject *value = PyDict_GetItemString(dict, key); /* borrowed */
    return value != NULL && PyUnicode_CheckExact(value);
}

/* The other kinds: a dict of str, with the keys of its kind. */
static PyObject *
make_words(const unsigned char *bytes, size_t count)
{
    static const struct {
        const char *kind;
        const char *key; /* besides "message"; NULL: none */
    } kinds[] = {{"raised", "type"},
                 {"unencodable", "path"},
                 {"no_entry", NULL},
                 {"bad_request", NULL}};
    PyObject *dict = csb_py_decode(bytes, count, &word_limits);
    if (dict == NULL) {
        return NULL;
    }
    for (size_t i = 0; PyDict_CheckExact(dict) && has_str(dict, "kind") &&
                       has_str(dict, "message") && i < CSB_ARRAY_LEN(kinds);
         i++) {
        PyObject *kind = PyDict_GetItemString(dict, "kind"); /* borrowed */
        if (PyUnicode_CompareWithASCIIString(kind, kinds[i].kind) == 0 &&
            PyDict_Size(dict) == (kinds[i].key == NULL ? 2 : 3) &&
            (kinds[i].key == NULL || has_str(dict, kinds[i].key))) {
            return dict;
        }
    }
    Py_DECREF(dict);
    return no_reply("it is of no known kind");
}

PyObject *
csb_py_value_open_reply(PyObject *module, PyObject *args)
{
    PyObject *data;
    PyObject *mapping;
    struct csb_value_limits limits;
    struct csb_value_limits whole;
    struct csb_value_reader reader;
    struct csb_value_fault fault;
    const unsigned char *bytes;
    size_t count;
    size_t start = 0;
    int result;
    (void)module;
    if (!PyArg_ParseTuple(args, "SO:open_reply", &data, &mapping) ||
        csb_py_value_limits(mapping, &limits) < 0) {
        return NULL;
    }
    bytes = (const unsigned char *)PyBytes_AsString(data);
    count = (size_t)PyBytes_Size(data);
    whole =
        (struct csb_value_limits){limits.bytes + HEAD_BYTES, limits.items + HEAD_ITEMS,
                                  limits.depth + 1, limits.int_digits};
    csb_value_reader_init(&reader, bytes, count, &whole);
    result = find_value(&reader, &start, &fault);
    if (result == 0) {
        return make_words(bytes, count);
    }
    if (result > 0 && count - start <= limits.bytes) {
        return make_value(bytes + start, count - start);
    }
    return no_reply(result < 0 ? fault.message : "it is larger than allowed");
}
