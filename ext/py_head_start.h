/* The Python type `_core.HeadStart`: a run that a pool has begun while its source is still being
 * checked. Glue: holds the GIL, waits without it. */
#ifndef CSB_PY_HEAD_START_H
#define CSB_PY_HEAD_START_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "pool.h"

/* Make the type and add it to the module. Returns 0 or -1. */
int csb_py_head_start_add(PyObject *module);

/* A HeadStart, or None where there is none to be had now; NULL with an exception. It keeps
 * `pool_object` alive. */
PyObject *csb_py_head_start_new(PyObject *module, PyObject *pool_object,
                                const struct csb_policy *policy, struct csb_pool *pool,
                                PyObject *mapping);

#endif
