/* Theory of operation: a profile may allow a package and take a submodule out again; both
 * `import a.b` and `from a import b` reach it. */
#include <string.h>

#include "../resolve.h"
#include "../rule.h"

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    const char *module = check->paths.bytes + site->path;
    char shown[CSB_NAME_BYTES];
    struct csb_text full = {0};
    struct csb_diag *diag;
    const char *own;
    if (csb_kind(check, site->node) == CSB_K_RELATIVE_IMPORT) {
        return;
    }
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
    if (full.bytes != NULL &&
        csb_guard_config_import(check->config, full.bytes, full.len) == CSB_IMPORT_DENIED) {
        diag = csb_report(check, CSB_RULE_105, site->start, site->end,
                          "import of `%s` is denied by profile `%s`",
                          csb_escape_name(shown, sizeof shown, full.bytes, full.len),
                          csb_guard_config_profile(check->config));
        csb_diag_label(diag, "taken out of an allowed package");
        own = csb_guard_config_import_help(check->config, full.bytes, full.len);
        if (own != NULL) {
            csb_diag_help(diag, "%s", own);
        }
    }
    check->failed = check->failed || full.failed;
    csb_text_done(&full);
}

const struct csb_rule csb_rule_105 = {.sites = CSB_SITE_IMPORT,
                                      .check_site = check_site};
