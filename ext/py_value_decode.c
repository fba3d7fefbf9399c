/* Theory of operation: glue, in the caller on what a hostile child wrote, in the child on a
 * request. The reader holds all limits before anything is allocated here; a stack instead of
 * recursion; only builtin types are made, through their C functions.
 *
 * One thing the reader cannot see: Python's hash of numbers has no key, so a child can choose
 * keys that all meet in one slot of a dict or set, and a million of them would keep the caller
 * busy for hours. Filling hashed containers has an allowance of time, a hundredfold of what
 * honest data needs; beyond it the value is refused. */
#include "py_value_decode.h"

#include "value_reader.h"

#include <stdlib.h>
#include <time.h>

#define NS_PER_S INT64_C(1000000000)
#define ALLOWANCE_NS (2 * NS_PER_S) /* plus, for each item: */
#define ALLOWANCE_ITEM_NS INT64_C(20000)

struct building {
    PyObject *object; /* owned */
    PyObject *key;    /* owned; dicts only: waits for its value */
    uint64_t filled;
    enum csb_value_kind kind;
};

struct decoder {
    struct building *stack;
    size_t depth;
    size_t capacity;
    PyObject *result; /* owned; the outermost, complete */
    int64_t hashing_ns;
    uint64_t hashed;
};

