/* Theory of operation: glue, in the caller (on arguments and expected values) and in the child
 * (on results). A stack instead of recursion. Only exact builtin types are touched, through
 * their C functions, so no __len__, __iter__ or __eq__ of anybody runs here. Memory is taken
 * as the encoding grows, so a small object that unfolds to a large value stops at the limit.
 *
 * A garbage collection in between may run other code, which may change a container: what was
 * announced in its head is therefore held against what was found. */
#include "py_value_encode.h"

#include "py_value_path.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct encoder {
    const struct csb_value_limits *limits;
    struct csb_value_writer *writer;
    struct csb_value_fault *fault;
    struct csb_py_frame *frames; /* limits->depth of them, grown as needed */
    size_t depth;
    size_t capacity;
    uint64_t items;
};

enum { FINE = 0, FAULT = 1, RAISED = -1 };

static int faulty(struct encoder *encoder, bool of_type, const char *format, ...)
    CSB_PRINTF(3, 4);

static int
faulty(struct encoder *encoder, bool of_type, const char *format, ...)
{
    struct csb_value_fault *fault = encoder->fault;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(fault->message, sizeof fault->message, format, arguments);
    va_end(arguments);
    fault->of_type = of_type;
    csb_py_path(encoder->frames, encoder->depth, fault->path, sizeof fault->path);
    return FAULT;
}

static int
check_full(struct encoder *encoder)
{
    if (encoder->writer->failed) {
        PyErr_NoMemory();
        return RAISED;
    }
    return encoder->writer->full
               ? faulty(encoder, false, "the value is larger than %llu bytes",
                        (unsigned long long)encoder->limits->bytes)
               : FINE;
}

/* More than 64 bits: `number`, which is not negative, or -1 - number. */
static int
encode_big(struct encoder *encoder, bool negative, PyObject *number)
{
    PyObject *size = PyObject_CallMethod(number, "bit_length", NULL);
    unsigned long long bits = size == NULL ? 0 : PyLong_AsUnsignedLongLong(size);
    PyObject *bytes = NULL;
    int result = RAISED;
    Py_XDECREF(size);
    if (PyErr_Occurred()) {
        return RAISED;
    }
    if (bits > csb_value_int_bits(encoder->limits)) {
        return faulty(encoder, false, "an int of more than %u digits",
                      (unsigned)encoder->limits->int_digits);
    }
    bytes = PyObject_CallMethod(number, "to_bytes", "Ks", (bits + 7) / 8, "big");
    if (bytes != NULL) {
        csb_write_big(encoder->writer, negative,
                      (const unsigned char *)PyBytes_AsString(bytes),
                      (size_t)PyBytes_Size(bytes));
        result = FINE;
    }
    Py_XDECREF(bytes);
    return result;
}

static int
encode_int(struct encoder *encoder, PyObject *object)
{
    int overflow;
    long long small = PyLong_AsLongLongAndOverflow(object, &overflow);
    PyObject *number;
    unsigned long long large;
    int result = FINE;
    if (overflow == 0) {
        csb_write_int(encoder->writer, small < 0,
                      small < 0 ? ~(uint64_t)small : (uint64_t)small);
        return small == -1 && PyErr_Occurred() ? RAISED : FINE;
    }
    number = overflow < 0 ? PyNumber_Invert(object) : Py_NewRef(object);
    large = number == NULL ? 0 : PyLong_AsUnsignedLongLong(number);
    if (number == NULL) {
        return RAISED;
    }
    if (!PyErr_Occurred()) {
        csb_write_int(encoder->writer, overflow < 0, large);
    } else if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
        PyErr_Clear();
        result = encode_big(encoder, overflow < 0, number);
    } else {
        result = RAISED;
    }
    Py_DECREF(number);
    return result;
}

static int
encode_str(struct encoder *encoder, PyObject *object)
{
    Py_ssize_t size = PyUnicode_GetLength(object);
    const char *utf8;
    PyObject *bytes;
    if ((uint64_t)size > encoder->writer->limit) {
        encoder->writer->full = true; /* before CPython takes memory for its UTF-8 */
        return FINE;
    }
    utf8 = PyUnicode_AsUTF8AndSize(object, &size);
    if (utf8 != NULL) {
        csb_write_text(encoder->writer, utf8, (size_t)size);
        return FINE;
    }
    if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
        return RAISED;
    }
    PyErr_Clear();
    bytes = PyUnicode_AsEncodedString(object, "utf-8", "surrogatepass");
    if (bytes == NULL) {
        return RAISED;
    }
    csb_write_surrogates(encoder->writer, PyBytes_AsString(bytes),
                         (size_t)PyBytes_Size(bytes));
    Py_DECREF(bytes);
    return FINE;
}

