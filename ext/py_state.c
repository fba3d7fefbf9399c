/* Theory of operation: glue, in the caller. The module's state is made when it is imported and
 * given back when it is freed; threads that still remove something then have references of their
 * own. */
#include "py_state.h"

int
csb_py_state_add(PyObject *module)
{
    struct csb_py_state *state = PyModule_GetState(module);
    state->remover = csb_remover_new();
    if (state->remover == NULL) {
        (void)PyErr_NoMemory();
        return -1;
    }
    return 0;
}

void
csb_py_state_free(void *module)
{
    struct csb_py_state *state = PyModule_GetState(module);
    if (state != NULL) {
        csb_remover_drop(state->remover);
        state->remover = NULL;
    }
}

PyObject *
csb_py_removing(PyObject *module, PyObject *Py_UNUSED(unused))
{
    const struct csb_py_state *state = PyModule_GetState(module);
    return PyLong_FromUnsignedLong(csb_remover_busy(state->remover));
}
