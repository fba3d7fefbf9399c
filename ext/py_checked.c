/* Theory of operation: glue, in the caller. Here the guard and the launch meet: the job's
 * question is answered with the guard's comparison. Each capsule serves one run, so its
 * findings are changed by one thread only. */
#include "py_checked.h"

#include "confirm.h"

#include <stdlib.h>

static const char capsule_name[] = "csandbox.checked";

static void
destroy(PyObject *capsule)
{
    struct csb_py_checked *checked = PyCapsule_GetPointer(capsule, capsule_name);
    if (checked != NULL) {
        csb_findings_done(&checked->findings);
        Py_DECREF(checked->guard);
        free(checked);
    }
}

PyObject *
csb_py_checked_new(PyObject *guard, const struct csb_guard_config *config,
                   struct csb_findings *findings)
{
    struct csb_py_checked *checked = calloc(1, sizeof *checked);
    PyObject *capsule = NULL;
    if (checked == NULL) {
        csb_findings_done(findings);
        return PyErr_NoMemory();
    }
    checked->findings = *findings;
    checked->config = config;
    Py_INCREF(guard);
    checked->guard = guard;
    capsule = PyCapsule_New(checked, capsule_name, destroy);
    if (capsule == NULL) {
        csb_findings_done(&checked->findings);
        Py_DECREF(guard);
        free(checked);
    }
    return capsule;
}

struct csb_py_checked *
csb_py_checked_use(PyObject *object)
{
    struct csb_py_checked *checked = PyCapsule_GetPointer(object, capsule_name);
    if (checked != NULL && checked->used) {
        PyErr_SetString(PyExc_ValueError,
                        "key 'checked': these findings were used before");
        return NULL;
    }
    if (checked != NULL) {
        checked->used = true; /* with the GIL, so that no second run can have it */
    }
    return checked;
}

bool
csb_py_checked_agrees(void *argument, const unsigned char *facts, size_t count)
{
    struct csb_py_checked *checked = argument;
    bool agrees = false;
    checked->compared = true;
    if (csb_confirm(checked->config, &checked->findings, facts, count, &agrees, NULL) <
        0) {
        checked->failed = true;
        return false;
    }
    return agrees && !checked->only_ask;
}
