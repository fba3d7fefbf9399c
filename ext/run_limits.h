/* The numbers of one run, and the resource limits that back them in the kernel.
 * Plain data; any process, no GIL. */
#ifndef CSB_RUN_LIMITS_H
#define CSB_RUN_LIMITS_H

#include "csb.h"

struct csb_limits {
    int64_t cpu_ns;     /* CPU time of the submission, start-up not counted */
    int64_t wall_ns;    /* from the moment the submission may begin */
    int64_t startup_ns; /* for the trusted start; exceeding it is our fault */
    uint64_t memory_bytes;
    uint64_t output_bytes; /* per stream */
    uint64_t file_bytes;   /* per file */
    uint64_t disk_bytes;   /* of all files, beyond what the caller put there */
    uint32_t files;        /* files and folders that may be made */
    uint32_t open_files;
    uint32_t threads; /* at once, the main thread included: 0 and 1 = no other */
    uint64_t stack_bytes;
};

struct csb_rlimit {
    int resource;
    uint64_t value; /* soft and hard */
};

enum { CSB_RLIMITS_MAX = 12 };

/* Fill ret (CSB_RLIMITS_MAX entries); returns how many. A value above what this process
 * may set (its own hard limit) is lowered to that. */
size_t csb_limits_to_rlimits(const struct csb_limits *limits, struct csb_rlimit *ret);

/* Take the limit of one resource out of the list and put it into *ret; returns the new count.
 * Unchanged when it is not there (*ret is then not written). */
size_t csb_rlimits_take(struct csb_rlimit *rlimits, size_t count, int resource,
                        struct csb_rlimit *ret);

#endif
