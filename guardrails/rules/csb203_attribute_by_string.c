/* Theory of operation: getattr and its kin, attrgetter, methodcaller and the accessor methods take
 * an attribute's name as a string. Strings are folded first, so that every way to write a name
 * is the name. Names that cannot be known are CSB303's. */
#include <string.h>

#include "../ruleset.h"

static void
report(struct csb_check *check, const struct csb_site *site, TSNode at,
       const char *name, size_t len)
{
    char shown[CSB_NAME_BYTES];
    struct csb_diag *diag =
        csb_report_named(check, CSB_RULE_203, at, "this string names", name, len);
    csb_diag_label(diag, "the same as `.%s`",
                   csb_escape_name(shown, sizeof shown, name, len));
    csb_diag_help(diag, "use a builtin such as type(), isinstance() or vars() instead");
    csb_imported_here(check, site, diag);
}

/* getattr(random, "_os"), getattr(os, "system"): what the name means on that module. */
static bool
is_guarded_on_module(struct csb_check *check, const struct csb_site *site,
                     const struct csb_text *name)
{
    char path[CSB_PATH_BYTES];
    TSNode receiver = csb_argument(check, site->parent, 0, NULL, NULL);
    if (!csb_resolve(check, site->scope, receiver, path)) {
        return false;
    }
    return csb_member_find(path, strlen(path), name->bytes, name->len) != NULL ||
           (csb_name_flags(name->bytes, name->len) & CSB_N_LEAK) != 0;
}

static void
check_argument(struct csb_check *check, const struct csb_site *site, TSNode node,
               enum csb_access access, bool receiver)
{
    struct csb_text name = {0};
    if (csb_fold_string(check, site->scope, node, &name) == CSB_FOLD_WHOLE &&
        name.len > 0) {
        size_t len = 0;
        const char *part = csb_refused_part(check, name.bytes, name.len, access, &len);
        if (part != NULL) {
            report(check, site, node, part, len);
        } else if (receiver && is_guarded_on_module(check, site, &name)) {
            report(check, site, node, name.bytes, name.len);
        }
    }
    csb_text_done(&name);
}

/* attrgetter(*NAMES), where NAMES is a list that is known. */
static void
check_known(struct csb_check *check, const struct csb_site *site, TSNode splat)
{
    struct csb_folder folder = {.check = check, .scope = site->scope};
    struct csb_value list = {0};
    csb_fold_node(&folder, csb_first_child(splat), &list);
    for (size_t i = 0; i < list.len; i++) {
        const struct csb_value *item = &list.items[i];
        size_t len = 0;
        const char *part = NULL;
        if (item->kind == CSB_V_TEXT && item->whole && item->text.len > 0) {
            part = csb_refused_part(check, item->text.bytes, item->text.len,
                                    CSB_ACCESS_READ, &len);
        }
        if (part != NULL) {
            report(check, site, splat, part, len);
        }
    }
    csb_value_done(&list);
}

/* The list that `*[...]` is written with, or a null node. */
static TSNode
shown_list(const struct csb_check *check, TSNode splat)
{
    TSNode none = {0};
    TSNode list = csb_unwrap(check, csb_first_child(splat));
    enum csb_kind kind = csb_kind(check, list);
    return csb_kind(check, splat) == CSB_K_LIST_SPLAT &&
                   (kind == CSB_K_LIST || kind == CSB_K_TUPLE || kind == CSB_K_SET)
               ? list
               : none;
}

/* The items of a list that is written out, or the arguments of a call. */
static void
check_each(struct csb_check *check, const struct csb_site *site, TSNode parent,
           bool arguments)
{
    struct csb_children items;
    TSNode node;
    csb_children_open(&items, parent);
    while (csb_children_next(&items, &node)) {
        if (csb_kind(check, node) != CSB_K_LIST_SPLAT) {
            check_argument(check, site, node, CSB_ACCESS_READ, false);
        } else if (!arguments || ts_node_is_null(shown_list(check, node))) {
            check_known(check, site, node);
        }
    }
    csb_children_close(&items);
}

