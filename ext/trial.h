/* A child in shared memory that tries one thing and is over: the way to ask the kernel what
 * only an answer in a process of its own can tell. Runs in the caller, any thread, no GIL. */
#ifndef CSB_TRIAL_H
#define CSB_TRIAL_H

#include "csb.h"

#include <sys/types.h>

enum { CSB_TRIAL_STACK_BYTES = 64 * 1024 };

/* Memory for a child's stack, or NULL. Of its own: what a sanitizer notes about the child's
 * frames must not stay on the calling thread's stack. */
unsigned char *csb_trial_stack_new(void);
void csb_trial_stack_free(unsigned char *stack);

/* clone(2) with CLONE_VM and `flags`, every signal blocked in the child: no handler of the
 * host's may run there. `function` makes raw system calls only and never returns. Returns
 * the pid or -errno. No exit signal, so no SIGCHLD handler hears of it. */
pid_t csb_trial_clone(int (*function)(void *), void *argument, unsigned char *stack,
                      int flags);

/* Wait for such a child: its exit status, or -1 when it was killed. */
int csb_trial_wait(pid_t child);

/* All of it for a child that ends with an errno, or 0. Returns that as 0 or -errno. */
int csb_trial_run(int (*function)(void *), void *argument);

#endif
