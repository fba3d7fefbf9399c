/* What a run left, between Python and collect.h. Glue: holds the GIL. */
#ifndef CSB_PY_COLLECT_H
#define CSB_PY_COLLECT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "collect.h"

/* dict["files"] = {name: bytes}, dict["files_skipped"] = {name: reason}; -1 with an
 * exception. */
int csb_py_add_collected(PyObject *dict, const struct csb_collection *collection);

#endif
