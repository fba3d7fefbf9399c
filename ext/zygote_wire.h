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

/* The descriptors of a request, in this order; the last only with Landlock. */
enum csb_zygote_fd {
    CSB_ZYGOTE_STDIN,
    CSB_ZYGOTE_STDOUT,
    CSB_ZYGOTE_STDERR,
    CSB_ZYGOTE_CHANNEL,
    CSB_ZYGOTE_STATUS,
    CSB_ZYGOTE_DIRECTORY,
    CSB_ZYGOTE_RULESET,
    CSB_ZYGOTE_FDS
};

enum { CSB_ZYGOTE_PATH_BYTES = 512 };

struct csb_zygote_request {
    uint32_t fd_count;
    uint32_t touch; /* run our own program first: time of the spare, not of the run */
    char directory[CSB_ZYGOTE_PATH_BYTES]; /* the child's folder: its HOME and TMPDIR */
};

struct csb_zygote_forked {
    int32_t pid; /* in the zygote's namespace; the pidfd tells ours */
    int32_t err; /* errno of fork, or 0 */
};

struct csb_zygote_ended {
    int32_t exit_code;
    int32_t signal;
    struct rusage usage;
};

#endif
