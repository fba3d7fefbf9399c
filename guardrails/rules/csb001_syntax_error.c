/* Theory of operation: an ERROR or MISSING node means that the parser could not read the source,
 * so no other rule can vouch for it. One report per broken place. Python 2's print and exec
 * statements parse, but CPython 3 refuses them. */
#include <string.h>

#include "../rule.h"

/* Inside a place that was already reported? */
static bool
covered(const struct csb_check *check, uint32_t start)
{
    for (size_t i = check->diags->len; i > 0; i--) {
        const struct csb_diag *diag = &check->diags->items[i - 1];
        if (diag->rule == CSB_RULE_001) {
            return start < diag->end;
        }
    }
    return false;
}

static void
report_python2(struct csb_check *check, const struct csb_site *site, const char *name)
{
    struct csb_diag *diag;
    TSNode first = csb_first_child(site->node);
    /* `print (a), b` is a tuple in Python 3. */
    if (!ts_node_is_null(first) && csb_kind(check, first) != CSB_K_CHEVRON &&
        check->source->text[ts_node_start_byte(first)] == '(') {
        return;
    }
    diag = csb_report(check, CSB_RULE_001, site->start,
                      site->start + (uint32_t)strlen(name),
                      "`%s` is a statement only in Python 2", name);
    csb_diag_label(diag, "not Python 3");
    csb_diag_help(diag, "call it as a function: `%s(...)`", name);
}

static void
report_error(struct csb_check *check, const struct csb_site *site)
{
    size_t len;
    const char *text = csb_node_text(check, site->node, &len);
    char shown[CSB_NAME_BYTES];
    struct csb_diag *diag;
    size_t used = 0;
    if (ts_node_is_missing(site->node)) {
        (void)csb_report(check, CSB_RULE_001, site->start, site->start + 1,
                         "the source has a syntax error: expected `%s` here",
                         csb_escape_name(shown, sizeof shown, ts_node_type(site->node),
                                         strlen(ts_node_type(site->node))));
        return;
    }
    while (used < len && used < 24 && text[used] != '\n') {
        used++;
    }
    diag = csb_report(check, CSB_RULE_001, site->start, site->start + used,
                      "the source has a syntax error at `%s`",
                      csb_escape_name(shown, sizeof shown, text, used));
    csb_diag_label(diag, "cannot be read as Python");
    csb_diag_help(diag,
                  "look for a missing bracket, quote, colon or indentation above");
}

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    switch (csb_kind(check, site->node)) {
    case CSB_K_PRINT:
        report_python2(check, site, "print");
        break;
    case CSB_K_EXEC:
        report_python2(check, site, "exec");
        break;
    case CSB_K_CHEVRON:
        break;
    case CSB_K_PATTERN_LIST:
        break; /* CSB010 */
    case CSB_K_STRING:
        if (site->end > site->start && check->source->text[site->start] == '`') {
            (void)csb_report(check, CSB_RULE_001, site->start, site->end,
                             "backquotes are syntax only in Python 2");
        }
        break;
    default:
        if (!covered(check, site->start)) {
            report_error(check, site);
        }
        break;
    }
}

const struct csb_rule csb_rule_001 = {
    .sites = CSB_SITE_ERROR | CSB_SITE_STRING,
    .check_site = check_site,
};
