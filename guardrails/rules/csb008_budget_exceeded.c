/* Theory of operation: the engine counts tokens, steps, nodes and folds, and keeps a clock far
 * behind them; what cannot be looked at within the budget is refused, because unseen is not the
 * same as clean. */
#include "../rule.h"

static void
report(struct csb_check *check, struct csb_diag *diag)
{
    (void)check;
    if (diag != NULL) {
        diag->whole_source = true;
    }
    csb_diag_help(diag, "make the source smaller: keep data out of the code");
}

void
csb_report_nodes(struct csb_check *check, uint32_t nodes)
{
    report(check,
           csb_report(
               check, CSB_RULE_008, 0, 0,
               "the source has %u syntax nodes, more than %llu", nodes,
               (unsigned long long)csb_guard_config_limits(check->config)->max_nodes));
}

void
csb_report_tokens(struct csb_check *check, uint64_t most, size_t at)
{
    struct csb_diag *diag =
        csb_report(check, CSB_RULE_008, at, at + 1,
                   "the source has more than %llu tokens, too many for %zu bytes",
                   (unsigned long long)most, check->source->len);
    csb_diag_label(diag, "counted up to here");
    csb_diag_help(diag, "make the source smaller: keep data out of the code");
}

void
csb_report_steps(struct csb_check *check, size_t at)
{
    struct csb_diag *diag =
        csb_report(check, CSB_RULE_008, at, at + 1,
                   "the source takes the parser more steps than %zu bytes may",
                   check->source->len);
    csb_diag_label(diag, "read up to here");
    csb_diag_help(diag,
                  "write it plainly: a long run of continuation lines or of nested "
                  "constructs is read again and again");
}

/* Both are true, and the first is what its author has to know. The second stays when CPython can
 * read the source after all: what lies behind was not looked at. */
void
csb_report_broken(struct csb_check *check, size_t first, size_t at)
{
    struct csb_diag *diag =
        csb_report(check, CSB_RULE_001, first, first + 1,
                   "the source has a syntax error at or before this place");
    csb_diag_label(diag, "cannot be read as Python");
    csb_diag_help(diag,
                  "look for a missing bracket, quote, colon or indentation above");
    diag =
        csb_report(check, CSB_RULE_008, at, at + 1,
                   "the source has so many syntax errors that the rest was not read");
    csb_diag_label(diag, "read up to here");
    csb_diag_help(diag, "correct the first of them: text that is not code belongs into "
                        "comments");
}

void
csb_report_time(struct csb_check *check)
{
    report(check,
           check->fold_budget == 0
               ? csb_report(check, CSB_RULE_008, 0, 0,
                            "folding the constants of the source takes more than %llu "
                            "steps",
                            (unsigned long long)check->spent.folds)
               : csb_report(check, CSB_RULE_008, 0, 0,
                            "the check took more than %llu ms of CPU time",
                            (unsigned long long)csb_guard_config_limits(check->config)
                                ->max_time_ms));
}

const struct csb_rule csb_rule_008 = {0};
