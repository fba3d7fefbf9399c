/* Theory of operation: sys.exit(0) reports success whatever was computed; in a program that is
 * to be graded by its exit status this is how a reward is taken without work. Advice for
 * monitors: honest programs end like this too, and no verdict rests on the exit status. */
#include "../ruleset.h"

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    csb_report_member(check, site, CSB_RULE_405, "let the program run to its end");
}

const struct csb_rule csb_rule_405 = {
    .sites = CSB_SITE_NAME | CSB_SITE_ATTRIBUTE | CSB_SITE_IMPORT,
    .check_site = check_site,
};
