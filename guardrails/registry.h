/* The list of rules as data: what a code is called, which family it is of, whether it blocks.
 *
 * Constant data, usable from any thread and process; knows nothing of trees, so that the
 * child's walk over code objects and the configuration may use it as well. */
#ifndef CSB_GUARD_REGISTRY_H
#define CSB_GUARD_REGISTRY_H

#include "csb.h"

enum csb_family {
    CSB_FAMILY_INTEGRITY,
    CSB_FAMILY_IMPORTS,
    CSB_FAMILY_TRAVERSAL,
    CSB_FAMILY_BUILTINS,
    CSB_FAMILY_ADVICE,
    CSB_FAMILY_COUNT
};

enum csb_severity {
    CSB_SEVERITY_ERROR,    /* blocks the run */
    CSB_SEVERITY_ADVICE,   /* never blocks */
    CSB_SEVERITY_OBSERVED, /* would block, but its family is only observed */
    CSB_SEVERITY_COUNT
};

enum csb_rule_id {
#define CSB_RULE(code, name, family, severity, selectable, summary) CSB_RULE_##code,
#include "rules.def"
#undef CSB_RULE
    CSB_RULE_COUNT
};

struct csb_rule_info {
    const char *code;
    const char *name;
    const char *summary;
    enum csb_family family;
    enum csb_severity severity;
    bool selectable;
};

/* Never NULL for an id below CSB_RULE_COUNT. */
const struct csb_rule_info *csb_rule_info(enum csb_rule_id id);
const char *csb_family_name(enum csb_family family);
const char *csb_severity_name(enum csb_severity severity);

/* The family of that name, or -1. */
int csb_family_find(const char *name);

#endif
