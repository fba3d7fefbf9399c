/* The trusted half of a child's life after exec: finish the confinement, confirm it, say so.
 * In the child, single-threaded, holding the GIL (nobody else wants it). */
#ifndef CSB_CHILD_SETUP_H
#define CSB_CHILD_SETUP_H

#include "bpf.h"
#include "run_limits.h"
#include "wire.h"

struct csb_child {
    unsigned char *payload; /* owned */
    struct csb_wire_config config;
    struct csb_bpf narrow; /* these point into the payload */
    const struct csb_rlimit *rlimits;
    const char *file_name;
    const char *first_path;     /* config.path_count NUL-terminated strings */
    const char *first_argument; /* config.argument_count of them */
};

/* Read the configuration. Like the next two, does not return when a step fails: a FAILED
 * record is sent and the process exits. */
void csb_child_configure(struct csb_child *child);

/* Enter the last layers, confirm all of them by trying, report READY. */
void csb_child_confine(const struct csb_child *child);

/* For what fails in the interpreter in between. */
CSB_NORETURN void csb_child_give_up(void);

/* Read the submission: heap bytes, NUL-terminated, owned by the caller. Exits on failure. */
char *csb_child_read_source(size_t *ret_count);

/* Send the facts and wait for the caller's word. Exits when it does not come. */
void csb_child_await_go(const unsigned char *facts, size_t count);

/* Nothing of ours is open from here on. */
void csb_child_close_channel(void);

/* The last word about a failure; ignored by the supervisor unless the run failed. */
void csb_child_say_end(enum csb_wire_end end);

#endif
