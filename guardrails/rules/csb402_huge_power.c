/* Theory of operation: 9**9**9 never ends and takes all memory. Only powers of constants are
 * looked at; advice, because the limits end the program anyway. */
#include <stdlib.h>

#include "../resolve.h"
#include "../rule.h"

#define BIG_EXPONENT 1000000

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    TSNode base = csb_unwrap(check, csb_field(check, site->node, CSB_F_LEFT));
    TSNode exponent = csb_unwrap(check, csb_field(check, site->node, CSB_F_RIGHT));
    struct csb_diag *diag;
    bool tower;
    if (!csb_node_text_is(check, csb_field(check, site->node, CSB_F_OPERATOR), "**") ||
        csb_kind(check, base) != CSB_K_INTEGER || csb_node_text_is(check, base, "0") ||
        csb_node_text_is(check, base, "1")) {
        return;
    }
    tower = csb_kind(check, exponent) == CSB_K_BINARY_OPERATOR &&
            csb_node_text_is(check, csb_field(check, exponent, CSB_F_OPERATOR), "**");
    if (csb_kind(check, exponent) == CSB_K_INTEGER) {
        size_t len;
        const char *text = csb_node_text(check, exponent, &len);
        char digits[24];
        (void)csb_escape_name(digits, sizeof digits, text, len);
        tower = len < sizeof digits && strtoll(digits, NULL, 10) >= BIG_EXPONENT;
    }
    if (tower) {
        diag = csb_report(check, CSB_RULE_402, site->start, site->end,
                          "this power of constants is a number of enormous size");
        csb_diag_help(diag, "use pow(base, exponent, modulus), or floats");
    }
}

const struct csb_rule csb_rule_402 = {.sites = CSB_SITE_OPERATOR, .check_site = check_site};
