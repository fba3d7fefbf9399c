/* Theory of operation: a variable called `open` is the author's right; taking it away again
 * (`del open`) brings the builtin back, and storing into the module builtins changes it for
 * everybody. Reads of a name whose binding is not certain are reported by the rule that guards
 * the builtin. */
#include <string.h>

#include "../ruleset.h"

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    uint32_t flags = csb_site_flags(check, site);
    char name[CSB_NAME_BYTES];
    char path[CSB_PATH_BYTES];
    struct csb_diag *diag;
    if (site->kind == CSB_SITE_NAME) {
        if (site->role != CSB_ROLE_DELETE || (flags & CSB_N_BUILTIN) == 0) {
            return;
        }
        diag = csb_report(check, CSB_RULE_306, site->start, site->end,
                          "deleting `%s` brings the guarded builtin back",
                          csb_atom_text(check, site->atom, name));
        csb_diag_help(diag, "use another name for the variable");
        return;
    }
    if (site->kind == CSB_SITE_ATTRIBUTE && site->role != CSB_ROLE_READ &&
        site->role != CSB_ROLE_CALL && csb_resolve_receiver(check, site, path) &&
        strcmp(path, "builtins") == 0) {
        diag = csb_report(check, CSB_RULE_306, site->start, site->end,
                          "the builtin `%s` is replaced for every module",
                          csb_atom_text(check, site->atom, name));
        csb_diag_help(diag, "define a function of your own");
        return;
    }
    csb_report_member(check, site, CSB_RULE_306, "define a function of your own");
}

const struct csb_rule csb_rule_306 = {
    .sites = CSB_SITE_NAME | CSB_SITE_ATTRIBUTE | CSB_SITE_IMPORT,
    .check_site = check_site,
};
