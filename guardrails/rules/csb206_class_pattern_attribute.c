/* Theory of operation: `case object(__class__=c)` reads an attribute without a dot, and
 * __match_args__ names attributes as strings for positional patterns. */
#include <string.h>

#include "../ruleset.h"

static void
report(struct csb_check *check, size_t start, size_t end, const char *name)
{
    struct csb_diag *diag =
        csb_report(check, CSB_RULE_206, start, end,
                   "a class pattern reads the refused attribute `%s`", name);
    csb_diag_label(diag, "reads the attribute");
    csb_diag_help(diag, "match on ordinary attributes or on the class itself");
}

static void
check_match_args(struct csb_check *check, const struct csb_site *site)
{
    TSNode value = csb_unwrap(check, csb_field(check, site->parent, CSB_F_RIGHT));
    struct csb_children items;
    TSNode item;
    csb_children_open(&items, value);
    while (csb_children_next(&items, &item)) {
        struct csb_text text = {0};
        char shown[CSB_NAME_BYTES];
        if (csb_fold_string(check, site->scope, item, &text) == CSB_FOLD_WHOLE &&
            text.len > 0 &&
            csb_name_is_refused(check, text.bytes, text.len, CSB_ACCESS_READ)) {
            report(check, ts_node_start_byte(item), ts_node_end_byte(item),
                   csb_escape_name(shown, sizeof shown, text.bytes, text.len));
        }
        csb_text_done(&text);
    }
    csb_children_close(&items);
}

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    const struct csb_atom *atom = csb_atom_of(check, site->atom);
    char name[CSB_NAME_BYTES];
    if (site->kind == CSB_SITE_PATTERN) {
        if (csb_name_is_refused(check, atom->name, atom->len, CSB_ACCESS_READ)) {
            report(check, site->start, site->end,
                   csb_atom_text(check, site->atom, name));
        }
    } else if (site->role == CSB_ROLE_STORE &&
               csb_kind(check, site->parent) == CSB_K_ASSIGNMENT &&
               csb_atom_is(check, site->atom, "__match_args__")) {
        check_match_args(check, site);
    }
}

const struct csb_rule csb_rule_206 = {
    .sites = CSB_SITE_PATTERN | CSB_SITE_NAME | CSB_SITE_ATTRIBUTE,
    .check_site = check_site,
};
