/* Theory of operation: C code below CPython and the parser may stop at a NUL; CPython refuses
 * one. Nothing else is checked then. */
#include "../rule.h"

static void
check_source(struct csb_check *check)
{
    size_t at = check->source->nul;
    struct csb_diag *diag;
    if (at == CSB_NOWHERE) {
        return;
    }
    diag = csb_report(check, CSB_RULE_007, at, at + 1, "the source holds a NUL byte");
    csb_diag_help(diag, "write it as an escape in a string: \"\\0\"");
}

const struct csb_rule csb_rule_007 = {.check_source = check_source};
