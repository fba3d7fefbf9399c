/* Theory of operation: open and the library functions that open files by name. open(0), the
 * idiom for reading all of stdin, opens nothing new. Profiles that give a scratch folder let
 * open through (builtins_allow); what it may reach is then the kernel's to decide. */
#include <string.h>

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
    diag =
        csb_report(check, CSB_RULE_302, site->start, site->end, "%s",
                   site->role == CSB_ROLE_CALL
                       ? "`open` is not allowed: there are no files to open"
                       : "`open` is passed around, so what it opens cannot be known");
    csb_diag_label(diag, "file access");
    csb_diag_help(diag, "%s", help);
}

/* Where no honest program looks, also where files may be opened: an absolute path that is
 * neither a standard stream nor a temporary file. */
static bool
leads_outside(const struct csb_text *path)
{
    static const char *const inside[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr",
                                         "/dev/null",  "/dev/fd/",    "/tmp/"};
    if (path->len == 0 || path->bytes[0] != '/') {
        return false;
    }
    for (size_t i = 0; i < CSB_ARRAY_LEN(inside); i++) {
        size_t len = strlen(inside[i]);
        if (path->len >= len && memcmp(path->bytes, inside[i], len) == 0) {
            return false;
        }
    }
    return true;
}

static void
check_path(struct csb_check *check, const struct csb_site *site)
{
    struct csb_text path = {0};
    TSNode file = csb_argument(check, site->parent, 0, "file", NULL);
    char shown[CSB_NAME_BYTES];
    if (csb_fold_string(check, site->scope, file, &path) == CSB_FOLD_WHOLE &&
        leads_outside(&path)) {
        struct csb_diag *diag =
            csb_report(check, CSB_RULE_302, ts_node_start_byte(file),
                       ts_node_end_byte(file), "`%s` is outside the program's folder",
                       csb_escape_name(shown, sizeof shown, path.bytes, path.len));
        csb_diag_label(diag, "not readable from here");
        csb_diag_help(diag, "use a relative path: the current folder is the program's");
    }
    csb_text_done(&path);
}

/* The profile lets files be opened: which, and by what? */
static void
check_lifted(struct csb_check *check, const struct csb_site *site)
{
    char path[CSB_PATH_BYTES];
    const struct csb_member *member;
    if (site->kind == CSB_SITE_NAME) {
        if ((csb_site_flags(check, site) & CSB_N_OPEN) == 0 ||
            !csb_means_builtin(check, site)) {
            return;
        }
        if (site->role == CSB_ROLE_CALL) {
            check_path(check, site);
        } else if (!csb_builtin_is_lifted(check, site)) {
            check_open(check, site);
        }
        return;
    }
    member = site->role == CSB_ROLE_CALL ? csb_site_member(check, site, path) : NULL;
    if (member != NULL && member->rule == CSB_RULE_302) {
        check_path(check, site);
    }
}

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    if (csb_guard_config_allows_builtin(check->config, "open", 4)) {
        check_lifted(check, site);
        return;
    }
    if (site->kind == CSB_SITE_NAME &&
        (csb_site_flags(check, site) & CSB_N_OPEN) != 0) {
        check_open(check, site);
        return;
    }
    csb_report_member(check, site, CSB_RULE_302, help);
}

const struct csb_rule csb_rule_302 = {
    .sites = CSB_SITE_NAME | CSB_SITE_ATTRIBUTE | CSB_SITE_IMPORT,
    .check_site = check_site,
};
