/* Theory of operation: x.__dict__["__init__"] and vars(x)["__init__"] are attribute reads by
 * string. Only constant special keys can be seen; vars() of a module is CSB304's. */
#include "../ruleset.h"

/* The constant key with which `namespace` is indexed right here, or a null node. */
static TSNode
key_of(const struct csb_check *check, TSNode namespace)
{
    TSNode none = {0};
    TSNode parent = ts_node_parent(namespace);
    if (csb_kind(check, parent) == CSB_K_SUBSCRIPT) {
        TSNode key = csb_field(check, parent, CSB_F_SUBSCRIPT);
        return ts_node_eq(key, namespace) ? none : key;
    }
    if (csb_kind(check, parent) == CSB_K_ATTRIBUTE) {
        TSNode method = csb_field(check, parent, CSB_F_ATTRIBUTE);
        TSNode call = ts_node_parent(parent);
        if (csb_kind(check, call) == CSB_K_CALL &&
            (csb_node_text_is(check, method, "get") ||
             csb_node_text_is(check, method, "pop") ||
             csb_node_text_is(check, method, "setdefault") ||
             csb_node_text_is(check, method, "__getitem__"))) {
            return csb_argument(check, call, 0, NULL, NULL);
        }
    }
    return none;
}

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    struct csb_text text = {0};
    TSNode key = {0};
    if (site->kind == CSB_SITE_ATTRIBUTE && csb_atom_is(check, site->atom, "__dict__")) {
        key = key_of(check, site->node);
    } else if (site->kind == CSB_SITE_NAME && site->role == CSB_ROLE_CALL &&
               (csb_site_flags(check, site) & CSB_N_NAMESPACE) != 0) {
        key = key_of(check, site->parent);
    }
    if (!ts_node_is_null(key) &&
        csb_fold_string(check, site->scope, key, &text) == CSB_FOLD_WHOLE && text.len > 0 &&
        csb_name_is_refused(check, text.bytes, text.len, CSB_ACCESS_READ)) {
        char shown[CSB_NAME_BYTES];
        struct csb_diag *diag = csb_report(
            check, CSB_RULE_208, ts_node_start_byte(key), ts_node_end_byte(key),
            "a namespace is indexed with the special name `%s`",
            csb_escape_name(shown, sizeof shown, text.bytes, text.len));
        csb_diag_label(diag, "the same as the attribute");
        csb_diag_help(diag, "use ordinary names as keys");
    }
    csb_text_done(&text);
}

const struct csb_rule csb_rule_208 = {
    .sites = CSB_SITE_ATTRIBUTE | CSB_SITE_NAME,
    .check_site = check_site,
};
