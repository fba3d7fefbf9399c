/* Theory of operation: turns a profile's lists into an immutable object that the engine, the
 * rules and the child's second opinion ask. Runs in the caller; trusts the profile (the caller's
 * own file) but validates it, because a misspelt code must not silently switch a rule off. */
#include "guard_config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nameset.h"

struct csb_guard_config {
    char *profile;
    bool enabled[CSB_RULE_COUNT];
    enum csb_severity severity[CSB_RULE_COUNT];
    struct csb_nameset allow;
    struct csb_nameset deny;
    struct csb_nameset deny_parts; /* what stands after the last dot of each */
    struct csb_nameset builtins;
    struct csb_nameset attributes;
    char **help_names; /* help_len pairs, in the profile's order */
    char **help_texts;
    size_t help_len;
    bool allow_all; /* "*" in imports_allow */
    struct csb_guard_limits limits;
};

static bool
has_prefix(enum csb_rule_id rule, const char *prefix)
{
    return strncmp(csb_rule_info(rule)->code, prefix, strlen(prefix)) == 0;
}

static bool
any_prefix(enum csb_rule_id rule, struct csb_guard_strings prefixes)
{
    for (size_t i = 0; i < prefixes.len; i++) {
        if (has_prefix(rule, prefixes.items[i])) {
            return true;
        }
    }
    return false;
}

static int
check_prefixes(const char *key, struct csb_guard_strings prefixes,
               struct csb_error *reterr)
{
    for (size_t i = 0; i < prefixes.len; i++) {
        bool known = false;
        for (int rule = 0; rule < CSB_RULE_COUNT && !known; rule++) {
            known = prefixes.items[i][0] != '\0' &&
                    has_prefix((enum csb_rule_id)rule, prefixes.items[i]);
        }
        if (!known) {
            return csb_fail(
                reterr, CSB_STEP_ARGUMENT, EINVAL,
                "%s: no rule has a code that starts with '%.40s' (codes look "
                "like CSB101; a prefix such as CSB1 selects a family)",
                key, prefixes.items[i]);
        }
    }
    return 0;
}

static int
check_limits(const struct csb_guard_limits *limits, struct csb_error *reterr)
{
    const struct {
        const char *key;
        uint64_t value;
        uint64_t most;
    } rows[] = {
        /* Offsets in the tree are 32 bits wide. */
        {"max_source_bytes", limits->max_source_bytes, UINT32_MAX / 2},
        {"max_nodes", limits->max_nodes, UINT32_MAX},
        {"max_depth", limits->max_depth, 100000},
        {"max_findings_per_rule", limits->max_findings_per_rule, 100000},
        {"max_time_ms", limits->max_time_ms, 3600000},
    };
    for (size_t i = 0; i < CSB_ARRAY_LEN(rows); i++) {
        if (rows[i].value == 0 || rows[i].value > rows[i].most) {
            return csb_fail(reterr, CSB_STEP_ARGUMENT, EINVAL,
                            "%s: must be between 1 and %llu", rows[i].key,
                            (unsigned long long)rows[i].most);
        }
    }
    return 0;
}

static int
copy_help(struct csb_guard_config *config, const struct csb_guard_config_spec *spec)
{
    size_t len = spec->help_names.len;
    config->help_names = calloc(len + 1, sizeof *config->help_names);
    config->help_texts = calloc(len + 1, sizeof *config->help_texts);
    if (config->help_names == NULL || config->help_texts == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < len; i++) {
        config->help_names[i] = strdup(spec->help_names.items[i]);
        config->help_texts[i] = strdup(spec->help_texts.items[i]);
        config->help_len = i + 1;
        if (config->help_names[i] == NULL || config->help_texts[i] == NULL) {
            return -ENOMEM;
        }
    }
    return 0;
}

static int
copy_parts(struct csb_guard_config *config)
{
    size_t len = config->deny.len;
    const char **parts = calloc(len + 1, sizeof *parts);
    int r = -ENOMEM;
    if (parts != NULL) {
        for (size_t i = 0; i < len; i++) {
            const char *dot = strrchr(config->deny.items[i], '.');
            parts[i] = dot == NULL ? config->deny.items[i] : dot + 1;
        }
        r = csb_nameset_init(&config->deny_parts, parts, len);
    }
    free((void *)parts);
    return r;
}

static int
copy_spec(struct csb_guard_config *config, const struct csb_guard_config_spec *spec)
{
    const struct {
        struct csb_nameset *set;
        struct csb_guard_strings from;
    } rows[] = {
        {&config->allow, spec->imports_allow},
        {&config->deny, spec->imports_deny},
        {&config->builtins, spec->builtins_allow},
        {&config->attributes, spec->attributes_allow},
    };
    config->profile = strdup(spec->profile);
    if (config->profile == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < CSB_ARRAY_LEN(rows); i++) {
        int r = csb_nameset_init(rows[i].set, rows[i].from.items, rows[i].from.len);
        if (r < 0) {
            return r;
        }
    }
    if (copy_parts(config) < 0) {
        return -ENOMEM;
    }
    config->allow_all = csb_nameset_has(&config->allow, "*", 1);
    config->limits = spec->limits;
    return copy_help(config, spec);
}

