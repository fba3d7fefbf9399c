/* Theory of operation: CPython compares identifiers after NFKC, so `_＿class__` is `__class__`.
 * Every identifier passes here once (from the walk), and one that NFKC changes is refused, so
 * that all other rules may compare spellings. */
#include <stdlib.h>
#include <string.h>

#include "../rule.h"

void
csb_check_normalised(struct csb_check *check, uint32_t atom, uint32_t start)
{
    const struct csb_atom *item = csb_atom_of(check, atom);
    bool failed;
    char *folded = csb_nfkc_changed(item->name, item->len, &failed);
    char shown[CSB_NAME_BYTES];
    char plain[CSB_NAME_BYTES];
    struct csb_diag *diag;
    if (folded == NULL) {
        check->failed = check->failed || failed;
        return;
    }
    (void)csb_escape_name(plain, sizeof plain, folded, strlen(folded));
    diag = csb_report(check, CSB_RULE_005, start, start + item->len,
                      "the identifier `%s` is read by CPython as `%s`",
                      csb_escape_name(shown, sizeof shown, item->name, item->len), plain);
    csb_diag_label(diag, "CPython runs `%s`", plain);
    csb_diag_help(diag, "write the name as CPython reads it: `%s`", plain);
    free(folded);
}

const struct csb_rule csb_rule_005 = {0};
