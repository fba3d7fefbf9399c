/* One fresh run from beginning to end: scratch folder, pipes, plan, child, supervision,
 * clean-up. Blocks; call it without the GIL, from any thread. */
#ifndef CSB_LAUNCH_H
#define CSB_LAUNCH_H

#include "collect.h"
#include "policy.h"
#include "supervise.h"

struct csb_file {
    const char *name; /* relative to the scratch folder */
    struct csb_bytes content;
};

/* Everything is borrowed and stays unchanged until the call returns. */
struct csb_request {
    struct csb_job job;     /* job.required is filled from the policy */
    struct csb_bytes input; /* stdin */
    const char *file_name;
    const struct csb_strings *arguments;   /* sys.argv[1:] */
    const struct csb_strings *environment; /* "NAME=value", after the policy's */
    const struct csb_file *files;
    size_t file_count;
    struct csb_collection *collection; /* filled with what the run left; may be NULL */
};

/* Result as csb_supervise; *ret must be released (csb_report_done) in every case. Whatever
 * happens, no process, descriptor or folder of the run is left when this returns. */
int csb_launch(const struct csb_policy *policy, const struct csb_request *request,
               struct csb_report *ret, struct csb_error *reterr) CSB_MUST_USE;

#endif
