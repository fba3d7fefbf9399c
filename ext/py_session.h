/* The Python type `_core.Session`: a child that keeps its state between exchanges. Glue: holds
 * the GIL, waits without it. */
#ifndef CSB_PY_SESSION_H
#define CSB_PY_SESSION_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "pool.h"

/* Make the type and add it to the module. Returns 0 or -1. */
int csb_py_session_add(PyObject *module);

/* (Session or None, RunData), or NULL with an exception. The session keeps `pool_object`
 * alive. */
PyObject *csb_py_session_open(PyObject *module, PyObject *pool_object,
                              const struct csb_policy *policy, struct csb_pool *pool,
                              PyObject *mapping);

#endif
