/* Theory of operation: glue, in the caller. A Pool object owns a C pool and a reference to its
 * policy. close() ends it; after a fork of the host only abandon() may be called. */
#include "py_pool.h"

#include "clock.h"
#include "crew.h"
#include "py_convert.h"
#include "py_errand.h"
#include "py_error.h"
#include "py_head_start.h"
#include "py_policy.h"
#include "py_request.h"
#include "py_run.h"
#include "py_session.h"
#include "py_session_errand.h"

typedef struct {
    PyObject_HEAD struct csb_pool *pool; /* NULL: closed */
    struct csb_pool *ended; /* closed; a thread in a method may still look at it */
    struct csb_crew *crew;  /* for runs that nobody waits for; made with the first */
    unsigned workers;
    PyObject *policy_object;
    const struct csb_policy *policy;
} PoolObject;

static struct csb_pool *
opened(PoolObject *self)
{
    if (self->pool == NULL) {
        PyErr_SetString(PyExc_ValueError, "the pool is closed");
    }
    return self->pool;
}

static PyObject *
pool_run(PyObject *object, PyObject *mapping)
{
    PoolObject *self = (PoolObject *)object;
    struct csb_py_request request = {0};
    struct csb_report report = {0};
    struct csb_error error = {CSB_STEP_NONE, 0, ""};
    PyObject *result = NULL;
    PyThreadState *saved;
    int status;
    struct csb_pool *pool = opened(self);
    if (pool == NULL) {
        return NULL;
    }
    if (csb_py_request_convert(mapping, &request) < 0) {
        csb_py_request_done(&request);
        return NULL;
    }
    request.c.job.interrupted = csb_py_interrupted;
    request.c.job.interrupted_argument = &saved;
    saved = PyEval_SaveThread();
    status = csb_pool_run(pool, &request.c, &report, &error);
    PyEval_RestoreThread(saved);
    if (!PyErr_Occurred()) {
        result = csb_py_request_result(self->policy, &request, status, &report, &error);
    }
    csb_report_done(&report);
    csb_py_request_done(&request);
    return result;
}

static PyObject *
pool_head_start(PyObject *object, PyObject *mapping)
{
    PoolObject *self = (PoolObject *)object;
    return opened(self) == NULL
               ? NULL
               : csb_py_head_start_new(PyType_GetModule(Py_TYPE(object)), object,
                                       self->policy, self->pool, mapping);
}

/* The crew is made with its first errand. */
static PyObject *
submit(PyObject *object, PyObject *args,
       PyObject *(*send)(const struct csb_py_sender *sender, PyObject *args))
{
    PoolObject *self = (PoolObject *)object;
    struct csb_py_sender sender;
    struct csb_error error;
    if (opened(self) == NULL) {
        return NULL;
    }
    if (self->crew == NULL &&
        csb_crew_open(self->pool, self->workers, &self->crew, &error) < 0) {
        return csb_py_raise(&error);
    }
    sender = (struct csb_py_sender){PyType_GetModule(Py_TYPE(object)), object,
                                    self->policy, self->crew};
    return send(&sender, args);
}

static PyObject *
pool_submit(PyObject *object, PyObject *args)
{
    return submit(object, args, csb_py_errand_send);
}

static PyObject *
pool_submit_session(PyObject *object, PyObject *args)
{
    return submit(object, args, csb_py_session_send_open);
}

static PyObject *
pool_submit_branch(PyObject *object, PyObject *args)
{
    return submit(object, args, csb_py_session_send_call);
}

static PyObject *
pool_open_session(PyObject *object, PyObject *mapping)
{
    PoolObject *self = (PoolObject *)object;
    return opened(self) == NULL
               ? NULL
               : csb_py_session_open(PyType_GetModule(Py_TYPE(object)), object,
                                     self->policy, self->pool, mapping);
}

static PyObject *
pool_stats(PyObject *object, PyObject *Py_UNUSED(unused))
{
    PoolObject *self = (PoolObject *)object;
    struct csb_pool_stats stats;
    if (opened(self) == NULL) {
        return NULL;
    }
    csb_pool_stats_of(self->pool, &stats);
    return Py_BuildValue(
        "{s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:i,s:d,s:d}", "runs",
        (unsigned long long)stats.runs, "waiting", (unsigned long long)stats.waiting,
        "running", (unsigned long long)stats.running, "ready",
        (unsigned long long)stats.ready, "spares_hit",
        (unsigned long long)stats.spares_hit, "spares_missed",
        (unsigned long long)stats.spares_missed, "renewals",
        (unsigned long long)stats.renewals, "failures",
        (unsigned long long)stats.failures, "zygote_resident_bytes",
        (unsigned long long)stats.zygote_resident_bytes, "zygote_pid",
        (int)stats.zygote_pid, "p50_s", (double)stats.p50_ns / (double)CSB_NS_PER_S,
        "p99_s", (double)stats.p99_ns / (double)CSB_NS_PER_S);
}

static PyObject *
pool_wait_ready(PyObject *object, PyObject *argument)
{
    PoolObject *self = (PoolObject *)object;
    double seconds = PyFloat_AsDouble(argument);
    bool ready;
    struct csb_pool *pool = PyErr_Occurred() ? NULL : opened(self);
    if (pool == NULL) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    ready = csb_pool_wait_ready(pool, csb_clock_from_seconds(seconds));
    Py_END_ALLOW_THREADS;
    return PyBool_FromLong(ready);
}

static void
close_pool(PoolObject *self, bool kill)
{
    struct csb_pool *pool = self->pool;
    struct csb_crew *crew = self->crew;
    self->pool = NULL;
    if (pool != NULL) {
        self->ended = pool;
        Py_BEGIN_ALLOW_THREADS;
        if (crew != NULL) {
            csb_crew_close(crew, kill);
        }
        csb_pool_end(pool, kill);
        Py_END_ALLOW_THREADS;
    }
}

