/* Where in the cgroup v2 hierarchy a process like ours may make leaves.
 * Runs in the caller, any thread, no GIL. */
#ifndef CSB_CGROUP_PLACE_H
#define CSB_CGROUP_PLACE_H

#include "csb.h"

struct csb_cgroup_place {
    char own[256];   /* the caller's cgroup, as /proc/self/cgroup has it */
    char path[1024]; /* the folder that comes next; "" = no more */
    size_t mount;    /* length of the mount point in it */
};

/* Begin with the caller's own cgroup. False, and why, when there is no cgroup v2. */
bool csb_cgroup_place_first(struct csb_cgroup_place *place, char *why, size_t size);

/* The next folder, upwards, that offers memory and pids to its children and is ours to use;
 * switches them on where that is allowed. An open descriptor (the caller's), or -1. */
int csb_cgroup_place_next(struct csb_cgroup_place *place);

#endif
