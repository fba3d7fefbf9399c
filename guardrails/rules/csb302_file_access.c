/* Theory of operation: open and the library functions that open files by name. open(0), the
 * idiom for reading all of stdin, opens nothing new. Profiles that give a scratch folder let
 * open through (builtins_allow); what it may reach is then the kernel's to decide. */
#include "../ruleset.h"

static const char help[] = "read from stdin (input(), sys.stdin) and print the result";

/* open(0) and open(0, "r"): standard input. */
static bool
opens_stdin(struct csb_check *check, const struct csb_site *site)
{
    TSNode file = csb_argument(check, site->parent, 0, "file", NULL);
    TSNode mode = csb_argument(check, site->parent, 1, "mode", NULL);
    return site->role == CSB_ROLE_CALL && !ts_node_is_null(file) &&
           csb_node_text_is(check, file, "0") &&
           (ts_node_is_null(mode) || csb_node_text_is(check, mode, "'r'") ||
            csb_node_text_is(check, mode, "\"r\"") ||
            csb_node_text_is(check, mode, "'rb'") ||
            csb_node_text_is(check, mode, "\"rb\""));
}

static void
check_open(struct csb_check *check, const struct csb_site *site)
{
    struct csb_diag *diag;
    if ((site->role != CSB_ROLE_READ && site->role != CSB_ROLE_CALL) ||
        !csb_means_builtin(check, site) || opens_stdin(check, site)) {
        return;
    }
    diag = csb_report(check, CSB_RULE_302, site->start, site->end, "%s",
                      site->role == CSB_ROLE_CALL
                          ? "`open` is not allowed: there are no files to open"
                          : "`open` is passed around, so what it opens cannot be known");
    csb_diag_label(diag, "file access");
    csb_diag_help(diag, "%s", help);
}

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    if (csb_guard_config_allows_builtin(check->config, "open", 4)) {
        return;
    }
    if (site->kind == CSB_SITE_NAME && (csb_site_flags(check, site) & CSB_N_OPEN) != 0) {
        check_open(check, site);
        return;
    }
    csb_report_member(check, site, CSB_RULE_302, help);
}

const struct csb_rule csb_rule_302 = {
    .sites = CSB_SITE_NAME | CSB_SITE_ATTRIBUTE | CSB_SITE_IMPORT,
    .check_site = check_site,
};
