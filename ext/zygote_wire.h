/* What travels between the caller and a zygote. Both are ours, the same build.
 *
 * The control socket (SOCK_SEQPACKET, fd 3 of the zygote) brings the configuration, then one
 * request a child, with the descriptors of that child. Each child has a status socket
 * (SOCK_SEQPACKET) of its own, on which the zygote says FORKED (with the pidfd) and, when it
 * has reaped it, ENDED; end of file without ENDED means that the zygote is gone. No byte of
 * a submission ever passes here. */
#ifndef CSB_ZYGOTE_WIRE_H
#define CSB_ZYGOTE_WIRE_H

#include "csb.h"

#include <sys/resource.h>
#include <sys/types.h>

/* The descriptors of a request, in this order; of the last two those that it names. */
enum csb_zygote_fd {
    CSB_ZYGOTE_STDIN,
    CSB_ZYGOTE_STDOUT,
    CSB_ZYGOTE_STDERR,
    CSB_ZYGOTE_CHANNEL,
    CSB_ZYGOTE_STATUS,
    CSB_ZYGOTE_DIRECTORY,
    CSB_ZYGOTE_RULESET,
    CSB_ZYGOTE_FILTER, /* memfd: another filter than that of the configuration */
    CSB_ZYGOTE_FDS
};

enum { CSB_ZYGOTE_PATH_BYTES = 512 };

struct csb_zygote_request {
    uint32_t fd_count;
    uint32_t touch; /* run our own program first: time of the spare, not of the run */
    uint32_t has_ruleset;
    uint32_t has_filter;                   /* a session, which may be branched */
    char directory[CSB_ZYGOTE_PATH_BYTES]; /* the child's folder: its HOME and TMPDIR */
};

struct csb_zygote_forked {
    int32_t pid; /* in the zygote's namespace; the pidfd tells ours */
    int32_t err; /* errno of fork, or 0 */
};

/* Branching a session. The caller says PREPARE on the status socket of the session's child, with
 * the other end of a status socket for the branch, on which everything else is said: FORKED
 * with pid 0 when the zygote is ready for it, then ADOPT by the caller, then FORKED and ENDED as
 * for every child. From PREPARE on the whole process group dies with the zygote. */
enum { CSB_ZYGOTE_PREPARE = 1, CSB_ZYGOTE_ADOPT = 2 };

struct csb_zygote_branch {
    uint32_t kind;
    int32_t pid; /* ADOPT: whom, a child of the zygote in the session's process group */
};

struct csb_zygote_ended {
    int32_t exit_code;
    int32_t signal;
    struct rusage usage;
};

#endif
