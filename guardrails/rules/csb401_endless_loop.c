/* Theory of operation: `while True:` without break, return, raise, yield, await or a call that may
 * leave it. Advice: the time limit ends such a program anyway. Looks at a bounded part of the
 * body, and keeps silent when that is not enough. */
#include "../resolve.h"
#include "../rule.h"

#define MOST_NODES 2000

static bool
is_always_true(const struct csb_check *check, TSNode condition)
{
    condition = csb_unwrap(check, condition);
    switch (csb_kind(check, condition)) {
    case CSB_K_TRUE:
        return true;
    case CSB_K_INTEGER:
        return !csb_node_text_is(check, condition, "0");
    default:
        return false;
    }
}

/* Any node in the body by which control may leave the loop? */
static bool
may_leave(const struct csb_check *check, TSNode body)
{
    TSTreeCursor cursor = ts_tree_cursor_new(body);
    bool leaves = false;
    int left = MOST_NODES;
    int depth = 0;
    for (; !leaves; left--) {
        enum csb_kind kind =
            csb_kind(check, ts_tree_cursor_current_node(&cursor));
        leaves = left == 0 || kind == CSB_K_BREAK || kind == CSB_K_RETURN ||
                 kind == CSB_K_RAISE || kind == CSB_K_YIELD || kind == CSB_K_AWAIT ||
                 kind == CSB_K_CALL || kind == CSB_K_SUBSCRIPT || kind == CSB_K_ASSERT;
        if (ts_tree_cursor_goto_first_child(&cursor)) {
            depth++;
            continue;
        }
        while (depth > 0 && !ts_tree_cursor_goto_next_sibling(&cursor)) {
            (void)ts_tree_cursor_goto_parent(&cursor); /* depth says that there is one */
            depth--;
        }
        if (depth == 0) {
            break;
        }
    }
    ts_tree_cursor_delete(&cursor);
    return leaves;
}

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    TSNode condition = csb_field(check, site->node, CSB_F_CONDITION);
    TSNode body = csb_field(check, site->node, CSB_F_BODY);
    struct csb_diag *diag;
    if (ts_node_is_null(body) || !is_always_true(check, condition) ||
        may_leave(check, body)) {
        return;
    }
    diag = csb_report(check, CSB_RULE_401, site->start, site->start + 5,
                      "this loop has no way out");
    csb_diag_help(diag, "add a break, or a condition that becomes false");
}

const struct csb_rule csb_rule_401 = {.sites = CSB_SITE_WHILE, .check_site = check_site};
