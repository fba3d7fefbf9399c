/* Theory of operation: glue, in the caller. One exchange at a time; interrupt() and close() may
 * come from other threads meanwhile. A child that ends is told once and not replaced. */
#include "py_session.h"

#include "branch.h"
#include "fd.h"
#include "py_error.h"
#include "py_request.h"
#include "py_run.h"
#include "py_session_object.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

void
csb_py_session_end(csb_py_session *self)
{
    struct csb_run *run = self->run;
    self->run = NULL;
    if (self->policy != NULL) {
        Py_BEGIN_ALLOW_THREADS;
        csb_run_close(run);
        csb_kit_done(&self->kit, UINT32_MAX);
        Py_END_ALLOW_THREADS;
        csb_kit_init(&self->kit);
    }
}

/* Whom to tell of output, and whom to ask, while the exchange goes on. */
struct listener {
    PyObject *callable;
    PyThreadState **saved;
    PyObject *answer; /* owned: the last one, until it was sent */
};

/* With an exception of a listener. It is told on stderr: its fault must not cost the session
 * its state. A Ctrl-C that met it in Python code is put back, for csb_py_interrupted to find. */
static void
tell_exception(PyObject *callable)
{
    if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
        PyErr_Clear();
        PyErr_SetInterrupt();
    } else {
        PyErr_WriteUnraisable(callable);
    }
}

/* For csb_job.tap, without the GIL. */
static void
tell(void *argument, int stream, const unsigned char *bytes, size_t count)
{
    const struct listener *listener = argument;
    PyObject *result;
    PyEval_RestoreThread(*listener->saved);
    result = PyObject_CallFunction(listener->callable, "iy#", stream,
                                   (const char *)bytes, (Py_ssize_t)count);
    if (result == NULL) {
        tell_exception(listener->callable);
    }
    Py_XDECREF(result);
    *listener->saved = PyEval_SaveThread();
}

/* For csb_job.ask, without the GIL. */
static bool
answer(void *argument, const unsigned char *bytes, size_t count, struct csb_bytes *ret)
{
    struct listener *listener = argument;
    bool answered;
    PyEval_RestoreThread(*listener->saved);
    Py_XDECREF(listener->answer);
    listener->answer = PyObject_CallFunction(listener->callable, "y#",
                                             (const char *)bytes, (Py_ssize_t)count);
    if (listener->answer == NULL) {
        tell_exception(listener->callable);
    }
    answered = listener->answer != NULL && PyBytes_Check(listener->answer);
    if (answered) {
        ret->bytes = (const unsigned char *)PyBytes_AsString(listener->answer);
        ret->count = (size_t)PyBytes_Size(listener->answer);
    }
    *listener->saved = PyEval_SaveThread();
    return answered;
}

struct wait {
    const csb_py_session *session;
    PyThreadState **saved;
};

static bool
must_not_wait(void *argument)
{
    const struct wait *wait = argument;
    return wait->session->closing || csb_py_interrupted(wait->saved);
}

/* One session of a family runs at a time. Without the GIL. */
static int
enter(csb_py_session *self, PyThreadState **saved, struct csb_error *reterr)
{
    struct wait wait = {self, saved};
    return self->kit.member == NULL
               ? 0
               : csb_family_enter(self->kit.member, must_not_wait, &wait, reterr);
}

static void
leave(csb_py_session *self)
{
    if (self->kit.member != NULL) {
        csb_family_exit(self->kit.member);
    }
}

static void
raise_busy(const csb_py_session *self, const struct csb_error *error)
{
    if (self->closing || error->err == EDEADLK) {
        PyErr_SetString(PyExc_BlockingIOError,
                        self->closing ? "the session was closed" : error->message);
    } else {
        (void)csb_py_raise(error);
    }
}

int
csb_py_session_refuse_unless_free(const csb_py_session *self)
{
    if (self->run != NULL && !self->busy) {
        return 0;
    }
    PyErr_SetString(PyExc_ValueError, self->busy ? "the session is busy with a cell"
                                                 : "the session has ended");
    return -1;
}

static int
convert_one_call(PyObject *mapping, struct csb_py_request *ret)
{
    if (csb_py_request_convert(mapping, ret) < 0) {
        return -1;
    }
    if (ret->c.job.call_count != 1) {
        PyErr_SetString(PyExc_ValueError, "key 'calls': expected one");
        return -1;
    }
    return 0;
}

