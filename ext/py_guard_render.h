/* Diagnostics of Python as text. Glue: holds the GIL. */
#ifndef CSB_PY_GUARD_RENDER_H
#define CSB_PY_GUARD_RENDER_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>

/* New str, or NULL with an exception set. `diagnostics` is a sequence of DiagnosticData,
 * `source` bytes, `filename` str. */
PyObject *csb_py_guard_render(PyObject *diagnostics, PyObject *source,
                              PyObject *filename, bool color);

#endif
