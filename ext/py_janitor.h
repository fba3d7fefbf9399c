/* The Python type `_core.Janitor`. Glue: holds the GIL. */
#ifndef CSB_PY_JANITOR_H
#define CSB_PY_JANITOR_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Make the type and add it to the module as `Janitor`. Returns 0 or -1. */
int csb_py_janitor_add(PyObject *module);

#endif
