/* From the name of an entry point to what is called. In the child; glue. */
#ifndef CSB_CHILD_ENTRY_H
#define CSB_CHILD_ENTRY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "csb.h"

/* New reference to the callable, NULL with an exception. Then *ret_missing says whether there
 * is no such thing (else user code raised while it was made). */
PyObject *csb_child_find_entry(PyObject *globals, PyObject *entry, bool *ret_missing);

#endif
