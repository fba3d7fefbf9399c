/* Theory of operation: the extension `_child`, loaded by path in the child's interpreter by
 * the bootstrap of launch.c. One function, run(): finish the confinement, say READY, read
 * the submission, become it; or, in a zygote, do the first once and fork children that do
 * the rest. After that everything in this process is untrusted, this code included.
 * Multi-phase, no state, no import of csandbox. */
#include "child_script.h"

#include <stdlib.h>

static PyObject *
run(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    struct csb_child child = {0};
    PyObject *result;
    csb_child_configure(&child);
    if (csb_child_add_builtins() < 0 || csb_child_prepare(&child) < 0 ||
        (child.config.zygote != 0 && csb_child_serve(&child) < 0)) {
        PyErr_Print(); /* for `internal_error`: this is our fault, or the interpreter's */
        csb_child_give_up();
    }
    csb_child_confine(&child);
    result = csb_child_live(&child);
    free(child.payload);
    if (child.config.zygote != 0) {
        csb_child_leave(result);
    }
    return result;
}

static PyMethodDef methods[] = {
    {"run", run, METH_NOARGS, "Finish the confinement, read the submission, run it."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {{0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "_child",
                                        .m_methods = methods, .m_slots = slots};

PyMODINIT_FUNC PyInit__child(void); /* for -Wmissing-prototypes */

PyMODINIT_FUNC
PyInit__child(void)
{
    return PyModuleDef_Init(&definition);
}
