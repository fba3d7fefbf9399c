/* Theory of operation: a class that defines one of the inner special attributes plants it where
 * the interpreter or a C library will read it (__array_interface__ hands numpy any address).
 * Ordinary protocol methods are untouched. */
#include "../ruleset.h"

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    uint32_t flags = csb_site_flags(check, site);
    struct csb_diag *diag;
    if ((flags & CSB_N_DUNDER_INNER) == 0 || (flags & CSB_N_IMPORT) != 0 ||
        check->scopes.items[site->scope].kind != CSB_SCOPE_CLASS ||
        (site->role != CSB_ROLE_STORE && site->role != CSB_ROLE_HIDDEN)) {
        return;
    }
    diag = csb_report_special(check, CSB_RULE_205, site, "a class must not define", "");
    csb_diag_label(diag, "read by the interpreter or by C code");
    csb_diag_help(diag, "give the attribute a name without double underscores");
}

const struct csb_rule csb_rule_205 = {
    .sites = CSB_SITE_NAME | CSB_SITE_FUNCTION,
    .check_site = check_site,
};
