/* What a child was denied, seen and answered from outside.
 *
 * The narrow filter sends every denied call, and the watched ones (a new thread, the end of
 * the process, shared anonymous memory, a new file, setting file times), to a listener
 * (seccomp_unotify(2)). The supervisor answers from its own poll loop. Nothing is decided by memory of the child: only numbers in registers,
 * which nobody can change while the call waits. One thread at a time; no GIL. */
#ifndef CSB_NOTIFY_H
#define CSB_NOTIFY_H

#include "procfs.h"
#include "run_limits.h"
#include "violation.h"
#include "wire.h"

enum { CSB_VIOLATION_KINDS = 32 };

/* The one clone(2) that is ever let through: of a session whose supervisor has just ordered a
 * branch (branch.h), looked at while its only thread waits in that very call. */
enum csb_order_state {
    CSB_ORDER_NONE,
    CSB_ORDER_GIVEN,   /* waiting for the call */
    CSB_ORDER_REFUSED, /* it came, and the process was not fit for it (`why`) */
    CSB_ORDER_GRANTED, /* it goes on; no other will */
    CSB_ORDER_BORN,    /* the new process waits in its first call (`notification`) */
};

struct csb_order {
    enum csb_order_state state;
    pid_t pid;             /* of the new process: the kernel's word */
    uint64_t notification; /* not answered yet */
    bool as_agreed;        /* its first call is the one that our own code makes */
    char why[160];
};

struct csb_violation {
    int number;  /* system call */
    bool others; /* this entry counts all kinds beyond the table */
    struct csb_wanted wanted;
    uint64_t count;
};

struct csb_notify {
    int listener;  /* owned; CSB_FD_NONE before it arrives */
    uint32_t sets; /* of the policy: which watched calls are allowed at all */
    pid_t own_pid; /* of the child, as it sees itself; 0 when not known */
    /* Under the filter of a process that may be branched: others may use the same listener,
     * whose calls are left alone; signals to itself are judged here. */
    bool shared_listener;
    struct csb_order order;
    uint64_t shared_maps; /* of files; what is shared a branch would share, too */
    bool kill_on_denial; /* leave a denied call waiting: the caller kills the process */
    bool hold_end;       /* leave the end of the process waiting, for the same reason */
    uint32_t threads_allowed;
    uint32_t threads_denied;
    uint32_t threads_made;
    uint64_t shared_allowed; /* bytes of shared anonymous memory … */
    uint64_t shared_bytes;   /* … and what was asked for */
    uint32_t files_allowed;  /* files and folders that may be made … */
    uint32_t files_made;
    uint32_t files_denied;
    uint64_t disk_allowed; /* bytes that may be set aside by fallocate(2) … */
    uint64_t disk_set_aside;
    uint32_t disk_denied;
    bool end_seen; /* the process asked to exit … */
    int exit_code; /* … with this code, from its register */
    struct csb_memory memory_at_end;
    enum csb_wire_end end; /* the child's own word about a failure (CSB_WIRE_SAY_END) */
    uint64_t answered;     /* calls, the watched ones included */
    uint64_t unlimited;    /* of these, watched ones that no limit ever ends */
    uint64_t denied;
    int64_t resume_ns; /* not served before this time, see csb_notify_serve */
    struct csb_violation violations[CSB_VIOLATION_KINDS];
    unsigned violation_count;
};

void csb_notify_init(struct csb_notify *notify, uint32_t sets,
                     const struct csb_limits *limits);
void csb_notify_done(struct csb_notify *notify);

/* Answer the call that a new process waits in. 0 or -errno. */
int csb_notify_answer(const struct csb_notify *notify, uint64_t notification, int err);

/* Does the call still wait? Then the pid that came with it is still the caller's. */
bool csb_notify_waits(const struct csb_notify *notify, uint64_t notification);

/* Answer one pending call. Returns true when it was a denial. The thread cap is checked
 * against the threads that exist, so threads that start threads at the same moment may pass
 * it, to twice the cap at most. A child that makes thousands of denied calls, or of watched ones
 * that no limit ends (many more than it has made files), is slowed down
 * (resume_ns moves into the future), so it can not keep the supervisor busy; the listener is never closed, because the kernel would then answer
 * ENOSYS to the end of the process too. */
bool csb_notify_serve(struct csb_notify *notify, const struct csb_procfs *procfs,
                      int64_t now_ns);

#endif
