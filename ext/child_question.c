/* Theory of operation: runs in the child, called by a session's prelude on behalf of a cell:
 * to show something in its place, or for a line of input. Code of the cell may call it too;
 * it then talks nonsense to the caller, which believes nothing. */
#include "child_script.h"

#include <stdlib.h>

/* Waits even when it is interrupted, since the answer comes in any case; then the interrupt
 * counts. Other threads of the program go on. */
static PyObject *
question(PyObject *Py_UNUSED(self), PyObject *bytes)
{
    struct csb_wire_frame frame;
    PyObject *answer = NULL;
    char *text;
    Py_ssize_t count;
    char *heard;
    if (PyBytes_AsStringAndSize(bytes, &text, &count) < 0) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    csb_child_say(CSB_FRAME_ASK, (const unsigned char *)text, (size_t)count);
    heard = csb_child_next_frame(&frame);
    Py_END_ALLOW_THREADS;
    if (heard == NULL || PyErr_CheckSignals() < 0) {
        free(heard);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    if (frame.kind == CSB_FRAME_ANSWER) {
        answer = PyBytes_FromStringAndSize(heard, (Py_ssize_t)frame.length);
    } else {
        answer = Py_NewRef(Py_None);
    }
    free(heard);
    return answer;
}

static PyMethodDef method = {"question", question, METH_O,
                             "What the caller answers, None when nobody does."};

PyObject *
csb_child_question(void)
{
    return PyCFunction_New(&method, NULL);
}
