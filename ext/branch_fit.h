/* May this process be forked? Looked at from outside, while its only thread waits in the call.
 *
 * A fork copies memory and one thread; descriptors and shared memory stay common to both. So
 * that neither can ever tell the other anything, there must be none but the four that a branch
 * is given anew. In the caller; no GIL. */
#ifndef CSB_BRANCH_FIT_H
#define CSB_BRANCH_FIT_H

#include "procfs.h"

/* True, or why not, as the end of a sentence about a session. */
bool csb_branch_fit(const struct csb_procfs *procfs, char *why, size_t size);

/* Do both have the same rights, by the kernel's account: ids, groups, capabilities, no_new_privs,
 * filters? */
bool csb_branch_alike(const struct csb_procfs *one, const struct csb_procfs *other);

/* What the kernel says about a process. */
struct csb_kin {
    pid_t parent;
    pid_t group;
};
bool csb_kin_of(pid_t pid, struct csb_kin *ret);

#endif
