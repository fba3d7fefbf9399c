/* What a child was denied, seen and answered from outside.
 *
 * The narrow filter sends every denied call, and the two watched ones (a new thread, the
 * end of the process), to a listener (seccomp_unotify(2)). The supervisor answers from its
 * own poll loop. Nothing is decided by memory of the child: only numbers in registers,
 * which nobody can change while the call waits. One thread at a time; no GIL. */
#ifndef CSB_NOTIFY_H
#define CSB_NOTIFY_H

#include "procfs.h"

enum { CSB_VIOLATION_KINDS = 32 };

struct csb_violation {
    int number;        /* system call; -1 = kinds beyond the table */
    bool has_argument; /* the argument that the table checks for this call */
    uint64_t argument;
    uint64_t count;
};

struct csb_notify {
    int listener; /* owned; CSB_FD_NONE before it arrives */
    uint32_t threads_allowed;
    uint32_t threads_denied;
    bool end_seen; /* the process asked to exit … */
    int exit_code; /* … with this code, from its register */
    struct csb_memory memory_at_end;
    uint64_t denied;   /* calls in all */
    int64_t resume_ns; /* not served before this time, see csb_notify_serve */
    struct csb_violation violations[CSB_VIOLATION_KINDS];
    unsigned violation_count;
};

void csb_notify_init(struct csb_notify *notify, uint32_t threads_allowed);
void csb_notify_done(struct csb_notify *notify);

/* Answer one pending call. Returns true when it was a denial. A child that makes thousands
 * of denied calls is slowed down (resume_ns moves into the future), so it can not keep the
 * supervisor busy; the listener is never closed, because the kernel would then answer
 * ENOSYS to the end of the process too. */
bool csb_notify_serve(struct csb_notify *notify, const struct csb_procfs *procfs,
                      int64_t now_ns);

#endif
