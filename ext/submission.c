/* Theory of operation: runs in the caller, right before a ready child is given its program. */
#include "submission.h"

/* More than a command line can hold (ARG_MAX is 2 MiB with the usual stack limit). */
enum { SUBMISSION_BYTES_MAX = 2 * 1024 * 1024 };

int
csb_submission_build(const struct csb_submission *submission, struct csb_message *ret,
                     struct csb_error *reterr)
{
    static const struct csb_strings none = {0};
    const struct csb_strings *environment =
        submission->environment == NULL ? &none : submission->environment;
    struct csb_wire_submission header = {
        .magic = CSB_WIRE_MAGIC,
        .mode = submission->mode,
        .rlimit_count = (uint32_t)submission->rlimit_count,
        .argument_count = (uint32_t)submission->arguments->count,
        .environment_count = (uint32_t)environment->count,
        .source_bytes = submission->source_bytes,
    };
    csb_message_put(ret, &header, sizeof header);
    csb_message_put(ret, submission->rlimits,
                    submission->rlimit_count * sizeof *submission->rlimits);
    csb_message_put_string(ret, submission->file_name);
    csb_message_put_strings(ret, submission->arguments);
    csb_message_put_strings(ret, environment);
    csb_message_put_string(ret, submission->prelude == NULL ? "" : submission->prelude);
    if (!ret->failed) {
        struct csb_wire_submission *sent =
            (struct csb_wire_submission *)(void *)ret->bytes;
        sent->payload_bytes = (uint32_t)(ret->count - sizeof header);
    }
    return csb_message_finish(ret, SUBMISSION_BYTES_MAX, reterr);
}
