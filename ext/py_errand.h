/* The Python types `_core.Mailbox` and `_core.Job`: runs that nobody waits for in a thread of
 * Python. Glue: holds the GIL. */
#ifndef CSB_PY_ERRAND_H
#define CSB_PY_ERRAND_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "crew.h"
#include "policy.h"

/* Make the types and add them to the module. Returns 0 or -1. */
int csb_py_errand_add(PyObject *module);

/* A pool, and its crew. */
struct csb_py_sender {
    PyObject *module;
    PyObject *pool_object; /* kept alive by the job */
    const struct csb_policy *policy;
    struct csb_crew *crew;
};

/* What a job does that is no run of the pool. */
struct csb_py_work {
    PyObject *subject; /* borrowed, kept alive by the job; the argument of `drive` */
    int (*drive)(void *argument, struct csb_pool *pool,
                 const struct csb_request *request, struct csb_report *ret,
                 struct csb_error *reterr);
    /* With the GIL, when its end is taken: the payload, a new reference, and its kind; NULL
     * with an exception: "error". `data` is RunData, borrowed, or NULL with an exception. */
    PyObject *(*end)(PyObject *subject, const struct csb_errand *errand, PyObject *data,
                     const char **ret_kind);
};

/* Send a run: a new Job, or NULL with an exception. */
PyObject *csb_py_errand_send(const struct csb_py_sender *sender, PyObject *args);

/* Send something else. The request is converted from `mapping`. */
PyObject *csb_py_errand_send_work(const struct csb_py_sender *sender,
                                  const struct csb_py_work *work, PyObject *mapping,
                                  PyObject *mailbox_object, PyObject *token);

#endif
