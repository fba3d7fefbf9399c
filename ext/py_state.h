/* What the extension keeps for the whole process, in its module's state. Glue, with the GIL. */
#ifndef CSB_PY_STATE_H
#define CSB_PY_STATE_H

#include "py_convert.h"

#include "remover.h"

struct csb_py_state {
    struct csb_remover *remover; /* owned */
};

/* Fill it; -1 with an exception. */
int csb_py_state_add(PyObject *module);

/* For m_free: safe on a state that was never filled. */
void csb_py_state_free(void *module);

/* `removing()`: how many folders are being removed now. */
PyObject *csb_py_removing(PyObject *module, PyObject *unused);

#endif
