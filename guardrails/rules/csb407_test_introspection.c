/* Theory of operation: reading the source of the caller or of a test is a way to find the
 * expected answer instead of computing it. A signal for monitors; teaching code does it too. */
#include "../ruleset.h"

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    csb_report_member(check, site, CSB_RULE_407, "compute the result from the arguments");
}

const struct csb_rule csb_rule_407 = {
    .sites = CSB_SITE_NAME | CSB_SITE_ATTRIBUTE | CSB_SITE_IMPORT,
    .check_site = check_site,
};
