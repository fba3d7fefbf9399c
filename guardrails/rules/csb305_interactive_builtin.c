/* Theory of operation: breakpoint, help and the site printers start a debugger or a pager, or
 * read files of the host; input() needs a stdin, exit() and quit() are the prompt's. Profiles
 * whose programs read stdin let the last three through. The names are ordinary words, so only
 * uses that nothing in the source binds count. */
#include "../rule.h"

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    const struct csb_atom *atom;
    char name[CSB_NAME_BYTES];
    struct csb_diag *diag;
    if ((csb_site_flags(check, site) & CSB_N_INTERACTIVE) == 0) {
        return;
    }
    atom = csb_atom_of(check, site->atom);
    if ((site->role != CSB_ROLE_READ && site->role != CSB_ROLE_CALL) ||
        csb_scope_find(&check->scopes, site->scope, site->atom) != NULL ||
        csb_guard_config_allows_builtin(check->config, atom->name, atom->len)) {
        return;
    }
    diag = csb_report(check, CSB_RULE_305, site->start, site->end,
                      "`%s` is for a person at the keyboard",
                      csb_atom_text(check, site->atom, name));
    csb_diag_label(diag, "interactive");
    csb_diag_help(diag, "print what you want to see");
}

const struct csb_rule csb_rule_305 = {.sites = CSB_SITE_NAME, .check_site = check_site};
