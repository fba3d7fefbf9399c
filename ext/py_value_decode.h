/* A value, made into Python objects. Glue; holds the GIL. Also part of `_child`, for requests. */
#ifndef CSB_PY_VALUE_DECODE_H
#define CSB_PY_VALUE_DECODE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "value_format.h"

/* New reference; NULL with ValueError that says which byte is wrong and why, or MemoryError.
 * The bytes may be anybody's. */
PyObject *csb_py_decode(const unsigned char *bytes, size_t count,
                        const struct csb_value_limits *limits);

#endif