static void
listen(struct csb_job *job, PyObject *tap, PyObject *ask, struct listener listeners[2],
       PyThreadState **saved)
{
    listeners[0] = (struct listener){tap, saved, NULL};
    listeners[1] = (struct listener){ask, saved, NULL};
    job->tap = tap == Py_None ? NULL : tell;
    job->tap_argument = &listeners[0];
    job->ask = ask == Py_None ? NULL : answer;
    job->ask_argument = &listeners[1];
}

/* Entered. Returns whether the child lives. */
static bool
exchange(csb_py_session *self, const struct csb_job *job, struct csb_report *ret)
{
    const bool lives = csb_run_exchange(self->run, job, ret);
    leave(self);
    if (!lives) {
        csb_kit_blame_memory(&self->kit, &ret->facts);
    }
    return lives;
}

static PyObject *
session_exchange(PyObject *object, PyObject *args)
{
    csb_py_session *self = (csb_py_session *)object;
    PyObject *mapping;
    PyObject *tap = Py_None;
    PyObject *ask = Py_None;
    PyThreadState *saved;
    struct listener listeners[2];
    struct csb_py_request request = {0};
    struct csb_report report = {0};
    PyObject *result = NULL;
    struct csb_error error;
    struct csb_disk disk;
    struct csb_job job;
    int entered;
    bool lives = true;
    if (!PyArg_ParseTuple(args, "O|OO:exchange", &mapping, &tap, &ask)) {
        return NULL;
    }
    if (csb_py_session_refuse_unless_free(self) < 0 ||
        convert_one_call(mapping, &request) < 0) {
        csb_py_request_done(&request);
        return NULL;
    }
    job = csb_request_job(&request.c, self->policy);
    job.interrupted = csb_py_interrupted;
    job.interrupted_argument = &saved;
    job.cancel_fd = self->cancel_fd;
    listen(&job, tap, ask, listeners, &saved);
    disk = csb_kit_disk(&self->kit, job.limits);
    job.disk = self->policy->scratch_writable ? &disk : NULL;
    self->busy = true;
    saved = PyEval_SaveThread();
    entered = enter(self, &saved, &error);
    if (entered == 0) {
        lives = exchange(self, &job, &report);
    }
    PyEval_RestoreThread(saved);
    Py_XDECREF(listeners[1].answer);
    self->busy = false;
    if (entered < 0 && !PyErr_Occurred()) {
        raise_busy(self, &error);
    } else if (!PyErr_Occurred()) {
        result = csb_py_request_result(self->policy, &request, 0, &report, NULL);
    }
    if (!lives || self->closing) {
        csb_py_session_end(self);
    }
    csb_report_done(&report);
    csb_py_request_done(&request);
    return result;
}

