/* csb_error → Python exception. Glue: holds the GIL. */
#ifndef CSB_PY_ERROR_H
#define CSB_PY_ERROR_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "error.h"

/* Raise csandbox.UnsupportedError for CSB_STEP_CONFIRM (error->message is the feature's
 * name), ValueError for CSB_STEP_ARGUMENT, MemoryError for CSB_STEP_MEMORY, otherwise
 * csandbox.SetupError. Returns NULL, so that glue can `return csb_py_raise(...)`. */
PyObject *csb_py_raise(const struct csb_error *error);

#endif