static bool
contains(struct encoder *encoder, PyObject *object, size_t *ret_at)
{
    for (size_t i = 0; i < encoder->depth; i++) {
        if (encoder->frames[i].object == object) {
            *ret_at = i;
            return true;
        }
    }
    return false;
}

/* Too deep. What contains itself always ends here, and is told apart. */
static int
too_deep(struct encoder *encoder, PyObject *object)
{
    size_t first = 0;
    size_t depth = encoder->depth;
    int result;
    if (!contains(encoder, object, &first)) {
        return faulty(encoder, false, "nested deeper than %zu", depth);
    }
    /* The shortest path that closes the circle. */
    for (size_t i = 1; i < depth; i++) {
        encoder->depth = i;
        if (contains(encoder, encoder->frames[i].object, &first)) {
            break;
        }
        encoder->depth = depth;
    }
    result = faulty(encoder, false, "a container that contains itself");
    encoder->depth = depth;
    return result;
}

static int
grow(struct encoder *encoder)
{
    size_t capacity = encoder->capacity * 2 + 16;
    struct csb_py_frame *grown;
    if (encoder->depth < encoder->capacity) {
        return FINE;
    }
    grown = realloc(encoder->frames, capacity * sizeof *grown);
    if (grown == NULL) {
        PyErr_NoMemory();
        return RAISED;
    }
    encoder->frames = grown;
    encoder->capacity = capacity;
    return FINE;
}

static int
open_container(struct encoder *encoder, PyObject *object, enum csb_value_kind kind,
               Py_ssize_t count, bool hashed)
{
    struct csb_py_frame frame = {.count = count, .kind = kind};
    uint64_t items = (uint64_t)count * (kind == CSB_VALUE_DICT ? 2 : 1);
    if (items > encoder->limits->items ||
        encoder->items > encoder->limits->items - items) {
        return faulty(encoder, false, "the value has more than %llu items",
                      (unsigned long long)encoder->limits->items);
    }
    if (encoder->depth >= encoder->limits->depth ||
        encoder->depth >= CSB_VALUE_MAX_DEPTH) {
        return too_deep(encoder, object);
    }
    if (grow(encoder) < 0) {
        return RAISED;
    }
    if (kind == CSB_VALUE_SET || kind == CSB_VALUE_FROZENSET) {
        frame.iterator = PyObject_GetIter(object);
        if (frame.iterator == NULL) {
            return RAISED;
        }
    }
    frame.hashed = hashed || kind == CSB_VALUE_SET || kind == CSB_VALUE_FROZENSET;
    frame.object = Py_NewRef(object);
    encoder->items += items;
    encoder->frames[encoder->depth++] = frame;
    return FINE;
}

static void
frame_done(struct csb_py_frame *frame)
{
    Py_XDECREF(frame->object);
    Py_XDECREF(frame->iterator);
    Py_XDECREF(frame->key);
    Py_XDECREF(frame->value);
}

/* Begin a container: its head, and a frame for what is inside. 2: it is none. */
static int
encode_container(struct encoder *encoder, PyObject *object, bool hashed)
{
    struct csb_value_writer *writer = encoder->writer;
    Py_ssize_t count;
    if (PyList_CheckExact(object)) {
        count = PyList_Size(object);
        csb_write_list(writer, (uint64_t)count);
        return open_container(encoder, object, CSB_VALUE_LIST, count, hashed);
    }
    if (PyTuple_CheckExact(object)) {
        count = PyTuple_Size(object);
        csb_write_tuple(writer, (uint64_t)count);
        return open_container(encoder, object, CSB_VALUE_TUPLE, count, hashed);
    }
    if (PyDict_CheckExact(object)) {
        count = PyDict_Size(object);
        csb_write_dict(writer, (uint64_t)count);
        return open_container(encoder, object, CSB_VALUE_DICT, count, hashed);
    }
    if (PySet_CheckExact(object)) {
        count = PySet_Size(object);
        csb_write_set(writer, (uint64_t)count);
        return open_container(encoder, object, CSB_VALUE_SET, count, hashed);
    }
    if (PyFrozenSet_CheckExact(object)) {
        count = PySet_Size(object);
        csb_write_frozenset(writer, (uint64_t)count);
        return open_container(encoder, object, CSB_VALUE_FROZENSET, count, hashed);
    }
    return 2;
}

static int
refuse(struct encoder *encoder, PyObject *object)
{
    PyTypeObject *const bases[] = {&PyLong_Type,     &PyFloat_Type, &PyComplex_Type,
                                   &PyUnicode_Type,  &PyBytes_Type, &PyList_Type,
                                   &PyTuple_Type,    &PyDict_Type,  &PySet_Type,
                                   &PyFrozenSet_Type};
    char name[80];
    char base[80];
    csb_py_type_name((PyObject *)Py_TYPE(object), name, sizeof name);
    for (size_t i = 0; i < CSB_ARRAY_LEN(bases); i++) {
        if (PyType_IsSubtype(Py_TYPE(object), bases[i])) {
            csb_py_type_name((PyObject *)bases[i], base, sizeof base);
            return faulty(
                encoder, true,
                "%s is a subclass of %s, and only exact types are plain data; "
                "use %s(...)",
                name, base, base);
        }
    }
    return faulty(encoder, true,
                  "%s is no plain data (None, bool, int, float, complex, str, bytes, "
                  "list, tuple, dict, set, frozenset)",
                  name);
}

