/* Fork a session that stands between two cells.
 *
 * Its child forks by its own code when it is told so; the supervisor lets exactly one clone(2)
 * through, after it has looked at the process from outside (branch_fit.h), finds the new
 * process by what the kernel says, gives it descriptors and a working folder of its own, and
 * supervises it as any other session. In the caller, any thread, no GIL. */
#ifndef CSB_BRANCH_H
#define CSB_BRANCH_H

#include "kit.h"

/* `kit` is the session's, *ret_kit the branch's on success. The session has entered its family
 * (csb_family_enter). On failure *ret is NULL and *reterr says why: -EBUSY when
 * the session is in no state to be branched. *ret_lives: whether the session itself lives on;
 * one that does not must be closed. */
int csb_branch(struct csb_run *run, const struct csb_kit *kit,
               const struct csb_policy *policy, const struct csb_limits *limits,
               struct csb_run **ret, struct csb_kit *ret_kit, bool *ret_lives,
               struct csb_error *reterr) CSB_MUST_USE;

#endif
