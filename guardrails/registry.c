/* Theory of operation: constant tables made from rules.def, the only place where a code, its
 * name and its family meet. Runs in the caller and in the child; no state, no allocation. */
#include "registry.h"

#include <string.h>

static const struct csb_rule_info rule_infos[CSB_RULE_COUNT] = {
#define CSB_RULE(code, name, family, severity, selectable, summary)                      \
    [CSB_RULE_##code] = {"CSB" #code,                                                    \
                         name,                                                           \
                         summary,                                                        \
                         CSB_FAMILY_##family,                                            \
                         CSB_SEVERITY_##severity,                                        \
                         selectable},
#include "rules.def"
#undef CSB_RULE
};

static const char *const family_names[CSB_FAMILY_COUNT] = {
    [CSB_FAMILY_INTEGRITY] = "integrity", [CSB_FAMILY_IMPORTS] = "imports",
    [CSB_FAMILY_TRAVERSAL] = "traversal", [CSB_FAMILY_BUILTINS] = "builtins",
    [CSB_FAMILY_ADVICE] = "advice",
};

static const char *const severity_names[CSB_SEVERITY_COUNT] = {
    [CSB_SEVERITY_ERROR] = "error",
    [CSB_SEVERITY_ADVICE] = "advice",
    [CSB_SEVERITY_OBSERVED] = "observed",
};

const struct csb_rule_info *
csb_rule_info(enum csb_rule_id id)
{
    return &rule_infos[id];
}

const char *
csb_family_name(enum csb_family family)
{
    return family_names[family];
}

const char *
csb_severity_name(enum csb_severity severity)
{
    return severity_names[severity];
}

int
csb_family_find(const char *name)
{
    for (int i = 0; i < CSB_FAMILY_COUNT; i++) {
        if (strcmp(family_names[i], name) == 0) {
            return i;
        }
    }
    return -1;
}
