/* Theory of operation: in the caller, the thread of a crew or any other. The session and its
 * branch enter their family one after the other, as two blocking callers would, so that it is
 * free in between. What the call says is data for the report; it decides nothing here. */
#include "branch_call.h"

#include "branch.h"

#include <errno.h>
#include <stdint.h>

static int
enter(struct csb_member *member, const struct csb_job *job, struct csb_error *reterr)
{
    return member == NULL ? 0
                          : csb_family_enter(member, job->interrupted,
                                             job->interrupted_argument, reterr);
}

static void
leave(struct csb_member *member)
{
    if (member != NULL) {
        csb_family_exit(member);
    }
}

static int
call(struct csb_run *branch, struct csb_kit *kit, const struct csb_policy *policy,
     struct csb_job job, struct csb_report *ret, struct csb_error *reterr)
{
    const struct csb_disk disk = csb_kit_disk(kit, job.limits);
    int result = enter(kit->member, &job, reterr);
    if (result == 0) {
        job.disk = policy->scratch_writable ? &disk : NULL;
        if (!csb_run_exchange(branch, &job, ret)) {
            csb_kit_blame_memory(kit, &ret->facts);
        }
        leave(kit->member);
    }
    return result;
}

int
csb_branch_call(struct csb_run *run, const struct csb_kit *kit,
                const struct csb_policy *policy, const struct csb_request *request,
                bool *ret_lives, struct csb_report *ret, struct csb_error *reterr)
{
    const struct csb_job job = csb_request_job(request, policy);
    struct csb_run *branch = NULL;
    struct csb_kit own;
    int result;
    *ret_lives = true;
    csb_kit_init(&own);
    if (job.call_count != 1) {
        return csb_fail(reterr, CSB_STEP_STARTUP, EINVAL, "a branch has one call");
    }
    result = enter(kit->member, &job, reterr);
    if (result == 0) {
        result =
            csb_branch(run, kit, policy, job.limits, &branch, &own, ret_lives, reterr);
        leave(kit->member);
    }
    if (result == 0) {
        result = call(branch, &own, policy, job, ret, reterr);
    }
    if (branch != NULL) {
        csb_run_close(branch);
        csb_kit_done(&own, UINT32_MAX);
    }
    return result;
}
