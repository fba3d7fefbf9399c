/* The message that turns a ready child into one run: everything about the submission but
 * its text, which follows. Built in the caller, on the heap; no GIL. */
#ifndef CSB_SUBMISSION_H
#define CSB_SUBMISSION_H

#include "message.h"
#include "run_limits.h"
#include "wire.h"

/* All borrowed. */
struct csb_submission {
    enum csb_wire_mode mode;
    const char *file_name;
    const struct csb_strings *arguments;   /* sys.argv[1:] */
    const struct csb_strings *environment; /* "NAME=value"; NULL: given at exec */
    const struct csb_rlimit *rlimits;      /* to be set by the child, if any */
    size_t rlimit_count;
    const char *prelude; /* our own code for the mode, or NULL */
    size_t source_bytes;
};

int csb_submission_build(const struct csb_submission *submission,
                         struct csb_message *ret,
                         struct csb_error *reterr) CSB_MUST_USE;

#endif
