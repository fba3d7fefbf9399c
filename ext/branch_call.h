/* One call in a branch of a session, from the fork to the end of the branch. In the caller,
 * any thread, no GIL. */
#ifndef CSB_BRANCH_CALL_H
#define CSB_BRANCH_CALL_H

#include "kit.h"
#include "launch.h"

/* Of the request its one call and its job count. The branch is dead when this returns, and the
 * session waits as before. 0: *ret says what came of the call. -errno with *reterr: there was
 * no branch, and no call. *ret_lives: whether the session itself lives on, as csb_branch tells
 * it. */
int csb_branch_call(struct csb_run *run, const struct csb_kit *kit,
                    const struct csb_policy *policy, const struct csb_request *request,
                    bool *ret_lives, struct csb_report *ret,
                    struct csb_error *reterr) CSB_MUST_USE;

#endif
