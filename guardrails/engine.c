/* Theory of operation: bytes -> source -> source rules -> tree -> walk -> site rules -> sorted
 * findings. In the caller's process, GIL released, everything on heap objects of this call.
 * Order matters: a source that is too large, not UTF-8 or holds NUL is never given to the
 * parser. Whatever cannot be finished (memory, a budget) is a refusal, never a pass. */
#include "engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "parse.h"
#include "rule.h"
#include "walk.h"

#define FOLD_STEPS 20000
#define CLOCK_EVERY 64

static const struct csb_rule *const rules[CSB_RULE_COUNT] = {
#define CSB_RULE(code, name, family, severity, selectable, summary)                    \
    [CSB_RULE_##code] = &csb_rule_##code,
#include "rules.def"
#undef CSB_RULE
};

uint64_t
csb_guard_now_ns(void)
{
    struct timespec now;
    /* Of this thread, so that a busy machine refuses nothing; cannot fail with this clock. */
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void
run_source_rules(struct csb_check *check)
{
    for (size_t i = 0; i < CSB_RULE_COUNT; i++) {
        if (rules[i]->check_source != NULL) {
            rules[i]->check_source(check);
        }
    }
}

static void
run_site_rules(struct csb_check *check)
{
    for (size_t at = 0; at < check->site_len; at++) {
        if (check->out_of_time || (at % CLOCK_EVERY == 0 && csb_too_late(check))) {
            return;
        }
        for (size_t i = 0; i < CSB_RULE_COUNT; i++) {
            if ((rules[i]->sites & check->sites[at].kind) != 0) {
                rules[i]->check_site(check, &check->sites[at]);
            }
        }
    }
}

static void
check_tree(struct csb_check *check)
{
    TSTree *tree = csb_parse(check);
    if (tree != NULL) {
        csb_walk(check, tree);
        if (!check->out_of_time && !check->failed) {
            run_site_rules(check);
        }
        ts_tree_delete(tree);
    }
    if (check->out_of_time) {
        csb_report_time(check);
    }
}

static void
check_init(struct csb_check *check, const struct csb_guard_config *config,
           const struct csb_grammar *grammar, struct csb_findings *findings)
{
    memset(check, 0, sizeof *check);
    check->config = config;
    check->grammar = grammar;
    check->source = &findings->source;
    check->diags = &findings->diags;
    check->fold_budget = FOLD_STEPS + (uint64_t)findings->source.len;
    check->deadline_ns =
        csb_guard_now_ns() +
        csb_guard_config_limits(config)->max_time_ms * UINT64_C(1000000);
    check->failed =
        csb_atoms_init(&check->atoms) < 0 || csb_scopes_init(&check->scopes) < 0;
}

static void
check_done(struct csb_check *check)
{
    csb_atoms_done(&check->atoms);
    csb_scopes_done(&check->scopes);
    csb_text_done(&check->paths);
    free(check->sites);
}

int
csb_check_source(const struct csb_guard_config *config,
                 const struct csb_grammar *grammar, const char *bytes, size_t len,
                 struct csb_findings *ret, struct csb_error *reterr)
{
    return csb_check_witnessed(config, grammar, bytes, len, NULL, ret, reterr);
}

int
csb_check_witnessed(const struct csb_guard_config *config,
                    const struct csb_grammar *grammar, const char *bytes, size_t len,
                    struct csb_witness *witness, struct csb_findings *ret,
                    struct csb_error *reterr)
{
    struct csb_check check;
    const struct csb_guard_limits *limits = csb_guard_config_limits(config);
    bool failed;
    csb_diags_init(&ret->diags, (uint32_t)limits->max_findings_per_rule);
    if (csb_source_init(&ret->source, bytes, len, limits->max_source_bytes) < 0) {
        return csb_fail(reterr, CSB_STEP_MEMORY, ENOMEM,
                        "no memory to check the source");
    }
    check_init(&check, config, grammar, ret);
    check.witness = witness;
    if (!check.failed) {
        run_source_rules(&check);
        if (ret->source.invalid_utf8 == CSB_NOWHERE && ret->source.nul == CSB_NOWHERE &&
            !ret->source.cut) {
            check_tree(&check);
        }
    }
    failed = check.failed || check.paths.failed || ret->diags.failed;
    ret->seen = (struct csb_seen){check.atoms, check.paths};
    ret->spent = check.spent;
    check.atoms = (struct csb_atoms){0};
    check.paths = (struct csb_text){0};
    check_done(&check);
    if (failed) {
        csb_findings_done(ret);
        return csb_fail(reterr, CSB_STEP_MEMORY, ENOMEM,
                        "no memory to check the source");
    }
    csb_diags_finish(&ret->diags, &ret->source);
    return 0;
}

void
csb_findings_done(struct csb_findings *findings)
{
    csb_source_done(&findings->source);
    csb_diags_done(&findings->diags);
    csb_seen_done(&findings->seen);
}
