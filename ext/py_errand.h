/* The Python types `_core.Mailbox` and `_core.Job`: runs that nobody waits for in a thread of
 * Python. Glue: holds the GIL. */
#ifndef CSB_PY_ERRAND_H
#define CSB_PY_ERRAND_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "crew.h"
#include "policy.h"

/* Make the types and add them to the module. Returns 0 or -1. */
int csb_py_errand_add(PyObject *module);

/* Send a run of a pool: a new Job, or NULL with an exception. `pool_object` is kept alive by
 * it. The crew must be the pool's. */
PyObject *csb_py_errand_send(PyObject *module, PyObject *pool_object,
                             const struct csb_policy *policy, struct csb_crew *crew,
                             PyObject *args);

#endif