/* attrgetter("real", *["__class__"]): of any length, where the list is written out. */
static void
check_getter(struct csb_check *check, const struct csb_site *site)
{
    TSNode list = csb_field(check, site->parent, CSB_F_ARGUMENTS);
    struct csb_children arguments;
    TSNode node;
    check_each(check, site, list, true);
    csb_children_open(&arguments, list);
    while (csb_children_next(&arguments, &node)) {
        check_each(check, site, shown_list(check, node), false);
    }
    csb_children_close(&arguments);
}

/* map(attrgetter, names): nobody can say which attributes are read. */
static void
check_passed(struct csb_check *check, const struct csb_site *site)
{
    char path[CSB_PATH_BYTES];
    struct csb_site called = *site;
    const struct csb_member *member;
    struct csb_diag *diag;
    if (site->kind == CSB_SITE_IMPORT || site->role != CSB_ROLE_READ) {
        return;
    }
    called.role = CSB_ROLE_CALL;
    member = csb_site_member(check, &called, path);
    if (member == NULL || member->rule != CSB_RULE_203 ||
        member->when != CSB_WHEN_BYNAME) {
        return;
    }
    diag = csb_report(check, CSB_RULE_203, site->start, site->end,
                      "`%s` is passed around, so which attributes it reads cannot be "
                      "known",
                      member->member);
    csb_diag_label(diag, "cannot be known");
    csb_diag_help(diag, "call it where it is needed: %s(\"name\")", member->member);
    csb_imported_here(check, site, diag);
}

static enum csb_access
access_of(const struct csb_check *check, uint32_t atom)
{
    if (csb_atom_is(check, atom, "hasattr")) {
        return CSB_ACCESS_TEST;
    }
    return csb_atom_is(check, atom, "getattr") ? CSB_ACCESS_READ : CSB_ACCESS_WRITE;
}

/* x.agg("__class__") asks for an attribute by name. */
static void
check_method(struct csb_check *check, const struct csb_site *site, uint32_t flags)
{
    uint32_t most = (flags & CSB_N_ACCESSOR) != 0 ? 2 : 1;
    if (site->role != CSB_ROLE_CALL) {
        return;
    }
    for (uint32_t i = 0; i < most; i++) {
        TSNode node = csb_argument(check, site->parent, i, NULL, NULL);
        if (!ts_node_is_null(node)) {
            check_argument(check, site, node, CSB_ACCESS_READ, false);
        }
    }
}

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    uint32_t flags = csb_site_flags(check, site);
    char path[CSB_PATH_BYTES];
    const struct csb_member *member;
    if (site->kind == CSB_SITE_NAME && (flags & CSB_N_GETATTR) != 0) {
        if (site->role == CSB_ROLE_CALL && csb_means_builtin(check, site)) {
            check_argument(check, site,
                           csb_argument(check, site->parent, 1, NULL, NULL),
                           access_of(check, site->atom), true);
        }
        return;
    }
    if (site->kind == CSB_SITE_ATTRIBUTE &&
        (flags & (CSB_N_ACCESSOR | CSB_N_STRINGCALL)) != 0) {
        check_method(check, site, flags);
    }
    check_passed(check, site);
    member = csb_site_member(check, site, path);
    if (member == NULL || member->rule != CSB_RULE_203) {
        return;
    }
    if (member->when != CSB_WHEN_BYNAME) {
        csb_report_member(check, site, CSB_RULE_203, "read the attribute itself");
    } else if (site->role == CSB_ROLE_CALL) {
        check_getter(check, site);
    }
}

const struct csb_rule csb_rule_203 = {
    .sites = CSB_SITE_NAME | CSB_SITE_ATTRIBUTE | CSB_SITE_IMPORT,
    .check_site = check_site,
};