static int64_t
now_ns(void)
{
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* zero would only lift the allowance */
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

static PyObject *
make_big(const struct csb_value_token *token)
{
    PyObject *number = PyObject_CallMethod((PyObject *)&PyLong_Type, "from_bytes",
                                           "y#s", (const char *)token->bytes,
                                           (Py_ssize_t)token->count, "big");
    PyObject *result = number;
    if (number != NULL && token->negative) {
        result = PyNumber_Invert(number);
        Py_DECREF(number);
    }
    return result;
}

static PyObject *
make_int(const struct csb_value_token *token)
{
    PyObject *number;
    PyObject *result;
    if (!token->negative) {
        return PyLong_FromUnsignedLongLong(token->number);
    }
    if (token->number <= INT64_MAX) {
        return PyLong_FromLongLong(-1 - (int64_t)token->number);
    }
    number = PyLong_FromUnsignedLongLong(token->number);
    result = number == NULL ? NULL : PyNumber_Invert(number);
    Py_XDECREF(number);
    return result;
}

static PyObject *
make(const struct csb_value_token *token)
{
    const char *bytes = (const char *)token->bytes;
    Py_ssize_t count = (Py_ssize_t)token->count;
    switch (token->kind) {
    case CSB_VALUE_NONE:
        return Py_NewRef(Py_None);
    case CSB_VALUE_BOOL:
        return PyBool_FromLong(token->number != 0);
    case CSB_VALUE_INT:
        return make_int(token);
    case CSB_VALUE_BIG:
        return make_big(token);
    case CSB_VALUE_FLOAT:
        return PyFloat_FromDouble(token->real);
    case CSB_VALUE_COMPLEX:
        return PyComplex_FromDoubles(token->real, token->imaginary);
    case CSB_VALUE_TEXT:
        return PyUnicode_DecodeUTF8(bytes, count, "strict");
    case CSB_VALUE_SURROGATES:
        return PyUnicode_DecodeUTF8(bytes, count, "surrogatepass");
    case CSB_VALUE_BYTES:
        return PyBytes_FromStringAndSize(bytes, count);
    case CSB_VALUE_LIST:
        return PyList_New((Py_ssize_t)token->number);
    case CSB_VALUE_TUPLE:
        return PyTuple_New((Py_ssize_t)token->number);
    case CSB_VALUE_SET:
        return PySet_New(NULL);
    case CSB_VALUE_FROZENSET:
        return PyFrozenSet_New(NULL); /* filled while nobody else has it */
    case CSB_VALUE_DICT:
        return PyDict_New();
    case CSB_VALUE_CLOSE:
        break;
    }
    PyErr_SetString(PyExc_SystemError, "a token of no kind");
    return NULL;
}

static int
push(struct decoder *decoder, enum csb_value_kind kind, PyObject *object)
{
    if (decoder->depth == decoder->capacity) {
        size_t capacity = decoder->capacity * 2 + 16;
        struct building *grown = realloc(decoder->stack, capacity * sizeof *grown);
        if (grown == NULL) {
            Py_DECREF(object);
            PyErr_NoMemory();
            return -1;
        }
        decoder->stack = grown;
        decoder->capacity = capacity;
    }
    decoder->stack[decoder->depth++] =
        (struct building){.object = object, .kind = kind};
    return 0;
}

/* Put a pair or an element into a hashed container, and see that it was new. */
static int
put_hashed(struct decoder *decoder, struct building *into, PyObject *item)
{
    int64_t began = now_ns();
    Py_ssize_t size;
    int result;
    if (into->kind == CSB_VALUE_DICT) {
        result = PyDict_SetItem(into->object, into->key, item);
        size = PyDict_Size(into->object);
        Py_CLEAR(into->key);
    } else {
        result = PySet_Add(into->object, item);
        size = PySet_Size(into->object);
    }
    Py_DECREF(item);
    if (result < 0) {
        if (!PyErr_ExceptionMatches(PyExc_MemoryError)) {
            /* RecursionError, in a caller that is deep in its own stack. */
            PyErr_SetString(PyExc_ValueError,
                            "keys that are nested too deep to compare");
        }
        return -1;
    }
    decoder->hashed++;
    decoder->hashing_ns += now_ns() - began;
    if ((uint64_t)size != ++into->filled) {
        PyErr_SetString(PyExc_ValueError, into->kind == CSB_VALUE_DICT
                                              ? "a key that is twice in a dict"
                                              : "an element that is twice in a set");
        return -1;
    }
    if (decoder->hashing_ns >
        ALLOWANCE_NS + (int64_t)decoder->hashed * ALLOWANCE_ITEM_NS) {
        PyErr_SetString(PyExc_ValueError,
                        "keys that are chosen to collide in a dict or set");
        return -1;
    }
    return 0;
}

/* Hand a complete object to the container it belongs to. Takes the reference. */
static int
put(struct decoder *decoder, PyObject *item)
{
    struct building *into;
    if (decoder->depth == 0) {
        decoder->result = item;
        return 0;
    }
    into = &decoder->stack[decoder->depth - 1];
    switch (into->kind) {
    case CSB_VALUE_LIST:
        return PyList_SetItem(into->object, (Py_ssize_t)into->filled++, item);
    case CSB_VALUE_TUPLE:
        return PyTuple_SetItem(into->object, (Py_ssize_t)into->filled++, item);
    case CSB_VALUE_DICT:
        if (into->key == NULL) {
            into->key = item;
            return 0;
        }
        return put_hashed(decoder, into, item);
    default:
        return put_hashed(decoder, into, item);
    }
}

static int
take(struct decoder *decoder, const struct csb_value_token *token)
{
    PyObject *object;
    if (token->kind == CSB_VALUE_CLOSE && decoder->stack != NULL) {
        object = decoder->stack[--decoder->depth].object;
        return put(decoder, object);
    }
    object = make(token);
    if (object == NULL) {
        return -1;
    }
    return csb_value_is_container(token->kind) ? push(decoder, token->kind, object)
                                               : put(decoder, object);
}

PyObject *
csb_py_decode(const unsigned char *bytes, size_t count,
              const struct csb_value_limits *limits)
{
    struct decoder decoder = {0};
    struct csb_value_fault fault;
    struct csb_value_token token;
    struct csb_value_reader reader;
    int result;
    csb_value_reader_init(&reader, bytes, count, limits);
    while ((result = csb_value_next(&reader, &token, &fault)) > 0) {
        if (take(&decoder, &token) < 0) {
            break;
        }
    }
    if (result < 0) {
        PyErr_SetString(PyExc_ValueError, fault.message);
    }
    if (result != 0) {
        Py_CLEAR(decoder.result);
    }
    while (decoder.depth > 0) {
        struct building *open = &decoder.stack[--decoder.depth];
        Py_XDECREF(open->object);
        Py_XDECREF(open->key);
    }
    free(decoder.stack);
    return decoder.result;
}
