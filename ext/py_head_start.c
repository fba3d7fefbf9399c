/* Theory of operation: glue, in the caller. The object owns the converted request, which the
 * run in the pool borrows; it ends with complete(), drop() or the object itself. Nothing of the
 * source is executed before complete(). */
#include "py_head_start.h"

#include "py_error.h"
#include "py_request.h"
#include "py_run.h"

typedef struct {
    PyObject_HEAD struct csb_pool_run *run; /* NULL: over */
    struct csb_py_request request;
    const struct csb_policy *policy;
    PyObject *pool_object;
} HeadStartObject;

static PyObject *
head_start_drop(PyObject *object, PyObject *Py_UNUSED(unused))
{
    HeadStartObject *self = (HeadStartObject *)object;
    struct csb_pool_run *run = self->run;
    self->run = NULL;
    if (run != NULL) {
        Py_BEGIN_ALLOW_THREADS;
        csb_pool_drop(run);
        Py_END_ALLOW_THREADS;
    }
    Py_RETURN_NONE;
}

static PyObject *
head_start_complete(PyObject *object, PyObject *mapping)
{
    HeadStartObject *self = (HeadStartObject *)object;
    struct csb_pool_run *run = self->run;
    struct csb_report report = {0};
    struct csb_error error = {CSB_STEP_NONE, 0, ""};
    PyObject *result = NULL;
    PyThreadState *saved;
    int status;
    if (run == NULL) {
        PyErr_SetString(PyExc_ValueError, "this run is over");
        return NULL;
    }
    if (csb_py_request_checked(mapping, &self->request) < 0) {
        return NULL;
    }
    self->run = NULL;
    self->request.c.job.interrupted = csb_py_interrupted;
    self->request.c.job.interrupted_argument = &saved;
    saved = PyEval_SaveThread();
    status = csb_pool_complete(run, &report, &error);
    PyEval_RestoreThread(saved);
    if (!PyErr_Occurred()) {
        result = csb_py_request_result(self->policy, &self->request, status, &report,
                                       &error);
    }
    csb_report_done(&report);
    return result;
}

static void
head_start_dealloc(PyObject *object)
{
    HeadStartObject *self = (HeadStartObject *)object;
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    Py_XDECREF(head_start_drop(object, NULL));
    csb_py_request_done(&self->request);
    Py_XDECREF(self->pool_object);
    release(object);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"complete", head_start_complete, METH_O,
     "complete(request): RunData, as Pool.run; the request as it is now."},
    {"drop", head_start_drop, METH_NOARGS, "End it; nothing of it was executed."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, head_start_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "csandbox._core.HeadStart",
    .basicsize = sizeof(HeadStartObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

int
csb_py_head_start_add(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &spec, NULL);
    int result = type == NULL ? -1 : PyModule_AddType(module, (PyTypeObject *)type);
    Py_XDECREF(type);
    return result;
}

PyObject *
csb_py_head_start_new(PyObject *module, PyObject *pool_object,
                      const struct csb_policy *policy, struct csb_pool *pool,
                      PyObject *mapping)
{
    PyObject *type = PyObject_GetAttrString(module, "HeadStart");
    HeadStartObject *self =
        type == NULL ? NULL
                     : (HeadStartObject *)((allocfunc)PyType_GetSlot(
                           (PyTypeObject *)type, Py_tp_alloc))((PyTypeObject *)type, 0);
    Py_XDECREF(type);
    if (self == NULL) {
        return NULL;
    }
    self->policy = policy;
    self->pool_object = Py_NewRef(pool_object);
    if (csb_py_request_convert(mapping, &self->request) < 0) {
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    self->run = csb_pool_head_start(pool, &self->request.c);
    Py_END_ALLOW_THREADS;
    if (self->run == NULL) {
        Py_DECREF((PyObject *)self);
        Py_RETURN_NONE;
    }
    return (PyObject *)self;
}
