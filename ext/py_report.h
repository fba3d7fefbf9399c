/* csb_report → RunData. Glue: holds the GIL. */
#ifndef CSB_PY_REPORT_H
#define CSB_PY_REPORT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "policy.h"
#include "supervise.h"

/* New dict in the shape of RunData (_core.pyi), or NULL. */
PyObject *csb_py_report(const struct csb_policy *policy,
                        const struct csb_limits *limits,
                        const struct csb_report *report);

#endif
