/* Namespaces of a child: which it joins, which it makes, and why there are none.
 *
 * The user and the network namespace are made once a policy and joined by every child: a
 * network namespace takes the kernel some 800 µs to make and less than one to join, and this
 * one holds nothing (its loopback is down, the filter gives no socket). What one run could
 * leave to the next (System V IPC, message queues) and what is cheap is made anew for each
 * child. A pid namespace is not used: docs/adr/0021. Plain data for the child; the functions
 * run in the caller, any thread, no GIL. */
#ifndef CSB_NAMESPACES_H
#define CSB_NAMESPACES_H

#include "csb.h"

enum csb_namespace {
    CSB_NAMESPACE_USER,
    CSB_NAMESPACE_NET,
    CSB_NAMESPACE_IPC,
    CSB_NAMESPACE_UTS,
    CSB_NAMESPACE_CGROUP,
    CSB_NAMESPACE_COUNT
};

struct csb_namespaces {
    int user_fd; /* owned by the policy; CSB_FD_NONE when no namespace is used */
    int net_fd;
    bool required; /* a child that can not enter them must not go on */
};

/* stat(2) of it tells one namespace from another by its inode number. */
static inline const char *
csb_namespace_path(enum csb_namespace kind)
{
    static const char *const paths[CSB_NAMESPACE_COUNT] = {
        [CSB_NAMESPACE_USER] = "/proc/self/ns/user",
        [CSB_NAMESPACE_NET] = "/proc/self/ns/net",
        [CSB_NAMESPACE_IPC] = "/proc/self/ns/ipc",
        [CSB_NAMESPACE_UTS] = "/proc/self/ns/uts",
        [CSB_NAMESPACE_CGROUP] = "/proc/self/ns/cgroup",
    };
    return paths[kind];
}

/* No namespaces. */
void csb_namespaces_init(struct csb_namespaces *namespaces);
void csb_namespaces_done(struct csb_namespaces *namespaces);

/* Make the shared ones and let a trial child enter everything. Returns true when it did;
 * otherwise `why` says what refused, by the name of its switch where that is known
 * ("kernel.unprivileged_userns_clone=0"). `all_ids`: the child will become another uid, so
 * every id of the caller must exist inside. */
bool csb_namespaces_open(struct csb_namespaces *namespaces, bool all_ids, char *why,
                         size_t size);

/* Inode numbers of the caller's own; false when /proc does not tell. */
bool csb_namespaces_own(uint64_t ret[CSB_NAMESPACE_COUNT]);

#endif
