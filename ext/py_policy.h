/* The Python type `_core.Policy`. Glue: holds the GIL. */
#ifndef CSB_PY_POLICY_H
#define CSB_PY_POLICY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "policy.h"

/* Make the type and add it to the module as `Policy`. Returns 0 or -1. */
int csb_py_policy_add(PyObject *module);

/* The policy inside a Policy object of that module (borrowed), or NULL with TypeError. */
const struct csb_policy *csb_py_policy_get(PyObject *module, PyObject *object);

#endif