/* One object; what is inside a container follows later, from its frame. */
static int
encode_one(struct encoder *encoder, PyObject *object, bool hashed)
{
    struct csb_value_writer *writer = encoder->writer;
    int result = FINE;
    if (object == Py_None) {
        csb_write_none(writer);
    } else if (PyBool_Check(object)) {
        csb_write_bool(writer, object == Py_True);
    } else if (PyLong_CheckExact(object)) {
        result = encode_int(encoder, object);
    } else if (PyFloat_CheckExact(object)) {
        csb_write_float(writer, PyFloat_AsDouble(object));
    } else if (PyUnicode_CheckExact(object)) {
        result = encode_str(encoder, object);
    } else if (PyBytes_CheckExact(object)) {
        csb_write_bytes(writer, PyBytes_AsString(object), (size_t)PyBytes_Size(object));
    } else if (Py_IS_TYPE(object, &PyComplex_Type)) {
        csb_write_complex(writer, PyComplex_RealAsDouble(object),
                          PyComplex_ImagAsDouble(object));
    } else {
        result = encode_container(encoder, object, hashed);
        if (result == 2) {
            return refuse(encoder, object);
        }
    }
    return result == FINE ? check_full(encoder) : result;
}

static int
changed(struct encoder *encoder)
{
    return faulty(encoder, false, "the container changed while it was read");
}

static int
next_of_dict(struct csb_py_frame *frame, PyObject **ret)
{
    PyObject *key;
    PyObject *value;
    if (frame->value != NULL) {
        *ret = frame->value;
        frame->value = NULL;
        return 1;
    }
    Py_CLEAR(frame->key);
    if (!PyDict_Next(frame->object, &frame->position, &key, &value)) {
        return 0;
    }
    frame->index++;
    frame->key = Py_NewRef(key);
    frame->value = Py_NewRef(value);
    *ret = Py_NewRef(key);
    return 1;
}

/* The next object inside, as a new reference: 1, 0 at the end, -1 with an exception. */
static int
next_object(struct csb_py_frame *frame, PyObject **ret)
{
    if (frame->kind == CSB_VALUE_DICT) {
        return next_of_dict(frame, ret);
    }
    if (frame->iterator != NULL) {
        *ret = PyIter_Next(frame->iterator);
        frame->index += *ret != NULL;
        return *ret != NULL ? 1 : PyErr_Occurred() ? -1 : 0;
    }
    if (frame->kind == CSB_VALUE_LIST) {
        if (frame->index >= PyList_Size(frame->object)) {
            return 0;
        }
        *ret = Py_NewRef(PyList_GetItem(frame->object, frame->index++));
        return 1;
    }
    if (frame->index >= PyTuple_Size(frame->object)) {
        return 0;
    }
    *ret = PyTuple_GetItem(frame->object, frame->index++);
    Py_XINCREF(*ret); /* NULL: a tuple that is still being built */
    return *ret == NULL ? -1 : 1;
}

/* One step of the innermost container. */
static int
step(struct encoder *encoder)
{
    struct csb_py_frame *frame = &encoder->frames[encoder->depth - 1];
    PyObject *object = NULL;
    bool hashed;
    int result = next_object(frame, &object);
    if (result < 0) {
        if (PyErr_ExceptionMatches(PyExc_MemoryError)) {
            return RAISED;
        }
        PyErr_Clear();
        return changed(encoder);
    }
    if (result == 0) {
        if (frame->index != frame->count) {
            return changed(encoder);
        }
        frame_done(frame);
        encoder->depth--;
        return FINE;
    }
    if (frame->index > frame->count) {
        Py_DECREF(object);
        return changed(encoder);
    }
    hashed = frame->hashed || (frame->kind == CSB_VALUE_DICT && frame->value != NULL);
    result = encode_one(encoder, object, hashed);
    Py_DECREF(object);
    return result;
}

int
csb_py_encode(PyObject *object, const struct csb_value_limits *limits,
              struct csb_value_writer *writer, struct csb_value_fault *fault)
{
    struct encoder encoder = {.limits = limits, .writer = writer, .fault = fault};
    int result = encode_one(&encoder, object, false);
    while (result == FINE && encoder.depth > 0) {
        result = step(&encoder);
    }
    while (encoder.depth > 0) {
        frame_done(&encoder.frames[--encoder.depth]);
    }
    free(encoder.frames);
    return result;
}