static void
select_rules(struct csb_guard_config *config, const struct csb_guard_config_spec *spec)
{
    for (int i = 0; i < CSB_RULE_COUNT; i++) {
        enum csb_rule_id rule = (enum csb_rule_id)i;
        const struct csb_rule_info *info = csb_rule_info(rule);
        config->enabled[i] = !info->selectable || (any_prefix(rule, spec->select) &&
                                                   !any_prefix(rule, spec->ignore));
        config->severity[i] = info->severity;
        /* Integrity is never only observed: what cannot be read cannot be judged. */
        if (info->severity == CSB_SEVERITY_ERROR && info->selectable &&
            spec->observe[info->family]) {
            config->severity[i] = CSB_SEVERITY_OBSERVED;
        }
    }
}

int
csb_guard_config_new(struct csb_guard_config **ret,
                     const struct csb_guard_config_spec *spec, struct csb_error *reterr)
{
    struct csb_guard_config *config;
    int r = check_prefixes("select", spec->select, reterr);
    r = r < 0 ? r : check_prefixes("ignore", spec->ignore, reterr);
    r = r < 0 ? r : check_limits(&spec->limits, reterr);
    if (r < 0) {
        return r;
    }
    config = calloc(1, sizeof *config);
    if (config == NULL || copy_spec(config, spec) < 0) {
        csb_guard_config_free(config);
        return csb_fail(reterr, CSB_STEP_MEMORY, ENOMEM, "no memory for the rules");
    }
    select_rules(config, spec);
    *ret = config;
    return 0;
}

void
csb_guard_config_free(struct csb_guard_config *config)
{
    if (config == NULL) {
        return;
    }
    free(config->profile);
    csb_nameset_done(&config->allow);
    csb_nameset_done(&config->deny);
    csb_nameset_done(&config->deny_parts);
    csb_nameset_done(&config->builtins);
    csb_nameset_done(&config->attributes);
    for (size_t i = 0; i < config->help_len; i++) {
        free(config->help_names[i]);
        free(config->help_texts[i]);
    }
    free(config->help_names);
    free(config->help_texts);
    free(config);
}

const char *
csb_guard_config_profile(const struct csb_guard_config *config)
{
    return config->profile;
}

const struct csb_guard_limits *
csb_guard_config_limits(const struct csb_guard_config *config)
{
    return &config->limits;
}

bool
csb_guard_config_enabled(const struct csb_guard_config *config, enum csb_rule_id rule)
{
    return config->enabled[rule];
}

enum csb_severity
csb_guard_config_severity(const struct csb_guard_config *config, enum csb_rule_id rule)
{
    return config->severity[rule];
}

enum csb_import
csb_guard_config_import(const struct csb_guard_config *config, const char *dotted,
                        size_t len)
{
    size_t allowed = csb_nameset_longest_prefix(&config->allow, dotted, len);
    size_t denied = csb_nameset_longest_prefix(&config->deny, dotted, len);
    if (denied > 0 && denied >= allowed) {
        return CSB_IMPORT_DENIED;
    }
    if (allowed > 0 || config->allow_all) {
        return CSB_IMPORT_ALLOWED;
    }
    return CSB_IMPORT_UNLISTED;
}

bool
csb_guard_config_denies_part(const struct csb_guard_config *config, const char *name,
                             size_t len)
{
    return csb_nameset_has(&config->deny_parts, name, len);
}

bool
csb_guard_config_allows_builtin(const struct csb_guard_config *config, const char *name,
                                size_t len)
{
    return csb_nameset_has(&config->builtins, name, len);
}

bool
csb_guard_config_allows_attribute(const struct csb_guard_config *config,
                                  const char *name, size_t len)
{
    return csb_nameset_has(&config->attributes, name, len);
}

const char *
csb_guard_config_import_help(const struct csb_guard_config *config, const char *dotted,
                             size_t len)
{
    size_t best_len = 0;
    const char *best = NULL;
    for (size_t i = 0; i < config->help_len; i++) {
        const char *name = config->help_names[i];
        size_t name_len = strlen(name);
        if (name_len <= len && name_len > best_len &&
            strncmp(name, dotted, name_len) == 0 &&
            (name_len == len || dotted[name_len] == '.')) {
            best = config->help_texts[i];
            best_len = name_len;
        }
    }
    return best;
}

const char *
csb_guard_config_nearest_import(const struct csb_guard_config *config,
                                const char *dotted, size_t len)
{
    const char *best = NULL;
    /* One slip in a short name, two in a longer one: more would suggest nonsense. */
    size_t limit = len < 4 ? 0 : len < 6 ? 1 : 2;
    size_t best_distance = limit + 1;
    for (size_t i = 0; i < config->allow.len; i++) {
        const char *item = config->allow.items[i];
        size_t distance = csb_edit_distance(dotted, len, item, strlen(item), limit);
        if (distance < best_distance) {
            best = item;
            best_distance = distance;
        }
    }
    return best;
}

const char *
csb_guard_config_describe_imports(const struct csb_guard_config *config, char *buffer,
                                  size_t size)
{
    size_t used = 0;
    size_t shown = 0;
    size_t total = 0;
    buffer[0] = '\0';
    for (size_t i = 0; i < config->allow.len; i++) {
        /* Submodules are covered by their package, and private names help nobody. */
        const char *item = config->allow.items[i];
        if (item[0] == '_' || item[0] == '*' || strchr(item, '.') != NULL) {
            continue;
        }
        total++;
        if (used + strlen(item) + 20 < size) {
            used += (size_t)snprintf(buffer + used, size - used, "%s%s",
                                     shown == 0 ? "" : ", ", item);
            shown++;
        }
    }
    if (shown < total) {
        (void)snprintf(buffer + used, size - used, " and %zu more", total - shown);
    }
    return buffer;
}
