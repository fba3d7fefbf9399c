/* Theory of operation: glue, in the caller. Converts limits and faults, calls the codec. */
#include "py_value.h"

#include "py_convert.h"
#include "py_value_decode.h"
#include "py_value_encode.h"

static int
get_u32(PyObject *mapping, const char *key, uint64_t most, uint32_t *ret)
{
    uint64_t value;
    if (csb_py_get_u64(mapping, key, &value) < 0) {
        return -1;
    }
    if (value > most) {
        PyErr_Format(PyExc_ValueError, "limit '%s': at most %llu", key,
                     (unsigned long long)most);
        return -1;
    }
    *ret = (uint32_t)value;
    return 0;
}

int
csb_py_value_limits(PyObject *mapping, struct csb_value_limits *ret)
{
    return csb_py_get_u64(mapping, "bytes", &ret->bytes) < 0 ||
                   csb_py_get_u64(mapping, "items", &ret->items) < 0 ||
                   get_u32(mapping, "depth", CSB_VALUE_MAX_DEPTH, &ret->depth) < 0 ||
                   get_u32(mapping, "int_digits", UINT32_MAX, &ret->int_digits) < 0
               ? -1
               : 0;
}

PyObject *
csb_py_value_encode(PyObject *module, PyObject *args)
{
    PyObject *object;
    PyObject *mapping;
    PyObject *encoded = NULL;
    struct csb_value_limits limits;
    struct csb_value_writer writer = {0};
    struct csb_value_fault fault;
    int result;
    (void)module;
    if (!PyArg_ParseTuple(args, "OO:encode", &object, &mapping) ||
        csb_py_value_limits(mapping, &limits) < 0) {
        return NULL;
    }
    writer.limit = limits.bytes;
    result = csb_py_encode(object, &limits, &writer, &fault);
    if (result == 0) {
        encoded = PyBytes_FromStringAndSize((const char *)writer.bytes,
                                            (Py_ssize_t)writer.count);
    } else if (result > 0) {
        PyErr_Format(fault.of_type ? PyExc_TypeError : PyExc_ValueError, "at %s: %s",
                     fault.path, fault.message);
    }
    csb_value_writer_done(&writer);
    return encoded;
}

PyObject *
csb_py_value_decode(PyObject *module, PyObject *args)
{
    PyObject *bytes;
    PyObject *mapping;
    struct csb_value_limits limits;
    (void)module;
    if (!PyArg_ParseTuple(args, "SO:decode", &bytes, &mapping) ||
        csb_py_value_limits(mapping, &limits) < 0) {
        return NULL;
    }
    return csb_py_decode((const unsigned char *)PyBytes_AsString(bytes),
                         (size_t)PyBytes_Size(bytes), &limits);
}
