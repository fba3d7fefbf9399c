/* Drive one child from its start to its end, and say everything that was seen.
 *
 * Blocks without the GIL, from any thread, with no signal handler and no other thread. It
 * returns by the wall limit plus a fraction of a second whatever the child does. On return
 * the child is dead and reaped (or handed to a reaper thread when the kernel needs longer),
 * and every descriptor of the run is closed. */
#ifndef CSB_SUPERVISE_H
#define CSB_SUPERVISE_H

#include "capture.h"
#include "notify.h"
#include "outcome.h"
#include "spawn.h"

struct csb_bytes {
    const unsigned char *bytes;
    size_t count;
};

/* What the caller wants of the run; everything is borrowed. */
struct csb_job {
    const struct csb_limits *limits;
    uint32_t required; /* feature bits that must be confirmed */
    uint32_t seen;     /* feature bits that the caller itself saw in force */
    uint32_t sets;     /* system call sets of the policy */
    bool kill_on_violation;
    struct csb_bytes source;
    /* The second opinion: may the program that CPython compiled (facts.h) be executed? Asked
     * once, in the thread of the run. NULL: yes. */
    bool (*agrees)(void *argument, const unsigned char *facts, size_t count);
    void *agrees_argument;
    /* Asked now and then and after a signal; true ends the run (CSB_STOP_INTERRUPT). May be
     * NULL. */
    bool (*interrupted)(void *argument);
    void *interrupted_argument;
};

/* The caller's ends, owned by the run from the call on. */
struct csb_ends {
    int stdout_fd;
    int stderr_fd;
    int channel_fd;
};

struct csb_report {
    struct csb_facts facts;
    uint32_t confirmed; /* feature bits, by the child before untrusted code */
    struct csb_capture output;
    struct csb_capture errors;
    int64_t startup_ns;
    uint64_t peak_bytes;
    struct csb_notify notify; /* violations; its listener is closed */
};

void csb_report_done(struct csb_report *report);

/* Returns 0 when the submission was allowed to begin (*ret then says how it ended), or
 * -errno with *reterr when it was not: a failed step in the child (FAILED record), a
 * required feature that was not confirmed (step CSB_STEP_CONFIRM, reterr->message names
 * it), start-up longer than its limit. *ret must be released in every case. */
int csb_supervise(struct csb_process *process, struct csb_ends *ends,
                  const struct csb_job *job, struct csb_report *ret,
                  struct csb_error *reterr) CSB_MUST_USE;

#endif
