/* The inside of `_core.Session`, for the files that implement it: py_session.c (what a thread
 * waits for) and py_session_errand.c (what nobody waits for). Glue: holds the GIL. */
#ifndef CSB_PY_SESSION_OBJECT_H
#define CSB_PY_SESSION_OBJECT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "kit.h"

typedef struct {
    PyObject_HEAD struct csb_run *run; /* NULL: ended */
    struct csb_kit kit;
    const struct csb_policy *policy;
    PyObject *pool_object;
    int cancel_fd;
    bool busy;
    bool closing; /* once the exchange is over */
    bool lives;   /* after an errand, by its thread */
} csb_py_session;

/* A new one that has ended, of this type, or NULL with an exception. */
csb_py_session *csb_py_session_new(PyTypeObject *type, PyObject *pool_object,
                                   const struct csb_policy *policy);

/* 0, or -1 with an exception: it has ended, or is busy. */
int csb_py_session_refuse_unless_free(const csb_py_session *self);

/* Kill the child and remove its folder; takes a moment, so without the GIL. */
void csb_py_session_end(csb_py_session *self);

#endif
