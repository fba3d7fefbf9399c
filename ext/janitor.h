/* A process that outlives its host by a moment and removes what the host could not: a host that
 * gets SIGKILL, or ends by os._exit, leaves scratch folders and control groups.
 *
 * Started and stopped in the caller, any thread, no GIL. The program is ext/janitor_main.c. */
#ifndef CSB_JANITOR_H
#define CSB_JANITOR_H

#include "policy.h"
#include "spawn.h"

/* What the program is given: 0 to 2 are /dev/null, this one is the folder of control groups
 * (or not open). */
enum { CSB_JANITOR_CGROUP_FD = 3, CSB_JANITOR_ARGUMENTS = 4 };

struct csb_janitor {
    struct csb_process process; /* owned */
    pid_t host;                 /* who started it: a forked copy does not stop it */
};

void csb_janitor_init(struct csb_janitor *janitor);

/* Start `program` for this process and the policy's folders. */
int csb_janitor_start(struct csb_janitor *janitor, const char *program,
                      const struct csb_policy *policy,
                      struct csb_error *reterr) CSB_MUST_USE;

/* The host has nothing left to be removed. Safe on an initialised one. */
void csb_janitor_stop(struct csb_janitor *janitor);

/* There is, or may be: it goes on until this process has ended, and then removes it. */
void csb_janitor_leave(struct csb_janitor *janitor);

#endif
