/* What travels between the caller and a child over the channel (fd 3 in the child).
 *
 *   caller → child   config header, config payload        (a zygote's children inherit it)
 *   child  → caller  one record: READY with the listener, or FAILED
 *   caller → child   submission header, its payload, the source   (only after READY)
 *   child  → caller  a frame FACTS (facts.h; if it compiles; else BROKEN, and the end)
 *   caller → child   one byte CSB_WIRE_GO                 (if they are accepted)
 *
 * Then, or when the source does not compile, a child in script mode closes the channel. In
 * the other modes frames follow: the child's first REPLY says that the source was executed,
 * then each frame of the caller is answered by one REPLY (a cell by FACTS before it). While
 * a session's frame is carried out the child may ask: each ASK is answered by one ANSWER, or
 * by one NO_ANSWER where nobody listens, and the child waits for it.
 *
 * The last word about a failure needs no descriptor: the child makes a system call that the
 * narrow filter denies, prctl(CSB_WIRE_SAY_END, end), which the listener sees.
 *
 * Both ends are the same build on the same machine, so the structs are the format. The
 * caller believes a FAILED or READY record, since no untrusted byte has been sent by then,
 * and the mask in FACTS or BROKEN, since none has been executed. What is said at the end comes from a
 * process that ran hostile code: it may only choose between words for a failure that was
 * seen from outside. A reply, or a question, is data, bounded, and nothing more. */
#ifndef CSB_WIRE_H
#define CSB_WIRE_H

#include "csb.h"
#include "namespaces.h"

#include <sched.h>
#include <signal.h>

#define CSB_WIRE_MAGIC UINT32_C(0x43534232) /* "CSB2" */

struct csb_wire_config {
    uint32_t magic;
    uint32_t payload_bytes;
    uint32_t uid;
    uint32_t notify;
    uint32_t skipped;
    uint32_t filter_length;
    uint32_t rlimit_count;
    uint32_t path_count;
    uint32_t zygote; /* fork children, become none */
    uint32_t preload_count;
    /* the caller's namespaces; 0 = none entered */
    uint64_t outside[CSB_NAMESPACE_COUNT];
    /* payload: filter_length sock_filter, rlimit_count csb_rlimit (those that must be in
     * force), then NUL-terminated strings: the profile's name, module paths, names of modules to preload */
};

enum csb_wire_kind {
    CSB_WIRE_FAILED = 1,
    CSB_WIRE_READY,
};

enum csb_wire_mode {
    CSB_MODE_SCRIPT,  /* execute and end */
    CSB_MODE_CALLS,   /* execute, then answer calls */
    CSB_MODE_SESSION, /* execute the (empty) source, then cells, by the prelude */
};

struct csb_wire_submission {
    uint32_t magic;
    uint32_t mode;
    uint32_t payload_bytes;
    uint32_t rlimit_count;
    uint32_t argument_count;
    uint32_t environment_count;
    uint64_t source_bytes;
    /* payload: rlimit_count csb_rlimit (to be set), then NUL-terminated strings: file name,
     * arguments, environment, prelude */
};

enum csb_wire_frame_kind {
    CSB_FRAME_NONE,   /* of a request that asks nothing; never sent */
    CSB_FRAME_FACTS,  /* child → caller */
    CSB_FRAME_BROKEN, /* child → caller: the source does not compile; empty */
    CSB_FRAME_REPLY,  /* child → caller */
    CSB_FRAME_CALL,   /* caller → child: answered by child_call.c or the prelude */
    CSB_FRAME_CELL,   /* caller → child: source to compile, agree on and execute */
    /* caller → child: fork; one REPLY from the child with an errno (int32_t), one from the new
     * process, empty, over the channel that it was given */
    CSB_FRAME_BRANCH,
    CSB_FRAME_ASK,    /* child → caller: something to show, or a line that is wanted */
    CSB_FRAME_ANSWER, /* caller → child */
    CSB_FRAME_NO_ANSWER, /* caller → child: nobody is there for such a question */
};

struct csb_wire_frame {
    uint64_t length; /* of what follows */
    uint32_t kind;
    uint32_t mask; /* FACTS, BROKEN: features confirmed since READY */
};

enum { CSB_WIRE_GO = 'g', CSB_WIRE_NO = 'n' };

/* What our own code in the child ends with when it can not go on. */
enum { CSB_WIRE_EXIT_FAILED = 127 };

/* No option of prctl(2); the kernel would answer EINVAL. */
#define CSB_WIRE_SAY_END UINT64_C(0x43534245)

/* The same, for a new branch: it waits in this call until it has what is its own. */
#define CSB_WIRE_SAY_BRANCH UINT64_C(0x43534246)

/* The flags of the one clone(2) by which a session is branched: a process, and a child of the
 * zygote, which reaps it; the second with its thread id put where libc keeps it. */
#define CSB_BRANCH_FLAGS ((uint64_t)CLONE_PARENT | SIGCHLD)
#define CSB_BRANCH_TID_FLAGS                                                           \
    (CSB_BRANCH_FLAGS | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID)

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
