/* Theory of operation: glue, in the caller. Here the guard and the launch meet: the job's
 * question is answered with the guard's comparison. A capsule is not changed once it is made,
 * and may serve many runs at the same time; what a run finds is added to its own copy. */
#include "py_checked.h"

#include "confirm.h"

#include <stdlib.h>

static const char capsule_name[] = "csandbox.checked";

struct checked {
    struct csb_findings findings; /* owned */
    const struct csb_guard_config *config;
    PyObject *guard; /* owned reference that keeps config alive */
};

static void
destroy(PyObject *capsule)
{
    struct checked *checked = PyCapsule_GetPointer(capsule, capsule_name);
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
    struct checked *checked = calloc(1, sizeof *checked);
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

int
csb_py_opinion_init(struct csb_py_opinion *ret, PyObject *object)
{
    const struct checked *checked = PyCapsule_GetPointer(object, capsule_name);
    if (checked == NULL) {
        return -1;
    }
    if (csb_diags_copy(&checked->findings.diags, &ret->findings.diags) < 0) {
        PyErr_NoMemory();
        return -1;
    }
    ret->findings.source = checked->findings.source;
    ret->findings.seen = checked->findings.seen;
    ret->config = checked->config;
    Py_INCREF(object);
    ret->checked = object;
    return 0;
}

void
csb_py_opinion_done(struct csb_py_opinion *opinion)
{
    csb_diags_done(&opinion->findings.diags);
    Py_CLEAR(opinion->checked);
}

bool
csb_py_opinion_agrees(void *argument, const unsigned char *facts, size_t count)
{
    struct csb_py_opinion *opinion = argument;
    bool agrees = false;
    opinion->compared = true;
    if (csb_confirm(opinion->config, &opinion->findings, facts, count, &agrees, NULL) <
        0) {
        opinion->failed = true;
        return false;
    }
    return agrees && !opinion->only_ask;
}
