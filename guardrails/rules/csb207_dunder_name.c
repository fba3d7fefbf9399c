/* Theory of operation: a few bare special names are inner objects of the interpreter that every
 * module finds in its globals. Names such as __name__ and __file__ are plain data and stay, and
 * so does any special name that the source itself binds. */
#include "../ruleset.h"

static bool
is_bound(const struct csb_check *check, const struct csb_site *site)
{
    return csb_scope_find(&check->scopes, site->scope, site->atom) != NULL;
}

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    uint32_t flags = csb_site_flags(check, site);
    struct csb_diag *diag;
    bool magic = (flags & CSB_N_MAGIC) != 0;
    if ((flags & CSB_N_DUNDER) == 0 || (flags & CSB_N_IMPORT) != 0) {
        return;
    }
    /* In a class body it is a definition: CSB205. */
    if (check->scopes.items[site->scope].kind == CSB_SCOPE_CLASS &&
        site->role == CSB_ROLE_STORE) {
        return;
    }
    if (!magic && (!csb_dunder_is_refused(flags) || is_bound(check, site))) {
        return;
    }
    diag = csb_report_special(check, CSB_RULE_207, site, "the name",
                              " is an inner object of the interpreter");
    csb_diag_label(diag, "not allowed");
    csb_diag_help(diag, "use the builtins and modules by their own names");
}

const struct csb_rule csb_rule_207 = {
    .sites = CSB_SITE_NAME | CSB_SITE_FUNCTION,
    .check_site = check_site,
};
