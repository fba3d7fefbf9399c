/* What the guard's walk saw of a source, for `make differential`. Glue: holds the GIL. */
#ifndef CSB_PY_GUARD_VIEW_H
#define CSB_PY_GUARD_VIEW_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Functions of the module: METH_VARARGS, see _core.pyi. */
PyObject *csb_py_view(PyObject *module, PyObject *args);
PyObject *csb_py_compare(PyObject *module, PyObject *args);

#endif
