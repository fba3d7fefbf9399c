/* The guard's part of the extension: Guard, check(), render(), rules().
 *
 * Glue: holds the GIL. */
#ifndef CSB_PY_GUARD_H
#define CSB_PY_GUARD_H

#include <Python.h>

#include "diagnostic.h"

/* Add the type and the functions to the module. 0, or -1 with an exception set. */
int csb_py_guard_add(PyObject *module);

/* New list of DiagnosticData (_core.pyi), or NULL. */
PyObject *csb_py_diagnostics(const struct csb_diags *diags);

#endif
