/* Theory of operation: an import by name is as good as a statement when the name can be computed
 * here and is allowed; otherwise nobody can say what it loads. */
#include <string.h>

#include "../ruleset.h"

static const char help[] = "use an import statement";

/* True when the call's module name is known and the profile allows it. */
static bool
imports_allowed(struct csb_check *check, const struct csb_site *site)
{
    struct csb_text name = {0};
    TSNode argument = csb_argument(check, site->parent, 0, "name", NULL);
    bool allowed =
        site->role == CSB_ROLE_CALL &&
        csb_fold_string(check, site->scope, argument, &name) == CSB_FOLD_WHOLE &&
        name.len > 0 &&
        csb_guard_config_import(check->config, name.bytes, name.len) ==
            CSB_IMPORT_ALLOWED;
    csb_text_done(&name);
    return allowed;
}

static void
report_call(struct csb_check *check, const struct csb_site *site, const char *function)
{
    struct csb_diag *diag;
    struct csb_text name = {0};
    char shown[CSB_NAME_BYTES];
    TSNode argument = csb_argument(check, site->parent, 0, "name", NULL);
    if (csb_guard_config_allows_builtin(check->config, function, strlen(function)) ||
        imports_allowed(check, site)) {
        return;
    }
    if (site->role == CSB_ROLE_CALL &&
        csb_fold_string(check, site->scope, argument, &name) == CSB_FOLD_WHOLE) {
        diag =
            csb_report(check, CSB_RULE_104, site->start, site->end,
                       "`%s` imports `%s`, which profile `%s` does not allow", function,
                       csb_escape_name(shown, sizeof shown,
                                       name.bytes == NULL ? "" : name.bytes, name.len),
                       csb_guard_config_profile(check->config));
    } else if (site->role == CSB_ROLE_CALL) {
        diag = csb_report(check, CSB_RULE_104, site->start, site->end,
                          "`%s` imports a module whose name cannot be known", function);
    } else {
        diag = csb_report(check, CSB_RULE_104, site->start, site->end,
                          "`%s` is passed around, so what it imports cannot be known",
                          function);
    }
    csb_diag_help(diag, "%s", help);
    csb_text_done(&name);
}

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    char path[CSB_PATH_BYTES];
    const struct csb_member *member;
    if (site->kind == CSB_SITE_NAME &&
        (csb_site_flags(check, site) & CSB_N_IMPORT) != 0) {
        if (csb_means_builtin(check, site) || site->role != CSB_ROLE_READ) {
            report_call(check, site, "__import__");
        }
        return;
    }
    member = csb_site_member(check, site, path);
    if (member != NULL && member->rule == CSB_RULE_104 &&
        strcmp(member->member, "import_module") == 0) {
        if (site->kind != CSB_SITE_IMPORT) {
            report_call(check, site, "import_module");
        }
        return;
    }
    csb_report_member(check, site, CSB_RULE_104, help);
}

const struct csb_rule csb_rule_104 = {
    .sites = CSB_SITE_NAME | CSB_SITE_ATTRIBUTE | CSB_SITE_IMPORT,
    .check_site = check_site,
};
