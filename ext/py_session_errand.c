/* Theory of operation: glue, in the caller. The job of an errand keeps the session alive; the
 * session is busy from the sending until the end is taken out of the mailbox, so no other thread
 * touches its run meanwhile. The crew's threads never touch a Python object. */
#include "py_session_errand.h"

#include "branch_call.h"
#include "py_session_object.h"

/* Without the GIL, on a thread of the crew. */
static int
open_one(void *argument, struct csb_pool *pool, const struct csb_request *request,
         struct csb_report *ret, struct csb_error *reterr)
{
    csb_py_session *session = argument;
    return csb_pool_open_session(pool, request, &session->run, &session->kit, ret,
                                 reterr);
}

static PyObject *
opened(PyObject *subject, const struct csb_errand *errand, PyObject *data,
       const char **ret_kind)
{
    csb_py_session *session = (csb_py_session *)subject;
    (void)errand;
    (void)ret_kind;
    session->busy = false;
    if (session->closing) {
        csb_py_session_end(session);
    }
    Py_XINCREF(data);
    return data;
}

/* Without the GIL, on a thread of the crew. */
static int
call_one(void *argument, struct csb_pool *pool, const struct csb_request *request,
         struct csb_report *ret, struct csb_error *reterr)
{
    csb_py_session *session = argument;
    (void)pool;
    return csb_branch_call(session->run, &session->kit, session->policy, request,
                           &session->lives, ret, reterr);
}

/* What `_core.Session.fork` and `exchange` say between them. */
static PyObject *
called(PyObject *subject, const struct csb_errand *errand, PyObject *data,
       const char **ret_kind)
{
    csb_py_session *session = (csb_py_session *)subject;
    session->busy = false;
    if (!session->lives || session->closing) {
        csb_py_session_end(session);
    }
    if (errand->status < 0) {
        PyErr_Clear();
        *ret_kind = "refused";
        return Py_BuildValue("(is)", -errand->status, errand->error.message);
    }
    Py_XINCREF(data);
    return data;
}

PyObject *
csb_py_session_send_open(const struct csb_py_sender *sender, PyObject *args)
{
    PyObject *mapping;
    PyObject *mailbox;
    PyObject *token;
    PyObject *type;
    PyObject *job = NULL;
    csb_py_session *session;
    if (!PyArg_ParseTuple(args, "OOO:submit_session", &mapping, &mailbox, &token)) {
        return NULL;
    }
    type = PyObject_GetAttrString(sender->module, "Session");
    session = type == NULL ? NULL
                           : csb_py_session_new((PyTypeObject *)type,
                                                sender->pool_object, sender->policy);
    if (session != NULL) {
        const struct csb_py_work work = {(PyObject *)session, open_one, opened};
        session->busy = true;
        job = csb_py_errand_send_work(sender, &work, mapping, mailbox, token);
    }
    Py_XDECREF(type);
    if (job == NULL) {
        Py_XDECREF((PyObject *)session);
        return NULL;
    }
    return Py_BuildValue("(NN)", session, job);
}

static int
check_session(const struct csb_py_sender *sender, PyObject *object)
{
    PyObject *type = PyObject_GetAttrString(sender->module, "Session");
    const int is_one = type == NULL ? -1 : PyObject_IsInstance(object, type);
    Py_XDECREF(type);
    if (is_one == 0 || (is_one == 1 && ((csb_py_session *)object)->pool_object !=
                                           sender->pool_object)) {
        PyErr_SetString(PyExc_TypeError, "expected a _core.Session of this pool");
    }
    return PyErr_Occurred()
               ? -1
               : csb_py_session_refuse_unless_free((csb_py_session *)object);
}

PyObject *
csb_py_session_send_call(const struct csb_py_sender *sender, PyObject *args)
{
    PyObject *object;
    PyObject *mapping;
    PyObject *mailbox;
    PyObject *token;
    PyObject *job;
    csb_py_session *session;
    if (!PyArg_ParseTuple(args, "OOOO:submit_branch", &object, &mapping, &mailbox,
                          &token) ||
        check_session(sender, object) < 0) {
        return NULL;
    }
    session = (csb_py_session *)object;
    session->busy = true;
    session->lives = true;
    job = csb_py_errand_send_work(sender,
                                  &(const struct csb_py_work){object, call_one, called},
                                  mapping, mailbox, token);
    session->busy = job != NULL;
    return job;
}
