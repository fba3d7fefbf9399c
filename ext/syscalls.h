/* Which system calls a child may make, as data.
 *
 * Named sets of rows; a row is one system call, with the argument values under which it is
 * harmless, what the kernel answers, and the reason. A call that no row of the chosen sets
 * matches is denied. Pure data: any process, no GIL. Compiled by syscall_filter.c. */
#ifndef CSB_SYSCALLS_H
#define CSB_SYSCALLS_H

#include "csb.h"

enum csb_syscall_set {
    CSB_SET_CORE,        /* compute, print, sleep, end */
    CSB_SET_READ_FILES,  /* look at the files that Landlock lets through */
    CSB_SET_WRITE_FILES, /* change files below the scratch folder */
    CSB_SET_THREADS,     /* start threads (counted from outside) */
    CSB_SET_ASYNCIO, /* event loops: epoll, eventfd, pipes, one kind of socket pair */
    CSB_SET_TIMERS,  /* signals to itself after a time */
    CSB_SET_STARTUP, /* what the trusted interpreter start needs on top; never at run */
    CSB_SET_COUNT
};

#define CSB_SET_BIT(set) (UINT32_C(1) << (set))

enum csb_action {
    CSB_ACTION_ALLOW,
    /* allowed; in a process that may be branched (family.h) the supervisor sees it first */
    CSB_ACTION_ALLOW_ALONE,
    CSB_ACTION_ERRNO, /* answered by the kernel with the row's errno, 0 = pretend success */
    CSB_ACTION_WATCH, /* the supervisor sees it first; it goes on or is refused. With an
                       * errno: it never goes on; that is the answer without a listener */
};

struct csb_argument_check {
    unsigned index;
    uint64_t mask; /* (argument & mask) == value */
    uint64_t value;
};

enum { CSB_CHECKS_MAX = 2 };

struct csb_syscall_row {
    const char *name;
    uint32_t sets; /* CSB_SET_BIT of each set that holds the row */
    enum csb_action action;
    int err;
    unsigned check_count;
    struct csb_argument_check checks[CSB_CHECKS_MAX];
    const char *why;
};

/* Stands in the table where the child's own pid is meant; it is replaced in the compiled
 * program once the pid is known, and never in that of a process that may be branched. No pid can have this value (pid_max is 2^22). */
#define CSB_OWN_PID UINT64_C(0x5EA1C0DE)

extern const struct csb_syscall_row csb_syscall_rows[];
extern const size_t csb_syscall_row_count;

/* Calls that no set may ever allow, whatever its arguments: the data test and the
 * self-test of each compiled program hold the rows against this list. Sorted. */
extern const char *const csb_syscalls_never[];
extern const size_t csb_syscalls_never_count;

const char *csb_syscall_set_name(enum csb_syscall_set set);

/* The set of that name, or CSB_SET_COUNT. CSB_SET_STARTUP has no public name. */
enum csb_syscall_set csb_syscall_set_lookup(const char *name);

#endif
