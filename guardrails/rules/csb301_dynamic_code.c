/* Theory of operation: eval, exec and compile, the library functions that do the same, and
 * methods that hand a string to an evaluator (pandas' query with @, sympy's subs). A name that the
 * source certainly binds itself (`def compile(...)`) and every method (`re.compile`) stay. */
#include <string.h>

#include "../ruleset.h"

static const char help[] =
    "call the function itself, or read data with ast.literal_eval() or json.loads()";

static void
report(struct csb_check *check, const struct csb_site *site, const char *name)
{
    struct csb_diag *diag;
    if (site->role == CSB_ROLE_CALL) {
        diag = csb_report(check, CSB_RULE_301, site->start, site->end,
                          "`%s` runs a string as code, which no check can look into",
                          name);
    } else {
        diag =
            csb_report(check, CSB_RULE_301, site->start, site->end,
                       "`%s` is passed around, so what it runs cannot be known", name);
    }
    csb_diag_label(diag, "dynamic code");
    csb_diag_help(diag, "%s", help);
}

/* df.query("@os.system(...)"): an @ followed by a name that is called or walked. */
static bool
reaches_out(const struct csb_text *text)
{
    const char *at = text->bytes;
    if (memchr(at, '\0', text->len) != NULL || strstr(at, "__") != NULL) {
        return true;
    }
    while ((at = strchr(at, '@')) != NULL) {
        at++;
        at += strspn(at,
                     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
        if (*at == '(' || *at == '.') {
            return true;
        }
    }
    return false;
}

static bool
is_evaluated(const struct csb_check *check, const struct csb_site *site)
{
    return csb_atom_is(check, site->atom, "query") ||
           csb_atom_is(check, site->atom, "eval");
}

/* x.subs(y, "print(1)"): sympy evaluates what is not a formula. */
static bool
is_call_text(const struct csb_text *text)
{
    const char *open = strchr(text->bytes, '(');
    size_t word;
    if (open == NULL || memchr(text->bytes, '\0', text->len) != NULL) {
        return open != NULL || text->len > strlen(text->bytes);
    }
    for (word = 0;
         open - word > text->bytes && strchr(" (", open[-1 - (long)word]) == NULL;
         word++) {
    }
    return (csb_name_flags(open - word, word) & CSB_N_BUILTIN) != 0 ||
           strpbrk(text->bytes, "'\"") != NULL;
}

static void
check_method(struct csb_check *check, const struct csb_site *site)
{
    bool evaluated = is_evaluated(check, site);
    if (site->role != CSB_ROLE_CALL ||
        (!evaluated && !csb_atom_is(check, site->atom, "subs"))) {
        return;
    }
    for (uint32_t i = 0; i < 2; i++) {
        struct csb_text text = {0};
        TSNode node =
            csb_argument(check, site->parent, i, i == 0 ? "expr" : NULL, NULL);
        if (!ts_node_is_null(node) &&
            csb_fold_string(check, site->scope, node, &text) != CSB_FOLD_UNKNOWN &&
            text.len > 0 && (evaluated ? reaches_out(&text) : is_call_text(&text))) {
            struct csb_diag *diag =
                csb_report(check, CSB_RULE_301, ts_node_start_byte(node),
                           ts_node_end_byte(node), "this string is evaluated as code");
            csb_diag_label(diag, "dynamic code");
            csb_diag_help(diag, "%s", help);
        }
        csb_text_done(&text);
    }
}

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    char name[CSB_NAME_BYTES];
    if (site->kind == CSB_SITE_ERROR) {
        /* `exec ("code") in scope` is Python 2 for the parser and a call for CPython. */
        if (csb_kind(check, site->node) == CSB_K_EXEC) {
            report(check, site, "exec");
        }
        return;
    }
    if (site->kind == CSB_SITE_NAME &&
        (csb_site_flags(check, site) & CSB_N_CODE) != 0) {
        if ((site->role == CSB_ROLE_READ || site->role == CSB_ROLE_CALL) &&
            csb_means_builtin(check, site) && !csb_builtin_is_lifted(check, site)) {
            report(check, site, csb_atom_text(check, site->atom, name));
        }
        return;
    }
    if (site->kind == CSB_SITE_ATTRIBUTE &&
        (csb_site_flags(check, site) & CSB_N_STRINGCALL) != 0) {
        check_method(check, site);
    }
    csb_report_member(check, site, CSB_RULE_301, help);
}

const struct csb_rule csb_rule_301 = {
    .sites = CSB_SITE_NAME | CSB_SITE_ATTRIBUTE | CSB_SITE_IMPORT | CSB_SITE_ERROR,
    .check_site = check_site,
};
