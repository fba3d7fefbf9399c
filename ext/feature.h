/* The names of the layers: one bit each, from the request through the child's confirmation
 * to `Result.isolation`. Plain data, usable in every process. */
#ifndef CSB_FEATURE_H
#define CSB_FEATURE_H

#include "csb.h"

enum csb_feature {
    CSB_FEATURE_FDS,            /* only 0, 1, 2 and the channel are open */
    CSB_FEATURE_SESSION,        /* own session, dies with the caller */
    CSB_FEATURE_RLIMITS,        /* every resource limit is in force, hard = soft */
    CSB_FEATURE_NO_NEW_PRIVS,   /* exec can not gain privilege */
    CSB_FEATURE_PRIVILEGES,     /* no capability; no uid 0 where that can be had */
    CSB_FEATURE_LANDLOCK,       /* files outside the listed ones are out of reach */
    CSB_FEATURE_SECCOMP,        /* the narrow allow-list is in force */
    CSB_FEATURE_SECCOMP_NOTIFY, /* denials are answered, counted and named from outside */
    CSB_FEATURE_NAMESPACES,     /* user, net, ipc, uts, cgroup: none is the caller's */
    CSB_FEATURE_CGROUP, /* a control group of its own: memory and tasks in sum */
    CSB_FEATURE_MDWE,   /* no page turns from writable to executable */
    CSB_FEATURE_COUNT
};

#define CSB_FEATURE_BIT(feature) (UINT32_C(1) << (feature))
#define CSB_FEATURE_ALL (CSB_FEATURE_BIT(CSB_FEATURE_COUNT) - 1)

const char *csb_feature_name(enum csb_feature feature);

/* The feature of that name, or CSB_FEATURE_COUNT when there is none. */
enum csb_feature csb_feature_lookup(const char *name);

#endif
