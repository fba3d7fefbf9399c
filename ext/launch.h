/* One fresh run from beginning to end: kit, plan, child, supervision, clean-up. Blocks; call
 * it without the GIL, from any thread. */
#ifndef CSB_LAUNCH_H
#define CSB_LAUNCH_H

#include "collect.h"
#include "kit.h"

/* Everything is borrowed and stays unchanged until the call returns. */
struct csb_request {
    struct csb_job job;     /* the policy's part is filled in (csb_request_job) */
    struct csb_bytes input; /* stdin */
    const char *file_name;
    const struct csb_strings *arguments;   /* sys.argv[1:] */
    const struct csb_strings *environment; /* "NAME=value", before the policy's */
    const char *prelude;                   /* submission.h; may be NULL */
    const struct csb_file *files;
    size_t file_count;
    struct csb_collection *collection; /* filled with what the run left; may be NULL */
};

/* The request's job as the policy wants it. */
struct csb_job csb_request_job(const struct csb_request *request,
                               const struct csb_policy *policy);

/* All variables of a run, in the order in which they count (the first of a name does). */
int csb_request_environment(const struct csb_request *request,
                            const struct csb_policy *policy, const char *scratch,
                            struct csb_strings *ret,
                            struct csb_error *reterr) CSB_MUST_USE;

/* Start an interpreter on `plan`, with what every plan of ours has in common filled in:
 * executable, arguments, caller. For a run and for a zygote. */
int csb_launch_interpreter(struct csb_plan *plan, const struct csb_policy *policy,
                           struct csb_process *ret,
                           struct csb_error *reterr) CSB_MUST_USE;

/* Send on a non-blocking socket, also more than its buffer takes; 0 or -errno. A peer that
 * is gone is no error here: it says why in its record. */
int csb_launch_send(int fd, const unsigned char *bytes, size_t count) CSB_MUST_USE;

/* Make the kit and start the child, which has been sent its configuration. */
int csb_launch_start(const struct csb_policy *policy, const struct csb_request *request,
                     struct csb_kit *kit, struct csb_start *ret,
                     struct csb_error *reterr) CSB_MUST_USE;

/* Result as csb_supervise; *ret must be released (csb_report_done) in every case. Whatever
 * happens, no process, descriptor or folder of the run is left when this returns. */
int csb_launch(const struct csb_policy *policy, const struct csb_request *request,
               struct csb_report *ret, struct csb_error *reterr) CSB_MUST_USE;

#endif
