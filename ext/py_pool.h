/* The Python type `_core.Pool`. Glue: holds the GIL, waits without it. */
#ifndef CSB_PY_POOL_H
#define CSB_PY_POOL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "pool.h"

/* Make the type and add it to the module as `Pool`. Returns 0 or -1. */
int csb_py_pool_add(PyObject *module);

/* The open pool and its policy inside a Pool object of that module (borrowed, alive for as
 * long as the object is and is not closed); NULL with TypeError or ValueError. */
struct csb_pool *csb_py_pool_get(PyObject *module, PyObject *object,
                                 const struct csb_policy **ret_policy);

#endif
