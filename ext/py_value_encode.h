/* Python objects of exact builtin types, written as a value. Glue; holds the GIL.
 *
 * Also part of `_child`: the child writes its results with the same code. There it is inside
 * the hostile process, so what it writes is believed by nobody. */
#ifndef CSB_PY_VALUE_ENCODE_H
#define CSB_PY_VALUE_ENCODE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "value_writer.h"

/* Append `object` to `writer`, whose own limit counts besides. Returns 0; 1 with *fault filled
 * when the object is no plain data or passes a limit (what was written by then stays, to be
 * thrown away); -1 with an exception (no memory). No code of the object is called. */
int csb_py_encode(PyObject *object, const struct csb_value_limits *limits,
                  struct csb_value_writer *writer, struct csb_value_fault *fault);

#endif
