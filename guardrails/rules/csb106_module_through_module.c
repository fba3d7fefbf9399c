/* Theory of operation: modules import other modules, and those stay reachable as attributes:
 * random._os, dataclasses.sys. Names from a fixed table are refused on anything that is known to
 * be a module; the few that only ever mean a module (_os, _sys, ...) on any receiver but self. */
#include <string.h>

#include "../ruleset.h"

static void
report(struct csb_check *check, const struct csb_site *site, const char *module)
{
    char name[CSB_NAME_BYTES];
    char shown[CSB_NAME_BYTES];
    struct csb_diag *diag;
    (void)csb_atom_text(check, site->atom, name);
    if (module != NULL) {
        diag = csb_report(check, CSB_RULE_106, site->start, site->end,
                          "the module `%s` is reached through `%s`", name,
                          csb_escape_name(shown, sizeof shown, module, strlen(module)));
    } else {
        diag =
            csb_report(check, CSB_RULE_106, site->start, site->end,
                       "`%s` is the name by which modules keep another module", name);
    }
    csb_diag_label(diag, "a module behind a module");
    csb_diag_help(diag, "import the module by its own name, if the profile allows it");
    csb_imported_here(check, site, diag);
}

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    uint32_t flags = csb_site_flags(check, site);
    char path[CSB_PATH_BYTES];
    const struct csb_atom *atom;
    if ((flags & CSB_N_LEAK) == 0) {
        return;
    }
    atom = csb_atom_of(check, site->atom);
    if (csb_guard_config_allows_attribute(check->config, atom->name, atom->len)) {
        return;
    }
    if (site->kind == CSB_SITE_IMPORT) {
        report(check, site, check->paths.bytes + site->path);
    } else if (csb_resolve_receiver(check, site, path)) {
        report(check, site, path);
    } else if ((flags & CSB_N_LEAK_ANY) != 0 &&
               !csb_is_self(check, csb_receiver(check, site))) {
        report(check, site, NULL);
    }
}

const struct csb_rule csb_rule_106 = {
    .sites = CSB_SITE_ATTRIBUTE | CSB_SITE_IMPORT,
    .check_site = check_site,
};
