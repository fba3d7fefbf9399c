/* One validated configuration of the guard: which rules, which imports, which budgets.
 *
 * Owns copies of everything; immutable after csb_guard_config_new, so any thread may use it. Knows no
 * trees: the child's walk over code objects asks the same object the same questions. */
#ifndef CSB_GUARD_CONFIG_H
#define CSB_GUARD_CONFIG_H

#include "error.h"
#include "registry.h"

struct csb_guard_limits {
    uint64_t max_source_bytes;
    uint64_t max_nodes;
    uint64_t max_depth;
    uint64_t max_findings_per_rule;
    uint64_t max_time_ms;
};

/* A list of names; the strings are the caller's. */
struct csb_guard_strings {
    const char *const *items;
    size_t len;
};

struct csb_guard_config_spec {
    const char *profile;
    struct csb_guard_strings select; /* prefixes of codes: "CSB1", "CSB204" */
    struct csb_guard_strings ignore;
    bool observe[CSB_FAMILY_COUNT];
    struct csb_guard_strings imports_allow; /* dotted names; "*" covers everything */
    struct csb_guard_strings imports_deny;
    struct csb_guard_strings builtins_allow;
    struct csb_guard_strings attributes_allow;
    struct csb_guard_strings help_names; /* parallel to help_texts */
    struct csb_guard_strings help_texts;
    struct csb_guard_limits limits;
};

enum csb_import {
    CSB_IMPORT_ALLOWED,
    CSB_IMPORT_UNLISTED, /* nothing covers it */
    CSB_IMPORT_DENIED,   /* a deny entry is the longest match */
};

struct csb_guard_config;

/* Fails with -EINVAL (the message names the key) or -ENOMEM. */
CSB_MUST_USE int csb_guard_config_new(struct csb_guard_config **ret,
                                      const struct csb_guard_config_spec *spec,
                                      struct csb_error *reterr);
void csb_guard_config_free(struct csb_guard_config *config);

const char *csb_guard_config_profile(const struct csb_guard_config *config);
const struct csb_guard_limits *
csb_guard_config_limits(const struct csb_guard_config *config);

bool csb_guard_config_enabled(const struct csb_guard_config *config,
                              enum csb_rule_id rule);
enum csb_severity csb_guard_config_severity(const struct csb_guard_config *config,
                                            enum csb_rule_id rule);

/* The longest matching entry decides; a name covers its submodules. */
enum csb_import csb_guard_config_import(const struct csb_guard_config *config,
                                        const char *dotted, size_t len);

/* True when some denied name ends in this part: "system" for "os.system". */
bool csb_guard_config_denies_part(const struct csb_guard_config *config,
                                  const char *name, size_t len);
bool csb_guard_config_allows_builtin(const struct csb_guard_config *config,
                                     const char *name, size_t len);
bool csb_guard_config_allows_attribute(const struct csb_guard_config *config,
                                       const char *name, size_t len);

/* The profile's sentence for a module, looked up by its longest listed prefix, or NULL. */
const char *csb_guard_config_import_help(const struct csb_guard_config *config,
                                         const char *dotted, size_t len);

/* The allowed module that is spelt most like `dotted`, or NULL when none is near. */
const char *csb_guard_config_nearest_import(const struct csb_guard_config *config,
                                            const char *dotted, size_t len);

/* Write "a, b, c and 12 more" of the allowed modules; returns `buffer`. */
const char *csb_guard_config_describe_imports(const struct csb_guard_config *config,
                                              char *buffer, size_t size);

#endif
