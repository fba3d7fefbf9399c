/* Start one child from a plan, and the few things that can be done to it.
 *
 * Called in the caller from any thread, without the GIL. The calling thread is suspended
 * until the child has executed the interpreter or failed (vfork semantics), so a large host
 * costs no more than a small one. The parent-death signal is bound to the calling thread:
 * it must live as long as the child (a run() call does). */
#ifndef CSB_SPAWN_H
#define CSB_SPAWN_H

#include "plan.h"

#include <sys/resource.h>
#include <sys/types.h>

struct csb_process {
    pid_t pid;
    int pidfd; /* owned; CSB_FD_NONE when there is no process */
};

/* What the kernel says about an ended child. */
struct csb_exit {
    bool known;    /* false: somebody else reaped it (a host that ignores SIGCHLD) */
    int exit_code; /* -1 when it was killed */
    int signal;    /* 0 when it exited */
    struct rusage usage;
};

/* On success *ret is the caller's (csb_process_reap): the child has executed the
 * interpreter, or has ended after writing a FAILED record to the channel. */
int csb_spawn(const struct csb_plan *plan, struct csb_process *ret,
              struct csb_error *reterr) CSB_MUST_USE;

/* The same for any program: `body` runs in shared memory, with all signals blocked, and must
 * execute it or exit by raw system calls alone. Returns 0 or -errno. */
int csb_spawn_body(int (*body)(void *), const void *argument,
                   struct csb_process *ret) CSB_MUST_USE;

/* SIGKILL; harmless when it has ended. */
void csb_process_kill(const struct csb_process *process);

/* Wait at most wait_ns for the end and reap. Returns false when it still lives. On true the
 * pidfd is closed. */
bool csb_process_reap(struct csb_process *process, int64_t wait_ns,
                      struct csb_exit *ret);

/* For a killed child that the kernel has not finished in time (it is freeing a lot of
 * memory, or sits in an uninterruptible call): a detached thread reaps it. */
void csb_process_abandon(struct csb_process *process);

#endif
