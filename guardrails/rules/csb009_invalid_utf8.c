/* Theory of operation: strict UTF-8, as CPython reads it: no overlong forms, no surrogates.
 * Nothing else is checked when this fails. */
#include "../rule.h"

static void
check_source(struct csb_check *check)
{
    size_t at = check->source->invalid_utf8;
    struct csb_diag *diag;
    /* What was cut off because the source is too large may end within a character. */
    if (at == CSB_NOWHERE || check->source->cut) {
        return;
    }
    diag = csb_report(check, CSB_RULE_009, at, at + 1,
                      "the source is not valid UTF-8: byte 0x%02x cannot stand here",
                      (unsigned)(unsigned char)check->source->text[at]);
    csb_diag_help(diag, "save the source as UTF-8");
}

const struct csb_rule csb_rule_009 = {.check_source = check_source};
