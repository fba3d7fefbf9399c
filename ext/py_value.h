/* The functions of `_core` that take and give values. Glue; holds the GIL. */
#ifndef CSB_PY_VALUE_H
#define CSB_PY_VALUE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "value_format.h"

PyObject *csb_py_value_encode(PyObject *module, PyObject *args);
PyObject *csb_py_value_decode(PyObject *module, PyObject *args);

/* The mapping {"bytes", "items", "depth", "int_digits"} as limits. 0 or -1 with ValueError. */
int csb_py_value_limits(PyObject *mapping, struct csb_value_limits *ret);

#endif
