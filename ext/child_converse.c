/* Theory of operation: runs in the child after the source was executed, so everything here
 * may be under the influence of hostile code: it answers frames with bytes, and the caller
 * believes none of them. Cells are compiled and shown by the prelude, Python code of ours
 * that the submission message carries (csandbox/_prelude). */
#include "child_script.h"

#include "child_call.h"

#include <signal.h>
#include <stdlib.h>

enum { CODES_MAX = 8 };

static PyObject *
prelude_namespace(const char *text)
{
    PyObject *names = PyDict_New();
    PyObject *question = csb_child_question();
    PyObject *code = NULL;
    PyObject *result = NULL;
    if (names != NULL && question != NULL &&
        PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins()) == 0 &&
        PyDict_SetItemString(names, "question", question) == 0 &&
        (text[0] == '\0' ||
         (code = Py_CompileString(text, "<csandbox>", Py_file_input)) != NULL)) {
        result =
            code == NULL ? PyLong_FromLong(0) : PyEval_EvalCode(code, names, names);
    }
    if (result == NULL) {
        Py_CLEAR(names);
    }
    Py_XDECREF(question);
    Py_XDECREF(result);
    Py_XDECREF(code);
    return names;
}

/* Call a function of the prelude. */
static PyObject *
ask(PyObject *names, const char *function, PyObject *first, PyObject *second)
{
    PyObject *callable = PyDict_GetItemString(names, function); /* borrowed */
    if (callable == NULL) {
        PyErr_Format(PyExc_RuntimeError, "the prelude has no %s()", function);
        return NULL;
    }
    return PyObject_CallFunctionObjArgs(callable, first, second, NULL);
}

static int
reply_with(PyObject *answer)
{
    char *bytes;
    Py_ssize_t count;
    if (answer == NULL || PyBytes_AsStringAndSize(answer, &bytes, &count) < 0) {
        return -1;
    }
    csb_child_say(CSB_FRAME_REPLY, (const unsigned char *)bytes, (size_t)count);
    return 0;
}

/* A cell: compile, tell the facts, execute. `compiled` is a tuple of code objects, or the
 * bytes of an answer when there is nothing to execute. */
static int
answer_cell(const struct csb_child *child, PyObject *names, PyObject *text,
            PyObject *globals)
{
    PyObject *compiled = ask(names, "compile_cell", text, globals);
    PyObject *answer = NULL;
    PyObject *codes[CODES_MAX];
    Py_ssize_t count;
    int agreed = 0;
    int result;
    if (compiled != NULL && PyBytes_Check(compiled)) {
        answer = compiled;
        compiled = NULL;
    } else if (compiled != NULL && (count = PyTuple_Size(compiled)) >= 0) {
        count = count < CODES_MAX ? count : CODES_MAX;
        for (Py_ssize_t i = 0; i < count; i++) {
            codes[i] = PyTuple_GetItem(compiled, i); /* borrowed */
        }
        agreed = csb_child_agree(child, codes, (size_t)count);
        answer = agreed == 0  ? PyBytes_FromStringAndSize("", 0)
                 : agreed > 0 ? ask(names, "run_cell", compiled, globals)
                              : NULL;
    }
    result = reply_with(answer);
    Py_XDECREF(answer);
    Py_XDECREF(compiled);
    return result;
}

/* By child_call.c, unless the prelude has an answer() of its own. */
/* An interrupt is for the program: while our own code runs it waits (the prelude does the same
 * around a cell). What came in the last moment is dropped. */
static void
listen_to_interrupts(bool wanted)
{
    sigset_t interrupts;
    (void)sigemptyset(&interrupts);
    (void)sigaddset(&interrupts, SIGINT);
    (void)pthread_sigmask(wanted ? SIG_UNBLOCK : SIG_BLOCK, &interrupts, NULL);
    if (!wanted && PyErr_CheckSignals() < 0) {
        PyErr_Clear();
    }
}

static int
answer_call(PyObject *names, PyObject *request, PyObject *globals)
{
    struct csb_value_writer reply = {0};
    PyObject *answer;
    int result;
    if (PyDict_GetItemString(names, "answer") != NULL) {
        answer = ask(names, "answer", request, globals);
        result = reply_with(answer);
        Py_XDECREF(answer);
        return result;
    }
    listen_to_interrupts(true);
    result = csb_child_answer(globals, (const unsigned char *)PyBytes_AsString(request),
                              (size_t)PyBytes_Size(request), &reply);
    listen_to_interrupts(false);
    if (result == 0) {
        csb_child_say(CSB_FRAME_REPLY, reply.bytes, reply.count);
    } else {
        PyErr_NoMemory();
    }
    csb_value_writer_done(&reply);
    return result;
}

/* The original says how it went; the branch that it is there. */
static int
answer_branch(const struct csb_child *child)
{
    const int result = csb_child_branch(child);
    const int32_t err = result < 0 ? -result : 0;
    csb_child_say(CSB_FRAME_REPLY, (const unsigned char *)&err,
                  result > 0 ? 0 : sizeof err);
    return 0;
}

static int
answer_frame(const struct csb_child *child, PyObject *names,
             const struct csb_wire_frame *frame, const char *bytes, PyObject *globals)
{
    const Py_ssize_t length = (Py_ssize_t)frame->length;
    bool call = frame->kind == CSB_FRAME_CALL;
    PyObject *request;
    int result = -1;
    if (frame->kind == CSB_FRAME_BRANCH) {
        return answer_branch(child);
    }
    request = call ? PyBytes_FromStringAndSize(bytes, length)
                   : PyUnicode_DecodeUTF8(bytes, length, "strict");
    if (request != NULL && call) {
        result = answer_call(names, request, globals);
    } else if (request != NULL) {
        result = answer_cell(child, names, request, globals);
    }
    Py_XDECREF(request);
    return result;
}

int
csb_child_converse(const struct csb_child *child, const struct csb_child_task *task,
                   PyObject *globals)
{
    PyObject *names = prelude_namespace(task->prelude);
    struct csb_wire_frame frame;
    char *bytes;
    int result = names == NULL ? -1 : 0;
    if (result == 0) {
        csb_child_say(CSB_FRAME_REPLY, NULL, 0);
    }
    while (result == 0 && (bytes = csb_child_next_frame(&frame)) != NULL) {
        if (PyErr_CheckSignals() < 0) {
            PyErr_Clear(); /* it came between two frames, too late for the one before */
        }
        result = answer_frame(child, names, &frame, bytes, globals);
        free(bytes);
    }
    Py_XDECREF(names);
    return result;
}
