/* The trusted half of a child's life after exec (or after a zygote's fork): finish the
 * confinement, confirm it, say so, take the submission. In the child, single-threaded,
 * holding the GIL (nobody else wants it). */
#ifndef CSB_CHILD_SETUP_H
#define CSB_CHILD_SETUP_H

#include "bpf.h"
#include "error.h"
#include "run_limits.h"
#include "wire.h"

struct csb_child {
    unsigned char *payload; /* owned */
    struct csb_wire_config config;
    struct csb_bpf narrow; /* these point into the payload */
    const struct csb_rlimit *rlimits;
    const char *profile;       /* its name, may be "" */
    const char *first_path;    /* config.path_count NUL-terminated strings */
    const char *first_preload; /* config.preload_count of them */
    /* features confirmed in the zygote, which its children keep */
    uint32_t zygote_mask;
    uint32_t late_mask; /* features confirmed after READY */
    bool branchable;    /* the filter is that of a session: nothing to patch in it */
    void *thread_id_at; /* where libc keeps the id of the first thread; may be NULL */
    /* owned PyObject: the __loader__ of all children of a zygote; NULL without one */
    void *loader;
    void *nodes; /* owned PyObject: the same of child_nodes.h's classes */
    bool named;  /* a spare that has the plain name, no arguments, no environment */
    void *hooks; /* owned PyObject: see child_hooks.c */
};

/* What this child is to become; everything is owned. */
struct csb_child_task {
    unsigned char *payload;
    struct csb_wire_submission header;
    const struct csb_rlimit *rlimits; /* these point into the payload */
    const char *file_name;
    const char *first_argument;    /* header.argument_count NUL-terminated strings */
    const char *first_environment; /* header.environment_count "NAME=value" */
    const char *prelude;
    char *source; /* NUL-terminated, header.source_bytes long */
};

/* Read the configuration. Like the next four, does not return when a step fails: a FAILED
 * record is sent and the process exits. */
void csb_child_configure(struct csb_child *child);

/* Enter the last layers, confirm all of them by trying, report READY. */
void csb_child_confine(struct csb_child *child);

/* For what fails in the interpreter in between. */
CSB_NORETURN void csb_child_give_up(void);
CSB_NORETURN void csb_child_fail(enum csb_step step, int err);

/* Read the submission; its limits are in force from before its source is read. */
void csb_child_take_task(struct csb_child *child, struct csb_child_task *task);
void csb_child_task_done(struct csb_child_task *task);

/* The text after the strings at `at`. */
const char *csb_child_skip_strings(const char *at, uint32_t count);

/* Send the facts and wait for the caller's word: true for GO. Exits when none comes. */
bool csb_child_await_go(const struct csb_child *child, const unsigned char *facts,
                        size_t count);

/* A frame for the caller: REPLY or ASK. Exits when nobody listens. */
void csb_child_say(enum csb_wire_frame_kind kind, const unsigned char *bytes,
                   size_t count);

/* The source does not compile: what was confirmed of the layers is told all the same. */
void csb_child_tell_broken(const struct csb_child *child);

/* The caller's next frame: heap bytes, NUL-terminated, to be freed by the receiver. NULL: the caller
 * is gone. */
char *csb_child_next_frame(struct csb_wire_frame *ret);

/* Fork, as the supervisor has ordered: 1 in the branch, which then has its own descriptors and
 * working folder, 0 in the original, or -errno. */
int csb_child_branch(const struct csb_child *child);

/* Nothing of ours is open from here on. */
void csb_child_close_channel(void);

/* The last word about a failure; ignored by the supervisor unless the run failed. */
void csb_child_say_end(enum csb_wire_end end);

#endif
