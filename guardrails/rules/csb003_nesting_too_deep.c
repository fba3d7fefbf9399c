/* Theory of operation: depth is measured by the walk, indentation statement by statement. Both
 * bound what other readers of the source (CPython's compiler among them) must recurse into. */
#include "../rule.h"

/* The parser keeps indentation in a narrow integer; beyond it the blocks that it reads are not
 * those that CPython reads. No honest statement stands that far to the right. */
#define WIDEST_INDENT 255

void
csb_report_depth(struct csb_check *check, TSNode node)
{
    uint32_t start = ts_node_start_byte(node);
    struct csb_diag *diag = csb_report(
        check, CSB_RULE_003, start, start + 1,
        "the source is nested deeper than %llu levels",
        (unsigned long long)csb_guard_config_limits(check->config)->max_depth);
    csb_diag_help(diag, "split the expression or the function into smaller ones");
}

void
csb_check_indent(struct csb_check *check, TSNode statement)
{
    uint32_t start = ts_node_start_byte(statement);
    uint32_t column = ts_node_start_point(statement).column;
    uint32_t width = 0;
    struct csb_diag *diag;
    if (column <= WIDEST_INDENT / 8) {
        return;
    }
    for (uint32_t at = start - column; at < start; at++) {
        char character = check->source->text[at];
        if (character != ' ' && character != '\t' && character != '\f') {
            return;
        }
        width += character == '\t' ? 8 : 1;
    }
    if (width > WIDEST_INDENT) {
        diag = csb_report(check, CSB_RULE_003, start, start + 1,
                          "a statement is indented by %u columns, more than %d", width,
                          WIDEST_INDENT);
        csb_diag_help(diag, "indent by four columns a level");
    }
}

const struct csb_rule csb_rule_003 = {0};
