/* Theory of operation: members of os, signal and asyncio that start, signal or end processes,
 * for profiles that allow these modules at all. The kernel layers deny the system calls. */
#include "../ruleset.h"

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    csb_report_member(check, site, CSB_RULE_308, "do the work in this program");
}

const struct csb_rule csb_rule_308 = {
    .sites = CSB_SITE_NAME | CSB_SITE_ATTRIBUTE | CSB_SITE_IMPORT,
    .check_site = check_site,
};
