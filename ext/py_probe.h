/* `_core.probe` and `_core.build_info`. Glue: holds the GIL. */
#ifndef CSB_PY_PROBE_H
#define CSB_PY_PROBE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

PyObject *csb_py_probe(PyObject *module, PyObject *unused);
PyObject *csb_py_build_info(PyObject *module, PyObject *unused);

#endif
