/* Theory of operation: a class whose __eq__ is just `return True` passes every comparison of a
 * test. A signal for monitors; unittest.mock.ANY is an honest relative. */
#include "../rule.h"

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    TSNode body;
    TSNode first;
    struct csb_diag *diag;
    if (!csb_atom_is(check, site->atom, "__eq__") ||
        csb_kind(check, site->parent) != CSB_K_FUNCTION_DEFINITION) {
        return;
    }
    body = csb_field(check, site->parent, CSB_F_BODY);
    if (ts_node_is_null(body) || csb_child_count(body) != 1) {
        return;
    }
    first = csb_first_child(body);
    if (csb_kind(check, first) == CSB_K_RETURN &&
        csb_kind(check, csb_first_child(first)) == CSB_K_TRUE) {
        diag = csb_report(check, CSB_RULE_406, site->start, site->end,
                          "this class is equal to everything");
        csb_diag_help(diag, "compare the attributes that matter");
    }
}

const struct csb_rule csb_rule_406 = {
    .sites = CSB_SITE_FUNCTION,
    .check_site = check_site,
};
