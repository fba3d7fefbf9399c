/* What travels between the caller and a child over the channel (fd 3 in the child).
 *
 *   caller → child   config header, config payload        (before the child starts)
 *   child  → caller  one record: READY with the listener, or FAILED
 *   caller → child   length of the source, the source     (only after READY)
 *   child  → caller  length of the facts, the facts       (facts.h; if it compiles)
 *   caller → child   one byte CSB_WIRE_GO                 (if they are accepted)
 *
 * Then, or when the source does not compile, the child closes the channel. Its last word about a failure needs no descriptor: it
 * makes a system call that the narrow filter denies, prctl(CSB_WIRE_SAY_END, end), which the
 * listener sees.
 *
 * Both ends are the same build on the same machine, so the structs are the format. The
 * caller believes a FAILED or READY record, since no untrusted byte has been sent by then.
 * What is said at the end comes from a process that ran hostile code: it may only choose
 * between words for a failure that was seen from outside. */
#ifndef CSB_WIRE_H
#define CSB_WIRE_H

#include "csb.h"
#include "namespaces.h"

#define CSB_WIRE_MAGIC UINT32_C(0x43534231) /* "CSB1" */

struct csb_wire_config {
    uint32_t magic;
    uint32_t payload_bytes;
    uint32_t uid;
    uint32_t notify;
    uint32_t skipped;
    uint32_t filter_length;
    uint32_t rlimit_count;
    uint32_t path_count;
    uint32_t argument_count;
    uint32_t unused;
    uint64_t
        outside[CSB_NAMESPACE_COUNT]; /* the caller's namespaces; 0 = none entered */
    /* payload: filter_length sock_filter, rlimit_count csb_rlimit, then NUL-terminated
     * strings: file name, path_count module paths, argument_count arguments */
};

enum csb_wire_kind {
    CSB_WIRE_FAILED = 1,
    CSB_WIRE_READY,
};

enum { CSB_WIRE_GO = 'g' };

/* What our own code in the child ends with when it can not go on. */
enum { CSB_WIRE_EXIT_FAILED = 127 };

/* No option of prctl(2); the kernel would answer EINVAL. */
#define CSB_WIRE_SAY_END UINT64_C(0x43534245)

enum csb_wire_end {
    CSB_END_OTHER,
    CSB_END_COMPILE_ERROR, /* CPython could not compile the source */
    CSB_END_MEMORY_ERROR,  /* an uncaught MemoryError */
};

struct csb_wire_record {
    uint32_t magic;
    uint32_t kind;
    uint32_t step; /* FAILED: enum csb_step */
    int32_t err;   /* FAILED: errno */
    uint32_t mask; /* READY: features confirmed */
    uint32_t unused;
};

#endif
