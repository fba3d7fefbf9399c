/* `_core.run`. Glue: takes the GIL on entry, waits without it. */
#ifndef CSB_PY_RUN_H
#define CSB_PY_RUN_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "csb.h"

/* METH_VARARGS: (policy, request) → RunData, see _core.pyi. */
PyObject *csb_py_run(PyObject *module, PyObject *args);

/* For csb_job.interrupted; the argument is a PyThreadState ** with the state that
 * PyEval_SaveThread gave. */
bool csb_py_interrupted(void *argument);

#endif
