/* The findings of a check, kept for the second opinion: a capsule that Python carries from
 * `_core.check` to `_core.run`, to one run or to many. Glue: holds the GIL unless said
 * otherwise. */
#ifndef CSB_PY_CHECKED_H
#define CSB_PY_CHECKED_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "engine.h"

/* One run's second opinion. What it adds is in `findings.diags`, which are its own; text and
 * names are those of the capsule, which are read only. */
struct csb_py_opinion {
    struct csb_findings findings;
    const struct csb_guard_config *config;
    PyObject *checked; /* owned reference to the capsule; NULL: there is no opinion */
    bool compared;     /* the run has asked */
    bool failed;       /* no memory for the answer */
    bool only_ask;     /* check(confirm=True): nothing is to be executed */
};

/* Takes the findings in every case. New reference, or NULL. */
PyObject *csb_py_checked_new(PyObject *guard, const struct csb_guard_config *config,
                             struct csb_findings *findings);

/* Fill a zeroed struct from a capsule (borrowed); 0, or -1 with an exception: no such capsule.
 * To be released in every case. */
int csb_py_opinion_init(struct csb_py_opinion *ret, PyObject *checked);
void csb_py_opinion_done(struct csb_py_opinion *opinion);

/* For csb_job.agrees; the argument is a struct csb_py_opinion. Called without the GIL, by one
 * thread. */
bool csb_py_opinion_agrees(void *argument, const unsigned char *facts, size_t count);

#endif
