/* Theory of operation: glue, in the caller. The janitor lives as long as its object; in a forked
 * copy of the process the object is of no use and stops nothing. */
#include "py_janitor.h"

#include "janitor.h"
#include "py_error.h"
#include "py_policy.h"

typedef struct {
    PyObject_HEAD struct csb_janitor janitor;
} JanitorObject;

static PyObject *
janitor_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    const struct csb_policy *policy;
    struct csb_error error;
    JanitorObject *self;
    const char *program;
    PyObject *object;
    int result;
    if (keywords != NULL && PyDict_Size(keywords) > 0) {
        PyErr_SetString(PyExc_TypeError, "Janitor() takes no keyword arguments");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "Os:Janitor", &object, &program)) {
        return NULL;
    }
    policy = csb_py_policy_get(NULL, object);
    self = policy == NULL ? NULL : (JanitorObject *)allocate(type, 0);
    if (self == NULL) {
        return NULL;
    }
    csb_janitor_init(&self->janitor);
    Py_BEGIN_ALLOW_THREADS;
    result = csb_janitor_start(&self->janitor, program, policy, &error);
    Py_END_ALLOW_THREADS;
    if (result < 0) {
        csb_py_raise(&error);
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static void
janitor_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    csb_janitor_stop(&((JanitorObject *)object)->janitor);
    release(object);
    Py_DECREF(type);
}

static PyObject *
get_pid(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromLong(((JanitorObject *)object)->janitor.process.pid);
}

static PyObject *
leave(PyObject *object, PyObject *Py_UNUSED(unused))
{
    csb_janitor_leave(&((JanitorObject *)object)->janitor);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"leave", leave, METH_NOARGS, "Let it outlive the object, and this process."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getters[] = {
    {"pid", get_pid, NULL, "Its process number.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, janitor_new},
    {Py_tp_dealloc, janitor_dealloc},
    {Py_tp_getset, getters},
    {Py_tp_methods, methods},
    {Py_tp_doc, "A process that cleans up when this one was killed."},
    {0, NULL},
};

static PyType_Spec spec = {"csandbox._core.Janitor", sizeof(JanitorObject), 0,
                           Py_TPFLAGS_DEFAULT, slots};

int
csb_py_janitor_add(PyObject *module)
{
    PyObject *type = PyType_FromSpec(&spec);
    int result = type == NULL ? -1 : PyModule_AddObjectRef(module, "Janitor", type);
    Py_XDECREF(type);
    return result;
}
