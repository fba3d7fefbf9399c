/* Theory of operation: getattr(x, name) with a variable is everyday code and stays. Refused are
 * getattr as a value (map(getattr, ...)), names that begin with two underscores but cannot be
 * known to the end, names picked from dir(), and computed names on a display of data, where no
 * honest program needs them. A profile's builtins_allow has no say: plain calls are never
 * refused, and these uses are what the rule is for. */
#include "../ruleset.h"

static void
report(struct csb_check *check, TSNode at, const char *what, const char *help)
{
    struct csb_diag *diag = csb_report(check, CSB_RULE_303, ts_node_start_byte(at),
                                       ts_node_end_byte(at), "%s", what);
    csb_diag_label(diag, "cannot be known");
    csb_diag_help(diag, "%s", help);
}

/* Does the expression take its parts from dir()? */
static bool
mentions_dir(const struct csb_check *check, TSNode node)
{
    size_t len;
    const char *text = csb_node_text(check, node, &len);
    for (size_t at = 0; at + 4 <= len; at++) {
        if (text[at] == 'd' && text[at + 1] == 'i' && text[at + 2] == 'r' &&
            text[at + 3] == '(') {
            return csb_kind(check, csb_unwrap(check, node)) != CSB_K_IDENTIFIER;
        }
    }
    return false;
}

static bool
begins_like_dunder(const struct csb_text *text)
{
    return text->len >= 2 && text->bytes[0] == '_' && text->bytes[1] == '_';
}

static void
check_call(struct csb_check *check, const struct csb_site *site)
{
    TSNode object = csb_argument(check, site->parent, 0, NULL, NULL);
    bool splat;
    TSNode name = csb_argument(check, site->parent, 1, NULL, &splat);
    struct csb_text text = {0};
    enum csb_fold fold;
    if (ts_node_is_null(name)) {
        if (splat) {
            report(check, site->parent, "the attribute's name is hidden in * arguments",
                   "write the attribute's name where it is used");
        }
        return;
    }
    fold = csb_fold_string(check, site->scope, name, &text);
    if (fold == CSB_FOLD_PREFIX && begins_like_dunder(&text)) {
        report(check, name,
               "this name begins with two underscores and its end is computed",
               "write the special attribute's name out");
    } else if (fold != CSB_FOLD_WHOLE &&
               (csb_is_literal(check, object) || mentions_dir(check, name))) {
        report(check, name,
               "the attribute's name is computed, so nobody can say what is read",
               "use a dictionary from names to functions");
    }
    csb_text_done(&text);
}

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    if ((csb_site_flags(check, site) & CSB_N_GETATTR) == 0 ||
        !csb_means_builtin(check, site)) {
        return;
    }
    if (site->role == CSB_ROLE_CALL) {
        check_call(check, site);
    } else if (site->role == CSB_ROLE_READ) {
        report(
            check, site->node,
            "the function is passed around, so which attributes it reads cannot be known",
            "call it where it is needed, or use operator.attrgetter(\"name\")");
    }
}

const struct csb_rule csb_rule_303 = {.sites = CSB_SITE_NAME, .check_site = check_site};
