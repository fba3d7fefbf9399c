/* The findings of a check, kept for the second opinion: a capsule that Python carries from
 * `_core.check` to `_core.run`. Glue: holds the GIL unless said otherwise. */
#ifndef CSB_PY_CHECKED_H
#define CSB_PY_CHECKED_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "engine.h"

struct csb_py_checked {
    struct csb_findings findings; /* owned */
    const struct csb_guard_config *config;
    PyObject *guard; /* owned reference that keeps config alive */
    bool used;       /* a run has taken it: it serves one */
    bool compared;   /* the run has asked */
    bool failed;     /* no memory for the answer */
    bool only_ask;   /* check(confirm=True): nothing is to be executed */
};

/* Takes the findings in every case. New reference, or NULL. */
PyObject *csb_py_checked_new(PyObject *guard, const struct csb_guard_config *config,
                             struct csb_findings *findings);

/* What is in the capsule (borrowed), or NULL with an exception: no such capsule, or one that
 * has already been used. */
struct csb_py_checked *csb_py_checked_use(PyObject *object);

/* For csb_job.agrees; the argument is a struct csb_py_checked. Called without the GIL. */
bool csb_py_checked_agrees(void *argument, const unsigned char *facts, size_t count);

#endif
