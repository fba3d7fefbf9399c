/* Theory of operation: a profile may allow a package and take a submodule or a member out again:
 * `import a.b`, `from a import b`, and `a.b` after `import a` all reach it. */
#include <string.h>

#include "../ruleset.h"

static void
report(struct csb_check *check, const struct csb_site *site, const char *name,
       size_t len)
{
    char shown[CSB_NAME_BYTES];
    const char *own = csb_guard_config_import_help(check->config, name, len);
    struct csb_diag *diag = csb_report(check, CSB_RULE_105, site->start, site->end,
                                       "`%s` is denied by profile `%s`",
                                       csb_escape_name(shown, sizeof shown, name, len),
                                       csb_guard_config_profile(check->config));
    csb_diag_label(diag, "taken out of what the profile allows");
    if (own != NULL) {
        csb_diag_help(diag, "%s", own);
    }
    csb_imported_here(check, site, diag);
}

static void
check_attribute(struct csb_check *check, const struct csb_site *site)
{
    char path[CSB_PATH_BYTES];
    const struct csb_atom *atom = csb_atom_of(check, site->atom);
    size_t used;
    if ((atom->flags & CSB_N_DENIED) == 0 || !csb_resolve_receiver(check, site, path)) {
        return;
    }
    used = strlen(path);
    if (used + 1 + atom->len >= sizeof path) {
        return;
    }
    path[used] = '.';
    memcpy(path + used + 1, atom->name, atom->len);
    used += 1 + atom->len;
    if (csb_guard_config_import(check->config, path, used) == CSB_IMPORT_DENIED) {
        report(check, site, path, used);
    }
}

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    const char *module;
    struct csb_text full = {0};
    if (site->kind == CSB_SITE_ATTRIBUTE) {
        check_attribute(check, site);
        return;
    }
    if (csb_kind(check, site->node) == CSB_K_RELATIVE_IMPORT) {
        return;
    }
    module = check->paths.bytes + site->path;
    csb_text_puts(&full, module);
    if (site->atom != CSB_NO_ATOM) {
        /* The module itself is refused in its own right. */
        if (csb_guard_config_import(check->config, module, strlen(module)) !=
            CSB_IMPORT_ALLOWED) {
            csb_text_done(&full);
            return;
        }
        csb_text_puts(&full, ".");
        csb_text_add(&full, csb_atom_of(check, site->atom)->name,
                     csb_atom_of(check, site->atom)->len);
    }
    if (full.bytes != NULL && csb_guard_config_import(check->config, full.bytes,
                                                      full.len) == CSB_IMPORT_DENIED) {
        report(check, site, full.bytes, full.len);
    }
    check->failed = check->failed || full.failed;
    csb_text_done(&full);
}

const struct csb_rule csb_rule_105 = {.sites = CSB_SITE_IMPORT | CSB_SITE_ATTRIBUTE,
                                      .check_site = check_site};