csb_py_session *
csb_py_session_new(PyTypeObject *type, PyObject *pool_object,
                   const struct csb_policy *policy)
{
    csb_py_session *self =
        (csb_py_session *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (self == NULL) {
        return NULL;
    }
    csb_kit_init(&self->kit);
    Py_INCREF(pool_object);
    self->pool_object = pool_object;
    self->policy = policy;
    self->cancel_fd = csb_fd_raise(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (self->cancel_fd < 0) {
        errno = -self->cancel_fd;
        Py_DECREF((PyObject *)self);
        PyErr_SetFromErrno(PyExc_OSError);
        return NULL;
    }
    return self;
}

/* (session, None), or (None, (errno, why not)). */
static PyObject *
session_fork(PyObject *object, PyObject *mapping)
{
    csb_py_session *self = (csb_py_session *)object;
    csb_py_session *made;
    struct csb_error error;
    struct csb_limits limits;
    PyThreadState *saved;
    bool lives = true;
    int status;
    if (csb_py_session_refuse_unless_free(self) < 0 ||
        csb_py_convert_limits(mapping, &limits) < 0) {
        return NULL;
    }
    made = csb_py_session_new(Py_TYPE(object), self->pool_object, self->policy);
    if (made == NULL) {
        return NULL;
    }
    self->busy = true;
    saved = PyEval_SaveThread();
    status = enter(self, &saved, &error);
    if (status == 0) {
        status = csb_branch(self->run, &self->kit, self->policy, &limits, &made->run,
                            &made->kit, &lives, &error);
        leave(self);
    }
    PyEval_RestoreThread(saved);
    self->busy = false;
    if (!lives || self->closing) {
        csb_py_session_end(self);
    }
    if (status < 0) {
        Py_DECREF((PyObject *)made);
        if (PyErr_Occurred()) {
            return NULL; /* interrupted while it waited */
        }
        return Py_BuildValue("(O(is))", Py_None, -status, error.message);
    }
    return Py_BuildValue("(NO)", made, Py_None);
}

static PyObject *
session_interrupt(PyObject *object, PyObject *Py_UNUSED(unused))
{
    csb_py_session *self = (csb_py_session *)object;
    if (self->run != NULL) {
        csb_run_interrupt(self->run);
    }
    return PyBool_FromLong(self->run != NULL);
}

static PyObject *
session_close(PyObject *object, PyObject *Py_UNUSED(unused))
{
    csb_py_session *self = (csb_py_session *)object;
    const uint64_t one = 1;
    if (self->busy) {
        self->closing = true;
        (void)!write(self->cancel_fd, &one, sizeof one);
    } else if (self->run != NULL) {
        csb_py_session_end(self);
    }
    Py_RETURN_NONE;
}

static PyObject *
session_alive(PyObject *object, void *Py_UNUSED(unused))
{
    return PyBool_FromLong(((csb_py_session *)object)->run != NULL);
}

static PyObject *
session_pid(PyObject *object, void *Py_UNUSED(unused))
{
    const csb_py_session *self = (csb_py_session *)object;
    return PyLong_FromLong(self->run == NULL ? -1 : csb_run_pid(self->run));
}

static void
session_dealloc(PyObject *object)
{
    csb_py_session *self = (csb_py_session *)object;
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    if (self->run != NULL) {
        csb_py_session_end(self);
    }
    csb_fd_close(&self->cancel_fd);
    Py_XDECREF(self->pool_object);
    release(object);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"exchange", session_exchange, METH_VARARGS,
     "Send one frame and wait for its reply; tap(stream, bytes) is told of output, "
     "ask(bytes) answers questions."},
    {"fork", session_fork, METH_O,
     "A branch: (session, None), or (None, (errno, why not))."},
    {"interrupt", session_interrupt, METH_NOARGS, "SIGINT to the child."},
    {"close", session_close, METH_NOARGS, "Kill the child."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getters[] = {
    {"alive", session_alive, NULL, "Whether the child lives.", NULL},
    {"pid", session_pid, NULL, "Its process id, or -1.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, session_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, getters},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "csandbox._core.Session",
    .basicsize = sizeof(csb_py_session),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

int
csb_py_session_add(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &spec, NULL);
    int result = type == NULL ? -1 : PyModule_AddType(module, (PyTypeObject *)type);
    Py_XDECREF(type);
    return result;
}

PyObject *
csb_py_session_open(PyObject *module, PyObject *pool_object,
                    const struct csb_policy *policy, struct csb_pool *pool,
                    PyObject *mapping)
{
    struct csb_py_request request = {0};
    struct csb_report report = {0};
    struct csb_error error = {CSB_STEP_NONE, 0, ""};
    PyTypeObject *type = (PyTypeObject *)PyObject_GetAttrString(module, "Session");
    csb_py_session *self =
        type == NULL ? NULL : csb_py_session_new(type, pool_object, policy);
    PyObject *data = NULL;
    PyThreadState *saved;
    int status;
    Py_XDECREF((PyObject *)type);
    if (self == NULL || csb_py_request_convert(mapping, &request) < 0) {
        Py_XDECREF((PyObject *)self);
        csb_py_request_done(&request);
        return NULL;
    }
    request.c.job.interrupted = csb_py_interrupted;
    request.c.job.interrupted_argument = &saved;
    saved = PyEval_SaveThread();
    status = csb_pool_open_session(pool, &request.c, &self->run, &self->kit, &report,
                                   &error);
    PyEval_RestoreThread(saved);
    if (!PyErr_Occurred()) {
        data = csb_py_request_result(policy, &request, status, &report, &error);
    }
    csb_report_done(&report);
    csb_py_request_done(&request);
    if (data == NULL || self->run == NULL) {
        Py_DECREF((PyObject *)self);
        return data == NULL ? NULL : Py_BuildValue("(ON)", Py_None, data);
    }
    return Py_BuildValue("(NN)", self, data);
}
