/* Theory of operation: glue, in the caller. A Job owns the converted request and the errand;
 * while the crew has it, a reference of its own keeps it alive, given back when its end is
 * taken out of the mailbox. The crew's threads never touch a Python object. */
#include "py_errand.h"

#include "clock.h"
#include "py_error.h"
#include "py_request.h"

typedef struct {
    PyObject_HEAD struct csb_mailbox *mailbox;
} MailboxObject;

typedef struct {
    PyObject_HEAD struct csb_errand errand;
    struct csb_py_request request;
    struct csb_crew *crew; /* NULL: not sent, or ended */
    const struct csb_policy *policy;
    PyObject *pool_object;
    PyObject *mailbox_object;
    PyObject *token;
    struct csb_py_work work; /* its subject is owned; all NULL: a run */
} JobObject;

static void *
allocate(PyTypeObject *type)
{
    return ((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
}

static void
release(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyObject *
mailbox_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(keywords))
{
    struct csb_error error;
    MailboxObject *self;
    if (!PyArg_ParseTuple(args, ":Mailbox")) {
        return NULL;
    }
    self = allocate(type);
    if (self != NULL && csb_mailbox_open(&self->mailbox, &error) < 0) {
        Py_DECREF((PyObject *)self);
        return csb_py_raise(&error);
    }
    return (PyObject *)self;
}

static void
mailbox_dealloc(PyObject *object)
{
    MailboxObject *self = (MailboxObject *)object;
    if (self->mailbox != NULL) {
        csb_mailbox_close(self->mailbox);
    }
    release(object);
}

static PyObject *
mailbox_fileno(PyObject *object, PyObject *Py_UNUSED(unused))
{
    return PyLong_FromLong(csb_mailbox_fd(((MailboxObject *)object)->mailbox));
}

/* The end of a job: (token, "done", RunData), or (token, "error", exception), or what the
 * work of the job makes of these. */
static PyObject *
end_of(JobObject *job)
{
    const struct csb_errand *errand = &job->errand;
    const char *kind = "done";
    PyObject *data = csb_py_request_result(job->policy, &job->request, errand->status,
                                           &errand->report, &errand->error);
    PyObject *type;
    PyObject *value;
    PyObject *traceback;
    if (job->work.end != NULL) {
        PyObject *payload = job->work.end(job->work.subject, errand, data, &kind);
        Py_XDECREF(data);
        data = payload;
    }
    if (data != NULL) {
        return Py_BuildValue("(OsN)", job->token, kind, data);
    }
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    return Py_BuildValue("(OsN)", job->token, "error", value);
}

static PyObject *
tell(const struct csb_news *news)
{
    JobObject *job = news->errand->owner;
    PyObject *item;
    if (news->kind == CSB_NEWS_OUTPUT) {
        return Py_BuildValue("(Os(iy#))", job->token, "output", news->stream,
                             (const char *)news->bytes, (Py_ssize_t)news->count);
    }
    item = end_of(job);
    job->crew = NULL;
    Py_DECREF((PyObject *)job); /* the crew's */
    return item;
}

static PyObject *
mailbox_take(PyObject *object, PyObject *argument)
{
    struct csb_mailbox *mailbox = ((MailboxObject *)object)->mailbox;
    double seconds = PyFloat_AsDouble(argument);
    struct csb_news *news;
    PyObject *list;
    if (PyErr_Occurred()) {
        return NULL;
    }
    Py_INCREF(object); /* the last job may hold the last other reference */
    Py_BEGIN_ALLOW_THREADS;
    news = csb_mailbox_take(mailbox, csb_clock_from_seconds(seconds));
    Py_END_ALLOW_THREADS;
    list = PyList_New(0);
    while (news != NULL) {
        struct csb_news *next = news->next;
        PyObject *item = tell(news);
        if (list != NULL && (item == NULL || PyList_Append(list, item) < 0)) {
            Py_CLEAR(list);
        }
        Py_XDECREF(item);
        csb_news_free(news);
        news = next;
    }
    Py_DECREF(object);
    return list;
}

static PyObject *
job_cancel(PyObject *object, PyObject *Py_UNUSED(unused))
{
    JobObject *self = (JobObject *)object;
    struct csb_crew *crew = self->crew;
    if (crew != NULL) {
        Py_BEGIN_ALLOW_THREADS;
        csb_crew_cancel(crew, &self->errand);
        Py_END_ALLOW_THREADS;
    }
    Py_RETURN_NONE;
}

static void
job_dealloc(PyObject *object)
{
    JobObject *self = (JobObject *)object;
    csb_report_done(&self->errand.report);
    csb_py_request_done(&self->request);
    Py_XDECREF(self->pool_object);
    Py_XDECREF(self->mailbox_object);
    Py_XDECREF(self->token);
    Py_XDECREF(self->work.subject);
    release(object);
}

static PyMethodDef mailbox_methods[] = {
    {"fileno", mailbox_fileno, METH_NOARGS, "Readable while there is news."},
    {"take", mailbox_take, METH_O, "What has arrived; waits so many seconds at most."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot mailbox_slots[] = {
    {Py_tp_new, mailbox_new},
    {Py_tp_dealloc, mailbox_dealloc},
    {Py_tp_methods, mailbox_methods},
    {0, NULL},
};

static PyType_Spec mailbox_spec = {
    .name = "csandbox._core.Mailbox",
    .basicsize = sizeof(MailboxObject),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = mailbox_slots,
};

static PyMethodDef job_methods[] = {
    {"cancel", job_cancel, METH_NOARGS, "End it soon; its end still arrives."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot job_slots[] = {
    {Py_tp_dealloc, job_dealloc},
    {Py_tp_methods, job_methods},
    {0, NULL},
};

static PyType_Spec job_spec = {
    .name = "csandbox._core.Job",
    .basicsize = sizeof(JobObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = job_slots,
};

static int
add_type(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    int result = type == NULL ? -1 : PyModule_AddType(module, (PyTypeObject *)type);
    Py_XDECREF(type);
    return result;
}

int
csb_py_errand_add(PyObject *module)
{
    return add_type(module, &mailbox_spec) < 0 || add_type(module, &job_spec) < 0 ? -1
                                                                                  : 0;
}

static JobObject *
new_job(PyObject *module, PyObject *mailbox_object, PyObject *token)
{
    PyObject *mailbox_type = PyObject_GetAttrString(module, "Mailbox");
    PyObject *job_type = PyObject_GetAttrString(module, "Job");
    JobObject *job = NULL;
    if (mailbox_type != NULL &&
        PyObject_IsInstance(mailbox_object, mailbox_type) != 1) {
        PyErr_SetString(PyExc_TypeError, "expected a _core.Mailbox");
    } else if (mailbox_type != NULL && job_type != NULL) {
        job = allocate((PyTypeObject *)job_type);
    }
    if (job != NULL) {
        Py_INCREF(mailbox_object);
        Py_INCREF(token);
        job->mailbox_object = mailbox_object;
        job->token = token;
    }
    Py_XDECREF(mailbox_type);
    Py_XDECREF(job_type);
    return job;
}

static PyObject *
send(const struct csb_py_sender *sender, const struct csb_py_work *work,
     PyObject *mapping, PyObject *mailbox_object, PyObject *token, bool streams)
{
    struct csb_error error;
    JobObject *job = new_job(sender->module, mailbox_object, token);
    if (job == NULL || csb_py_request_convert(mapping, &job->request) < 0) {
        Py_XDECREF((PyObject *)job);
        return NULL;
    }
    Py_INCREF(sender->pool_object);
    job->pool_object = sender->pool_object;
    job->policy = sender->policy;
    job->errand.request = &job->request.c;
    job->errand.mailbox = ((MailboxObject *)mailbox_object)->mailbox;
    job->errand.streams = streams;
    job->errand.owner = job;
    if (work != NULL) {
        Py_INCREF(work->subject);
        job->work = *work;
        job->errand.work = work->drive;
        job->errand.work_argument = work->subject;
    }
    if (csb_crew_send(sender->crew, &job->errand, &error) < 0) {
        Py_DECREF((PyObject *)job);
        return csb_py_raise(&error);
    }
    job->crew = sender->crew;
    Py_INCREF((PyObject *)job); /* the crew's */
    return (PyObject *)job;
}

PyObject *
csb_py_errand_send(const struct csb_py_sender *sender, PyObject *args)
{
    PyObject *mapping;
    PyObject *mailbox_object;
    PyObject *token;
    int streams;
    if (!PyArg_ParseTuple(args, "OOOp:submit", &mapping, &mailbox_object, &token,
                          &streams)) {
        return NULL;
    }
    return send(sender, NULL, mapping, mailbox_object, token, streams != 0);
}

PyObject *
csb_py_errand_send_work(const struct csb_py_sender *sender,
                        const struct csb_py_work *work, PyObject *mapping,
                        PyObject *mailbox_object, PyObject *token)
{
    return send(sender, work, mapping, mailbox_object, token, false);
}