static PyObject *
pool_close(PyObject *object, PyObject *args)
{
    int kill = 0;
    if (!PyArg_ParseTuple(args, "|p:close", &kill)) {
        return NULL;
    }
    close_pool((PoolObject *)object, kill != 0);
    Py_RETURN_NONE;
}

static PyObject *
pool_abandon(PyObject *object, PyObject *Py_UNUSED(unused))
{
    PoolObject *self = (PoolObject *)object;
    if (self->pool != NULL) {
        csb_pool_abandon(self->pool);
        self->pool = NULL;
        self->crew = NULL; /* lost: its threads are not in this process */
    }
    Py_RETURN_NONE;
}

static int
get_options(PyObject *spec, struct csb_pool_options *ret, struct csb_strings *preload)
{
    uint64_t workers;
    uint64_t spares;
    uint64_t processors;
    double renew_s;
    double startup_s;
    if (csb_py_get_u64(spec, "workers", &workers) < 0 ||
        csb_py_get_u64(spec, "spares", &spares) < 0 ||
        csb_py_get_u64(spec, "processors", &processors) < 0 ||
        csb_py_get_u64(spec, "renew_runs", &ret->renew_runs) < 0 ||
        csb_py_get_double(spec, "renew_s", &renew_s) < 0 ||
        csb_py_get_double(spec, "startup_s", &startup_s) < 0 ||
        csb_py_get_strings(spec, "preload", preload) < 0) {
        return -1;
    }
    if (workers < 1 || workers > 4096 || spares < 1 || spares > 4096 ||
        ret->renew_runs < 1) {
        PyErr_SetString(PyExc_ValueError,
                        "keys 'workers' and 'spares': expected 1 to 4096, "
                        "'renew_runs': at least 1");
        return -1;
    }
    ret->workers = (unsigned)workers;
    ret->spares = (unsigned)spares;
    ret->processors = processors < 4096 ? (unsigned)processors : 4096;
    ret->renew_ns = csb_clock_from_seconds(renew_s);
    ret->startup_ns = csb_clock_from_seconds(startup_s);
    ret->preload = preload;
    return 0;
}

static int
open_pool(PoolObject *self, PyObject *spec)
{
    struct csb_pool_options options = {0};
    struct csb_strings preload = {0};
    struct csb_error error;
    int result = get_options(spec, &options, &preload);
    self->workers = options.workers;
    if (result == 0) {
        result = csb_pool_open(self->policy, &options, &self->pool, &error);
        if (result < 0) {
            (void)csb_py_raise(&error);
        }
    }
    csb_strings_done(&preload);
    return result;
}

static PyObject *
pool_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(keywords))
{
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *module = PyType_GetModule(type);
    const struct csb_policy *policy;
    PyObject *policy_object;
    PyObject *spec;
    PoolObject *self;
    if (!PyArg_ParseTuple(args, "OO:Pool", &policy_object, &spec)) {
        return NULL;
    }
    policy = csb_py_policy_get(module, policy_object);
    self = policy == NULL ? NULL : (PoolObject *)allocate(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->policy = policy;
    Py_INCREF(policy_object);
    self->policy_object = policy_object;
    if (open_pool(self, spec) < 0) {
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    return (PyObject *)self;
}

static void
pool_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    close_pool((PoolObject *)object, true);
    csb_crew_free(((PoolObject *)object)->crew);
    if (((PoolObject *)object)->ended != NULL) {
        csb_pool_free(((PoolObject *)object)->ended);
    }
    Py_XDECREF(((PoolObject *)object)->policy_object);
    release(object);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"run", pool_run, METH_O, "Run one already checked source in a spare child."},
    {"head_start", pool_head_start, METH_O,
     "head_start(request): a HeadStart, or None where there is none now."},
    {"submit", pool_submit, METH_VARARGS,
     "submit(request, mailbox, token, streams): a Job whose end arrives there."},
    {"submit_session", pool_submit_session, METH_VARARGS,
     "submit_session(request, mailbox, token): as open_session, its end arrives there."},
    {"submit_branch", pool_submit_branch, METH_VARARGS,
     "submit_branch(session, request, mailbox, token): one call in a branch."},
    {"open_session", pool_open_session, METH_O,
     "open_session(request): (Session, or None when the child ended; RunData)."},
    {"stats", pool_stats, METH_NOARGS, "Figures of the pool."},
    {"wait_ready", pool_wait_ready, METH_O,
     "Wait for spares, so many seconds at most."},
    {"close", pool_close, METH_VARARGS,
     "close(kill=False): end all of it, after the runs that are on, or with them."},
    {"abandon", pool_abandon, METH_NOARGS, "In a forked copy of the process: let go."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, pool_new},
    {Py_tp_dealloc, pool_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "csandbox._core.Pool",
    .basicsize = sizeof(PoolObject),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

int
csb_py_pool_add(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &spec, NULL);
    int result = type == NULL ? -1 : PyModule_AddType(module, (PyTypeObject *)type);
    Py_XDECREF(type);
    return result;
}

struct csb_pool *
csb_py_pool_get(PyObject *module, PyObject *object,
                const struct csb_policy **ret_policy)
{
    PyObject *type = PyObject_GetAttrString(module, "Pool");
    struct csb_pool *pool = NULL;
    if (type != NULL && PyObject_IsInstance(object, type) == 1) {
        pool = opened((PoolObject *)object);
        *ret_policy = ((PoolObject *)object)->policy;
    } else if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_TypeError, "expected a _core.Pool");
    }
    Py_XDECREF(type);
    return pool;
}
