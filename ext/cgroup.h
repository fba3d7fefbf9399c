/* A control group of its own for each run, where a subtree was delegated to us.
 *
 * Leaves are made in a folder of the cgroup v2 hierarchy that has the memory and pids
 * controllers for its children: the caller's own cgroup or one above it, as far as they are
 * ours (see csb_cgroup_find). Runs in the caller, any thread, no GIL; the child only writes
 * its number into procs_fd, or the caller does it for a child that is there already. */
#ifndef CSB_CGROUP_H
#define CSB_CGROUP_H

#include "error.h"

#include <sys/types.h>

/* Where leaves are made; owned by the policy. */
struct csb_cgroup {
    int fd; /* the folder; CSB_FD_NONE when there is none */
};

/* One run's. */
struct csb_leaf {
    int parent_fd; /* borrowed from the csb_cgroup, which outlives it */
    int fd;        /* owned */
    int procs_fd;  /* owned, at least CSB_FD_MIN; CSB_FD_NONE: no leaf */
    char name[64];
};

void csb_cgroup_init(struct csb_cgroup *cgroup);
void csb_cgroup_done(struct csb_cgroup *cgroup);

/* Find the folder, remove what callers that were killed have left in it, and try a leaf with
 * a child. True on success; otherwise `why` says what is missing. As root on a system that
 * systemd manages only what it has marked as delegated is taken. */
bool csb_cgroup_find(struct csb_cgroup *cgroup, char *why, size_t size);

/* Remove the leaves of a process that has ended. Returns how many are still in use. */
size_t csb_cgroup_sweep_of(int folder_fd, pid_t maker);

void csb_leaf_init(struct csb_leaf *leaf);

/* Make a leaf with memory.max, no swap, and pids.max = `tasks`. */
int csb_leaf_make(struct csb_leaf *leaf, const struct csb_cgroup *cgroup,
                  uint64_t memory_bytes, uint64_t tasks,
                  struct csb_error *reterr) CSB_MUST_USE;

/* What memory.max is for a run with these limits: the first is measured finer elsewhere, this
 * one also counts page tables, pipes and page cache, and must not be met first. Files count
 * where the scratch folder lies in memory. */
uint64_t csb_leaf_memory_max(uint64_t limit_bytes, uint64_t disk_bytes);

/* Put a process into the leaf from outside; returns 0 or -errno. */
int csb_leaf_take(const struct csb_leaf *leaf, pid_t pid) CSB_MUST_USE;

/* Does the kernel list the process in this leaf? */
bool csb_leaf_holds(const struct csb_leaf *leaf, pid_t pid);

/* Did the kernel kill something in it for want of memory? */
bool csb_leaf_out_of_memory(const struct csb_leaf *leaf);

/* Kill what is left in it and remove it. Safe after csb_leaf_init. */
void csb_leaf_end(struct csb_leaf *leaf);

#endif
