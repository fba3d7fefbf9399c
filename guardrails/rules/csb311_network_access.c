/* Theory of operation: members of asyncio, socket, urllib and http that open connections, for
 * profiles that allow these modules at all. The kernel layers deny the system calls. */
#include "../ruleset.h"

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    csb_report_member(check, site, CSB_RULE_311,
                      "pass the data through stdin or files");
}

const struct csb_rule csb_rule_311 = {
    .sites = CSB_SITE_NAME | CSB_SITE_ATTRIBUTE | CSB_SITE_IMPORT,
    .check_site = check_site,
};
