/* Theory of operation: glue, in the caller. The exception classes are Python
 * (csandbox/_errors.py): they are looked up when one is raised, not kept. */
#include "py_error.h"

#include "feature.h"

#include <stdio.h>
#include <string.h>

/* What to do about a feature that this kernel does not have. */
static const char *
hint(const char *feature)
{
    switch (csb_feature_lookup(feature)) {
    case CSB_FEATURE_LANDLOCK:
        return "boot a kernel with CONFIG_SECURITY_LANDLOCK and lsm=landlock,… (Linux 5.13 "
               "or newer; containers: allow the landlock_* system calls), or pass "
               "allow_degraded={'landlock'} to run with files unconfined";
    case CSB_FEATURE_SECCOMP:
        return "use a kernel with CONFIG_SECCOMP_FILTER";
    case CSB_FEATURE_SECCOMP_NOTIFY:
        return "use Linux 5.5 or newer, or pass allow_degraded={'seccomp_notify'} to run "
               "with denials uncounted";
    case CSB_FEATURE_FDS:
        return "use Linux 5.9 or newer (pidfd, close_range)";
    case CSB_FEATURE_NAMESPACES:
        return "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, "
               "kernel.apparmor_restrict_unprivileged_userns=0, user.max_user_namespaces "
               "above 0; containers: allow clone, setns and unshare), or pass "
               "namespaces='auto'";
    case CSB_FEATURE_CGROUP:
        return "start the program in a delegated cgroup v2 subtree with the memory and pids "
               "controllers (systemd: Delegate=yes and DelegateSubgroup=main), or pass "
               "cgroup='auto'";
    case CSB_FEATURE_MDWE:
        return "use Linux 6.3 or newer, or take 'mdwe' out of isolation.require";
    default:
        return "run `csandbox doctor` to see what this kernel gives";
    }
}

/* csandbox._errors.NAME(**kwargs), raised. */
static PyObject *
raise_named(const char *name, PyObject *keywords)
{
    PyObject *module = PyImport_ImportModule("csandbox._errors");
    PyObject *type = module == NULL ? NULL : PyObject_GetAttrString(module, name);
    PyObject *empty = PyTuple_New(0);
    PyObject *value = NULL;
    if (type != NULL && empty != NULL && keywords != NULL) {
        value = PyObject_Call(type, empty, keywords);
    }
    if (value != NULL) {
        PyErr_SetObject(type, value);
    }
    Py_XDECREF(value);
    Py_XDECREF(empty);
    Py_XDECREF(type);
    Py_XDECREF(module);
    Py_XDECREF(keywords);
    return NULL;
}

/* "feature" or "feature: why". */
static PyObject *
raise_unsupported(const char *message)
{
    char feature[32];
    size_t length = strcspn(message, ":");
    const char *why = message[length] == '\0' ? "" : message + length + 2;
    (void)snprintf(feature, sizeof feature, "%.*s", (int)length, message);
    return raise_named(
        "UnsupportedError",
        Py_BuildValue("{s:s,s:s,s:N}", "feature", feature, "hint", hint(feature),
                      "message",
                      PyUnicode_FromFormat("the layer '%s' is required and can not be "
                                           "enforced here%s%s; nothing was run",
                                           feature, why[0] == '\0' ? "" : ": ", why)));
}

PyObject *
csb_py_raise(const struct csb_error *error)
{
    switch (error->step) {
    case CSB_STEP_ARGUMENT:
        PyErr_SetString(PyExc_ValueError, error->message);
        return NULL;
    case CSB_STEP_MEMORY:
        return PyErr_NoMemory();
    case CSB_STEP_CONFIRM:
        return raise_unsupported(error->message);
    default:
        return raise_named("SetupError",
                           Py_BuildValue("{s:s,s:i,s:s}", "step",
                                         csb_step_name(error->step), "errno",
                                         error->err, "message", error->message));
    }
}
