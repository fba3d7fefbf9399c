/* Theory of operation: places where the parser is known to read something else than CPython, so
 * that code could hide. The general answer is the child's walk over the code objects, which
 * reports under the same code; these two can be seen without it. */
#include "../literal.h"
#include "../rule.h"

static void
report(struct csb_check *check, size_t start, size_t end, const char *what,
       const char *help)
{
    struct csb_diag *diag = csb_report(check, CSB_RULE_010, start, end, "%s", what);
    csb_diag_label(diag, "read differently by CPython");
    csb_diag_help(diag, "%s", help);
}

/* The parser takes `\u` and `\N` in a bytes literal for the start of a longer escape and may
 * swallow the closing quote. */
static void
check_bytes(struct csb_check *check, const struct csb_site *site)
{
    struct csb_literal literal;
    const char *text = check->source->text + site->start;
    size_t rest = check->source->len - site->start;
    size_t end;
    if (!csb_literal_open(text, rest, &literal) || literal.format) {
        return;
    }
    end = csb_literal_end(text, rest, &literal);
    if (end != site->end - site->start) {
        report(check, site->start, site->end,
               "this bytes literal ends elsewhere for CPython than for the parser",
               "write a backslash in a bytes literal as \\\\");
    }
}

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    if (site->kind == CSB_SITE_STRING) {
        check_bytes(check, site);
    } else if (csb_kind(check, site->node) == CSB_K_PATTERN_LIST) {
        report(check, site->start, site->end,
               "this assignment spans lines for the parser, but not for CPython",
               "put the targets on one line or in parentheses");
    }
}

const struct csb_rule csb_rule_010 = {
    .sites = CSB_SITE_STRING | CSB_SITE_ERROR,
    .check_site = check_site,
};
