/* Theory of operation: glue, in the caller. Converts the request, waits in csb_launch
 * without the GIL, converts the report. Python signals (KeyboardInterrupt) are looked at
 * while waiting; when one raises, the child is dead and reaped before run() returns. */
#include "py_run.h"

#include "py_policy.h"
#include "py_request.h"

/* Called by the supervisor without the GIL. Only the main thread runs signal handlers;
 * elsewhere PyErr_CheckSignals does nothing. */
bool
csb_py_interrupted(void *argument)
{
    PyThreadState **saved = argument;
    bool raised;
    PyEval_RestoreThread(
        *saved); /* not PyGILState, which knows only the main interpreter */
    raised = PyErr_CheckSignals() != 0;
    *saved = PyEval_SaveThread();
    return raised;
}

PyObject *
csb_py_run(PyObject *module, PyObject *args)
{
    PyObject *policy_object;
    PyObject *mapping;
    const struct csb_policy *policy;
    struct csb_py_request request = {0};
    struct csb_report report = {0};
    struct csb_error error = {CSB_STEP_NONE, 0, ""};
    PyObject *result = NULL;
    PyThreadState *saved;
    int status;
    if (!PyArg_ParseTuple(args, "OO:run", &policy_object, &mapping)) {
        return NULL;
    }
    policy = csb_py_policy_get(module, policy_object);
    if (policy == NULL || csb_py_request_convert(mapping, &request) < 0) {
        csb_py_request_done(&request);
        return NULL;
    }
    request.c.job.interrupted = csb_py_interrupted;
    request.c.job.interrupted_argument = &saved;
    saved = PyEval_SaveThread();
    status = csb_launch(policy, &request.c, &report, &error);
    PyEval_RestoreThread(saved);
    /* A signal handler's exception has precedence over whatever the run ended with. */
    if (!PyErr_Occurred()) {
        result = csb_py_request_result(policy, &request, status, &report, &error);
    }
    csb_report_done(&report);
    csb_py_request_done(&request);
    return result;
}
