/* Theory of operation: a submission is one file without a package, so a relative import can only
 * fail or reach something that is not the submission's. */
#include "../rule.h"

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    struct csb_diag *diag;
    if (site->atom != CSB_NO_ATOM ||
        csb_kind(check, site->node) != CSB_K_RELATIVE_IMPORT) {
        return;
    }
    diag = csb_report(check, CSB_RULE_102, site->start, site->end,
                      "a relative import has nothing to be relative to");
    csb_diag_label(diag, "the source is not part of a package");
    csb_diag_help(diag, "import the module by its full name");
}

const struct csb_rule csb_rule_102 = {.sites = CSB_SITE_IMPORT, .check_site = check_site};
