/* Readings of one child from /proc, by the caller. The child can not falsify them.
 * Any thread, no GIL. Every function is harmless on a struct whose descriptors are
 * CSB_FD_NONE (no /proc mounted): sizes read as 0, the thread count as "too many". */
#ifndef CSB_PROCFS_H
#define CSB_PROCFS_H

#include "csb.h"

#include <sys/types.h>

struct csb_procfs {
    int folder; /* /proc/PID, owned */
    int status; /* owned, kept open: one pread a look */
};

struct csb_memory {
    /* what a run costs: not backed by a file, resident or swapped out, and the page tables (a
     * sparse map is made of these) */
    uint64_t private_bytes;
    uint64_t peak_bytes; /* highest resident size so far (VmHWM) */
    /* of private_bytes: shared anonymous memory that is mapped */
    uint64_t shared_bytes;
    /* private writable memory, touched or not: what RLIMIT_DATA counts */
    uint64_t data_bytes;
};

/* Open both; must be called while the pid is not reaped. */
void csb_procfs_open(struct csb_procfs *procfs, pid_t pid);
void csb_procfs_close(struct csb_procfs *procfs);

/* Resident set in bytes, file-backed pages included; 0 when it can not be read. */
uint64_t csb_procfs_resident_bytes(const struct csb_procfs *procfs);

/* Exact figures from `status`; false when they can not be read (a zombie has none). */
bool csb_procfs_memory(const struct csb_procfs *procfs, struct csb_memory *ret);

/* Threads of the process, or UINT32_MAX. */
uint32_t csb_procfs_threads(const struct csb_procfs *procfs);

/* Is this a thread of the process? */
bool csb_procfs_has_thread(const struct csb_procfs *procfs, pid_t thread);

#endif
