/* Theory of operation: each imported module is looked up in the profile's lists; the longest
 * entry decides, what no entry covers is refused. The message names what is allowed instead. */
#include <string.h>

#include "../rule.h"

static void
add_help(struct csb_check *check, struct csb_diag *diag, const char *module)
{
    char allowed[300];
    size_t len = strlen(module);
    const char *own = csb_guard_config_import_help(check->config, module, len);
    const char *near = csb_guard_config_nearest_import(check->config, module, len);
    if (own != NULL) {
        csb_diag_help(diag, "%s", own);
    } else if (near != NULL) {
        csb_diag_help(diag, "did you mean `%s`?", near);
    } else {
        csb_diag_help(
            diag, "allowed modules: %s",
            csb_guard_config_describe_imports(check->config, allowed, sizeof allowed));
    }
}

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    const char *module = check->paths.bytes + site->path;
    char shown[CSB_NAME_BYTES];
    struct csb_diag *diag;
    if (site->atom != CSB_NO_ATOM ||
        csb_kind(check, site->node) == CSB_K_RELATIVE_IMPORT ||
        csb_guard_config_import(check->config, module, strlen(module)) !=
            CSB_IMPORT_UNLISTED) {
        return;
    }
    diag = csb_report(check, CSB_RULE_101, site->start, site->end,
                      "import of `%s` is not allowed by profile `%s`",
                      csb_escape_name(shown, sizeof shown, module, strlen(module)),
                      csb_guard_config_profile(check->config));
    csb_diag_label(diag, "not in the list of allowed imports");
    add_help(check, diag, module);
}

const struct csb_rule csb_rule_101 = {.sites = CSB_SITE_IMPORT,
                                      .check_site = check_site};
