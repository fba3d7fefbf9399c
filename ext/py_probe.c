/* Theory of operation: glue, in the caller. Turns what probe.c found into sentences for
 * `csandbox doctor`. */
#include "py_probe.h"

#include "cgroup.h"
#include "landlock.h"
#include "probe.h"
#include "py_convert.h"

#include <stdio.h>

#if !defined(CSB_VERSION) || !defined(CSB_TREE_SITTER_VERSION) ||                      \
    !defined(CSB_GRAMMAR_VERSION)
#error "the build passes the versions"
#endif

static PyObject *
feature(bool available, const char *detail, const char *hint)
{
    return Py_BuildValue("{s:O,s:s,s:s}", "available", available ? Py_True : Py_False,
                         "detail", detail, "hint", available ? "" : hint);
}

static PyObject *
landlock(const struct csb_probe *probe)
{
    char detail[256];
    const char *lost = csb_landlock_lost(probe->landlock_abi);
    (void)snprintf(detail, sizeof detail, "ABI %d%s%s", probe->landlock_abi,
                   lost[0] == '\0' ? "" : "; not covered: ", lost);
    return feature(
        probe->landlock_abi > 0, detail,
        "boot Linux 5.13 or newer with lsm=landlock,…; in a container, allow the "
        "landlock_* system calls");
}

static PyObject *
namespaces(void)
{
    char why[200] = "";
    return csb_probe_namespaces(why, sizeof why)
               ? feature(true, "user, net, ipc, uts, cgroup", "")
               : feature(
                     false, why,
                     "optional: allow user namespaces (see the sysctl named, or the "
                     "container's settings)");
}

static PyObject *
cgroup(void)
{
    struct csb_cgroup found;
    char why[400] = "";
    bool available;
    csb_cgroup_init(&found);
    available = csb_cgroup_find(&found, why, sizeof why);
    csb_cgroup_done(&found);
    return available
               ? feature(true, "memory.max, memory.swap.max, pids.max a run", "")
               : feature(
                     false, why,
                     "optional: start the program in a delegated cgroup v2 subtree");
}

PyObject *
csb_py_probe(PyObject *module, PyObject *unused)
{
    struct csb_probe probe;
    PyObject *dict = PyDict_New();
    (void)module;
    (void)unused;
    csb_probe(&probe);
    if (dict != NULL &&
        (csb_py_set(dict, "landlock", landlock(&probe)) < 0 ||
         csb_py_set(dict, "seccomp",
                    feature(probe.seccomp_filter, "allow-list filters, kill action",
                            "use a kernel with CONFIG_SECCOMP_FILTER")) < 0 ||
         csb_py_set(dict, "seccomp_notify",
                    feature(probe.seccomp_notify, "denials are counted from outside",
                            "use Linux 5.5 or newer")) < 0 ||
         csb_py_set(dict, "fds",
                    feature(probe.pidfd && probe.close_range, "pidfd, close_range",
                            "use Linux 5.9 or newer")) < 0 ||
         csb_py_set(dict, "procfs",
                    feature(probe.procfs, "memory figures, thread cap",
                            "mount /proc: without it no thread can be allowed")) < 0 ||
         csb_py_set(dict, "rlimits", feature(true, "CPU, DATA, FSIZE, NOFILE, …", "")) <
             0 ||
         csb_py_set(dict, "no_new_privs", feature(true, "prctl", "")) < 0 ||
         csb_py_set(dict, "session",
                    feature(true, "own session, parent-death signal", "")) < 0 ||
         csb_py_set(dict, "namespaces", namespaces()) < 0 ||
         csb_py_set(dict, "cgroup", cgroup()) < 0 ||
         csb_py_set(dict, "mdwe",
                    feature(probe.mdwe, probe.mdwe ? "prctl" : "not in this kernel",
                            "optional: use Linux 6.3 or newer")) < 0 ||
         csb_py_set(dict, "privileges",
                    feature(true,
                            probe.root
                                ? "started as root: capabilities and, where the "
                                  "interpreter stays reachable, the uid are dropped"
                                : "not root: nothing to drop",
                            "")) < 0)) {
        Py_CLEAR(dict);
    }
    return dict;
}

PyObject *
csb_py_build_info(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return Py_BuildValue("{s:s,s:s,s:s,s:s,s:s}", "version", CSB_VERSION, "compiler",
                         __VERSION__, "python_abi", "abi3 (3.10)", "tree_sitter",
                         CSB_TREE_SITTER_VERSION, "grammar", CSB_GRAMMAR_VERSION);
}
