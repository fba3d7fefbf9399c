/* Theory of operation: hooks that the interpreter calls by itself (tracing, auditing, import)
 * run code where no call is to be seen, and hand it frames. Members of sys, threading and gc. */
#include "../ruleset.h"

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    csb_report_member(check, site, CSB_RULE_310, "call the function where it is needed");
}

const struct csb_rule csb_rule_310 = {
    .sites = CSB_SITE_NAME | CSB_SITE_ATTRIBUTE | CSB_SITE_IMPORT,
    .check_site = check_site,
};
