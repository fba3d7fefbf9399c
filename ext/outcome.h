/* How a run ended, in the words that users see. Pure: facts in, verdict out; table-tested.
 * Any process, no GIL. */
#ifndef CSB_OUTCOME_H
#define CSB_OUTCOME_H

#include "run_limits.h"
#include "wire.h"

enum csb_verdict {
    CSB_ACCEPTED,
    CSB_TIME_LIMIT,
    CSB_MEMORY_LIMIT,
    CSB_OUTPUT_LIMIT,
    CSB_RUNTIME_ERROR,
    CSB_COMPILE_ERROR,
    CSB_REJECTED,
    CSB_SECURITY_VIOLATION,
    CSB_INTERNAL_ERROR,
    CSB_VERDICT_COUNT
};

enum csb_limit_hit {
    CSB_HIT_NONE,
    CSB_HIT_CPU,
    CSB_HIT_WALL,
    CSB_HIT_MEMORY,
    CSB_HIT_OUTPUT,
    CSB_HIT_DISK,
    CSB_HIT_PROCESSES,
    CSB_HIT_FILES,
    CSB_HIT_COUNT
};

/* Why the supervisor ended the run, if it did. */
enum csb_stop {
    CSB_STOP_NONE,
    CSB_STOP_CPU,
    CSB_STOP_WALL,
    CSB_STOP_MEMORY,
    CSB_STOP_OUTPUT,
    CSB_STOP_DISK,
    CSB_STOP_VIOLATION, /* the profile says: kill on a denied call */
    CSB_STOP_REFUSED,   /* the second opinion: not executed */
    CSB_STOP_INTERRUPT, /* the caller was interrupted */
    CSB_STOP_ANSWERED,  /* the last reply has come: no more is wanted */
    CSB_STOP_GARBAGE,   /* what came instead of a reply is none */
};

/* Everything seen from outside, and the child's own word about a failure. */
struct csb_facts {
    enum csb_stop stop;
    bool begun; /* the submission was allowed to execute; before that, our code ran */
    bool exit_known;
    int exit_code; /* -1 when killed */
    int signal;
    bool output_over; /* a stream passed its cap */
    bool unanswered;  /* it ended, and a reply is missing */
    uint32_t threads_denied;
    uint32_t files_denied;
    uint32_t disk_denied;
    enum csb_wire_end
        end;        /* from the child: only chooses between words for a failure */
    int64_t cpu_ns; /* submission only */
    int64_t wall_ns;
    uint64_t memory_bytes; /* highest private memory seen */
};

struct csb_outcome {
    enum csb_verdict verdict;
    enum csb_limit_hit limit_hit;
};

struct csb_outcome csb_classify(const struct csb_facts *facts,
                                const struct csb_limits *limits);

const char *csb_verdict_name(enum csb_verdict verdict);

/* NULL for CSB_HIT_NONE. */
const char *csb_limit_hit_name(enum csb_limit_hit hit);

#endif
