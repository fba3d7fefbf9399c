/* Theory of operation: sys.setrecursionlimit with a number beyond what the C stack holds turns
 * deep recursion from a RecursionError into a crash. Advice. */
#include <stdlib.h>
#include <string.h>

#include "../ruleset.h"

#define BIG_LIMIT 1000000

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    char path[CSB_PATH_BYTES];
    TSNode argument;
    size_t len;
    const char *text;
    char digits[24];
    bool big;
    struct csb_diag *diag;
    if (site->role != CSB_ROLE_CALL ||
        !csb_resolve(check, site->scope, csb_callee(check, site->parent), path) ||
        strcmp(path, "sys.setrecursionlimit") != 0) {
        return;
    }
    argument = csb_unwrap(check, csb_argument(check, site->parent, 0, NULL, NULL));
    if (ts_node_is_null(argument)) {
        return;
    }
    text = csb_node_text(check, argument, &len);
    (void)csb_escape_name(digits, sizeof digits, text, len);
    big = csb_kind(check, argument) == CSB_K_INTEGER &&
          strtoll(digits, NULL, 10) > BIG_LIMIT;
    big = big || (csb_kind(check, argument) == CSB_K_BINARY_OPERATOR &&
                  strncmp(digits, "10**", 4) == 0 && strtoll(digits + 4, NULL, 10) > 6);
    if (big) {
        diag = csb_report(check, CSB_RULE_404, site->start, site->end,
                          "recursion this deep overflows the C stack before the limit");
        csb_diag_help(diag,
                      "use a loop with a stack of your own, or a limit up to 1000000");
    }
}

const struct csb_rule csb_rule_404 = {
    .sites = CSB_SITE_ATTRIBUTE | CSB_SITE_NAME,
    .check_site = check_site,
};
