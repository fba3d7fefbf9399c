/* Sessions that are opened, and branches that are called, without a thread of Python that waits.
 * Glue: holds the GIL. */
#ifndef CSB_PY_SESSION_ERRAND_H
#define CSB_PY_SESSION_ERRAND_H

#include "py_errand.h"

/* (request, mailbox, token) → (Session, Job), or NULL with an exception. */
PyObject *csb_py_session_send_open(const struct csb_py_sender *sender, PyObject *args);

/* (session, request, mailbox, token) → a Job, or NULL with an exception. */
PyObject *csb_py_session_send_call(const struct csb_py_sender *sender, PyObject *args);

#endif
