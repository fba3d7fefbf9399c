/* Theory of operation: [0] * 10**10 takes all memory at once. Only a display or string times a
 * plain constant is looked at; advice. */
#include <stdlib.h>

#include "../resolve.h"
#include "../rule.h"

#define BIG_COUNT 200000000

/* A number that is written out, or ten to a written power; 0 when it is neither. */
static long long
constant(const struct csb_check *check, TSNode node)
{
    char digits[24];
    size_t len;
    const char *text;
    node = csb_unwrap(check, node);
    if (csb_kind(check, node) == CSB_K_BINARY_OPERATOR &&
        csb_node_text_is(check, csb_field(check, node, CSB_F_OPERATOR), "**") &&
        csb_node_text_is(check, csb_field(check, node, CSB_F_LEFT), "10")) {
        long long power;
        text = csb_node_text(check, csb_field(check, node, CSB_F_RIGHT), &len);
        (void)csb_escape_name(digits, sizeof digits, text, len);
        power = strtoll(digits, NULL, 10);
        return power >= 9 ? BIG_COUNT : 0;
    }
    if (csb_kind(check, node) != CSB_K_INTEGER) {
        return 0;
    }
    text = csb_node_text(check, node, &len);
    (void)csb_escape_name(digits, sizeof digits, text, len);
    return len < sizeof digits ? strtoll(digits, NULL, 10) : BIG_COUNT;
}

static bool
is_sequence(const struct csb_check *check, TSNode node)
{
    enum csb_kind kind = csb_kind(check, csb_unwrap(check, node));
    return kind == CSB_K_LIST || kind == CSB_K_TUPLE || kind == CSB_K_STRING ||
           kind == CSB_K_CONCATENATED_STRING;
}

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    TSNode left = csb_field(check, site->node, CSB_F_LEFT);
    TSNode right = csb_field(check, site->node, CSB_F_RIGHT);
    struct csb_diag *diag;
    if (!csb_node_text_is(check, csb_field(check, site->node, CSB_F_OPERATOR), "*")) {
        return;
    }
    if ((is_sequence(check, left) && constant(check, right) >= BIG_COUNT) ||
        (is_sequence(check, right) && constant(check, left) >= BIG_COUNT)) {
        diag = csb_report(check, CSB_RULE_403, site->start, site->end,
                          "this repetition makes an object of enormous size");
        csb_diag_help(diag, "use a generator, itertools.repeat() or a smaller size");
    }
}

const struct csb_rule csb_rule_403 = {.sites = CSB_SITE_OPERATOR, .check_site = check_site};
