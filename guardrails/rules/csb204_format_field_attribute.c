/* Theory of operation: "{0.__class__}".format(x) reads attributes. Templates are looked for where
 * str.format and its kin get them (receiver, first argument) and, when any of these occurs in
 * the source, in every other string literal. {0.__class__.__name__} is honest and stays. */
#include <string.h>

#include "../ruleset.h"

static void
report(struct csb_check *check, TSNode at, const char *part, size_t len)
{
    char shown[CSB_NAME_BYTES];
    struct csb_diag *diag = csb_report_named(
        check, CSB_RULE_204, at, "a format field of this string reads", part, len);
    csb_diag_label(diag, "`%s` in a format field",
                   csb_escape_name(shown, sizeof shown, part, len));
    csb_diag_help(diag, "format the value itself, or type(x).__name__");
}

static void
check_template(struct csb_check *check, const struct csb_site *site, TSNode node)
{
    struct csb_text text = {0};
    size_t len = 0;
    const char *part;
    if (ts_node_is_null(node) ||
        csb_fold_string(check, site->scope, node, &text) == CSB_FOLD_UNKNOWN) {
        csb_text_done(&text);
        return;
    }
    part = text.bytes == NULL ? NULL
                              : csb_refused_field(check, text.bytes, text.len, &len);
    if (part == NULL && csb_atom_is(check, site->atom, "get_field") && text.len > 0) {
        part = csb_refused_part(check, text.bytes, text.len, CSB_ACCESS_READ, &len);
    }
    if (part != NULL) {
        report(check, node, part, len);
    }
    csb_text_done(&text);
}

/* input().format(x): whoever writes stdin writes the template. */
static void
check_foreign(struct csb_check *check, const struct csb_site *site, TSNode receiver)
{
    TSNode call = csb_unwrap(check, receiver);
    if (csb_kind(check, call) == CSB_K_CALL &&
        csb_node_text_is(check, csb_callee(check, call), "input")) {
        struct csb_diag *diag = csb_report(
            check, CSB_RULE_204, site->start, site->end,
            "the format template comes from the input, so its fields can read "
            "any attribute");
        csb_diag_help(diag, "use a template of your own, or str.replace()");
    }
}

/* "%(__class__)s" asks a mapping, f"{x:__class__}" a __format__ method: both get the name. */
static void
check_literal(struct csb_check *check, const struct csb_site *site)
{
    size_t len;
    const char *text = csb_node_text(check, site->node, &len);
    const char *key = memmem(text, len, "%(", 2);
    const char *part = NULL;
    size_t part_len = 0;
    if (csb_kind(check, site->node) == CSB_K_FORMAT_SPECIFIER) {
        if (memchr(text, '{', len) == NULL) {
            part = csb_refused_word(check, text, len, &part_len);
        }
    } else if (key != NULL) {
        const char *close = memchr(key, ')', len - (size_t)(key - text));
        if (close != NULL) {
            part = csb_refused_word(check, key, (size_t)(close - key), &part_len);
        }
    }
    if (part != NULL) {
        report(check, site->node, part, part_len);
    } else if (check->formats && csb_kind(check, site->node) == CSB_K_STRING) {
        check_template(check, site, site->node);
    }
}

/* @"{0}".format: nobody decorates with a string. */
static void
check_decorator(struct csb_check *check, const struct csb_site *site)
{
    if (csb_kind(check, site->parent) == CSB_K_DECORATOR &&
        csb_is_literal(check, csb_receiver(check, site))) {
        struct csb_diag *diag =
            csb_report(check, CSB_RULE_204, site->start, site->end,
                       "a string's format method is used as a decorator");
        csb_diag_help(diag, "call it on a value");
    }
}

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    if (site->kind == CSB_SITE_TEMPLATE) {
        check_literal(check, site);
        return;
    }
    if (site->kind == CSB_SITE_NAME) {
        /* getattr("{0.__class__}", "format") */
        if ((csb_site_flags(check, site) & CSB_N_GETATTR) != 0 &&
            site->role == CSB_ROLE_CALL) {
            check_template(check, site,
                           csb_argument(check, site->parent, 0, NULL, NULL));
        }
        return;
    }
    if ((csb_site_flags(check, site) & CSB_N_FORMAT) == 0) {
        return;
    }
    check_template(check, site, csb_receiver(check, site));
    check_foreign(check, site, csb_receiver(check, site));
    check_decorator(check, site);
    if (site->role == CSB_ROLE_CALL) {
        check_template(check, site, csb_argument(check, site->parent, 0, "fmt", NULL));
    }
}

const struct csb_rule csb_rule_204 = {
    .sites = CSB_SITE_ATTRIBUTE | CSB_SITE_TEMPLATE | CSB_SITE_NAME,
    .check_site = check_site,
};
