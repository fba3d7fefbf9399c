/* Theory of operation: pickle, marshal and their relatives call whatever their data names,
 * so loading is running. Writing such data is harmless and stays; which functions are guarded
 * is in members.def. */
#include "../ruleset.h"

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    csb_report_member(check, site, CSB_RULE_307, "use json, csv or ast.literal_eval() for data");
}

const struct csb_rule csb_rule_307 = {
    .sites = CSB_SITE_NAME | CSB_SITE_ATTRIBUTE | CSB_SITE_IMPORT,
    .check_site = check_site,
};
