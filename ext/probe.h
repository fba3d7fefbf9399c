/* What this kernel can enforce for a process like ours. Changes nothing of
 * this process; starts children that end at once. Any thread, no GIL. */
#ifndef CSB_PROBE_H
#define CSB_PROBE_H

#include "csb.h"

struct csb_probe {
    int landlock_abi; /* 0 = none */
    bool seccomp_filter;
    bool seccomp_notify; /* and no listener of somebody else's is in the way */
    bool pidfd;          /* Linux 5.3: clone(CLONE_PIDFD), waitid(P_PIDFD) */
    bool close_range;    /* Linux 5.9 */
    bool procfs;         /* /proc is mounted: memory figures, thread cap */
    bool root;
    bool mdwe; /* Linux 6.3: pages that were writable never become executable */
};

void csb_probe(struct csb_probe *ret);

/* Makes namespaces as a policy would, and lets them go. `why`: as csb_namespaces_open. */
bool csb_probe_namespaces(char *why, size_t size);

#endif
