/* The mapping that Guard() takes, as a configuration of the guard. Glue: holds the GIL. */
#ifndef CSB_PY_GUARD_SPEC_H
#define CSB_PY_GUARD_SPEC_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "guard_config.h"

/* 0, or -1 with an exception set (ValueError names the key). The caller owns *ret. */
int csb_py_guard_config(PyObject *mapping, struct csb_guard_config **ret);

#endif
