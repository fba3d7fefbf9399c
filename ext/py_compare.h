/* The comparators as functions of `_core`. Glue; the GIL is released while C compares. */
#ifndef CSB_PY_COMPARE_H
#define CSB_PY_COMPARE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

PyObject *csb_py_compare_value(PyObject *module, PyObject *args);
PyObject *csb_py_compare_encoded(PyObject *module, PyObject *args);
PyObject *csb_py_compare_text(PyObject *module, PyObject *args);

#endif
