/* Theory of operation: runs in the caller (and in tools), never between clone and exec.
 * Trusts its arguments; formats into a fixed buffer and never allocates or logs. */
#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

static const char *const step_names[CSB_STEP_COUNT] = {
    [CSB_STEP_NONE] = "none",
    [CSB_STEP_ARGUMENT] = "argument",
    [CSB_STEP_MEMORY] = "memory",
    [CSB_STEP_PIPE] = "pipe",
    [CSB_STEP_SCRATCH] = "scratch",
    [CSB_STEP_CLONE] = "clone",
    [CSB_STEP_CGROUP] = "cgroup",
    [CSB_STEP_NAMESPACES] = "namespaces",
    [CSB_STEP_SESSION] = "session",
    [CSB_STEP_FDS] = "fds",
    [CSB_STEP_CHDIR] = "chdir",
    [CSB_STEP_RLIMIT] = "rlimit",
    [CSB_STEP_NO_NEW_PRIVS] = "no_new_privs",
    [CSB_STEP_PRIVILEGES] = "privileges",
    [CSB_STEP_LANDLOCK] = "landlock",
    [CSB_STEP_SECCOMP] = "seccomp",
    [CSB_STEP_EXEC] = "exec",
    [CSB_STEP_STARTUP] = "startup",
    [CSB_STEP_CONFIRM] = "confirm",
    [CSB_STEP_SUPERVISE] = "supervise",
};

const char *
csb_step_name(enum csb_step step)
{
    if (step >= CSB_STEP_COUNT || step_names[step] == NULL) {
        return "unknown";
    }
    return step_names[step];
}

int
csb_fail(struct csb_error *reterr, enum csb_step step, int err, const char *format, ...)
{
    if (err <= 0) {
        err = EIO;
    }
    if (reterr != NULL) {
        va_list arguments;
        reterr->step = step;
        reterr->err = err;
        va_start(arguments, format);
        (void)vsnprintf(reterr->message, sizeof reterr->message, format, arguments);
        va_end(arguments);
    }
    return -err;
}
