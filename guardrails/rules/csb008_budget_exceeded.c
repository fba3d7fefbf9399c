/* Theory of operation: the engine and the walk count nodes and time; what cannot be looked at
 * within the budget is refused, because unseen is not the same as clean. */
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
csb_report_time(struct csb_check *check)
{
    report(check,
           csb_report(check, CSB_RULE_008, 0, 0,
                      "the check took more CPU time than a source of %zu bytes may",
                      check->source->len));
}

const struct csb_rule csb_rule_008 = {0};
