/* Theory of operation: a table of names; pure, any process. */
#include "feature.h"

#include <string.h>

static const char *const names[CSB_FEATURE_COUNT] = {
    [CSB_FEATURE_FDS] = "fds",
    [CSB_FEATURE_SESSION] = "session",
    [CSB_FEATURE_RLIMITS] = "rlimits",
    [CSB_FEATURE_NO_NEW_PRIVS] = "no_new_privs",
    [CSB_FEATURE_PRIVILEGES] = "privileges",
    [CSB_FEATURE_LANDLOCK] = "landlock",
    [CSB_FEATURE_SECCOMP] = "seccomp",
    [CSB_FEATURE_SECCOMP_NOTIFY] = "seccomp_notify",
    [CSB_FEATURE_NAMESPACES] = "namespaces",
    [CSB_FEATURE_CGROUP] = "cgroup",
    [CSB_FEATURE_MDWE] = "mdwe",
};

const char *
csb_feature_name(enum csb_feature feature)
{
    return feature < CSB_FEATURE_COUNT ? names[feature] : "unknown";
}

enum csb_feature
csb_feature_lookup(const char *name)
{
    enum csb_feature feature = 0;
    while (feature < CSB_FEATURE_COUNT && strcmp(names[feature], name) != 0) {
        feature++;
    }
    return feature;
}
