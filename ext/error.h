/* One error, filled once, where the failure happens.
 *
 * Library C returns 0 or -errno; on failure it has filled *reterr with the step that failed,
 * the errno and one sentence. Callers pass it on unchanged. Fixed size on purpose: it is
 * copied by value, also out of a child. Any thread; no GIL needed; allocates nothing. */
#ifndef CSB_ERROR_H
#define CSB_ERROR_H

#include "csb.h"

enum csb_step {
    CSB_STEP_NONE,
    CSB_STEP_ARGUMENT, /* the caller's value is wrong */
    CSB_STEP_MEMORY,
    CSB_STEP_PIPE,
    CSB_STEP_SCRATCH,
    CSB_STEP_CLONE,
    CSB_STEP_CGROUP,
    CSB_STEP_NAMESPACES,
    CSB_STEP_SESSION,
    CSB_STEP_FDS,
    CSB_STEP_CHDIR,
    CSB_STEP_RLIMIT,
    CSB_STEP_NO_NEW_PRIVS,
    CSB_STEP_PRIVILEGES,
    CSB_STEP_LANDLOCK,
    CSB_STEP_SECCOMP,
    CSB_STEP_EXEC,
    CSB_STEP_STARTUP,
    CSB_STEP_CONFIRM,
    CSB_STEP_SUPERVISE,
    CSB_STEP_COUNT
};

struct csb_error {
    enum csb_step step;
    int err; /* errno, > 0 */
    char message[240];
};

/* Name used in messages and by SetupError.step; never NULL. */
const char *csb_step_name(enum csb_step step);

/* Fill *reterr (which may be NULL) and return -err, so that a failing function can end with
 * `return csb_fail(...)`. An err of 0 is turned into EIO: a failure is never reported as 0. */
int csb_fail(struct csb_error *reterr, enum csb_step step, int err, const char *format,
             ...) CSB_PRINTF(4, 5);

#endif
