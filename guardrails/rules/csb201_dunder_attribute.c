/* Theory of operation: special attributes are sorted by tables.c into protocol methods and
 * descriptive data (fine), the shape of a class (fine where honest code reads it), and all
 * others (refused, whatever CPython may add). Names that the source defines itself are its own. */
#include <string.h>

#include "../ruleset.h"

/* The receiver is the source's own class, self or cls, or the class of either. */
static bool
is_own(struct csb_check *check, const struct csb_site *site, TSNode receiver)
{
    receiver = csb_unwrap(check, receiver);
    if (csb_is_self(check, receiver) ||
        csb_is_own_class(check, site->scope, receiver)) {
        return true;
    }
    if (csb_kind(check, receiver) == CSB_K_CALL &&
        csb_node_text_is(check, csb_callee(check, receiver), "type")) {
        TSNode of = csb_argument(check, receiver, 0, NULL, NULL);
        return csb_kind(check, of) == CSB_K_IDENTIFIER;
    }
    return csb_kind(check, receiver) == CSB_K_ATTRIBUTE &&
           csb_node_text_is(check, csb_field(check, receiver, CSB_F_ATTRIBUTE),
                            "__class__") &&
           csb_is_self(check, csb_field(check, receiver, CSB_F_OBJECT));
}

/* A name that nothing in the source binds: a builtin such as str or type. */
static bool
is_builtin_name(struct csb_check *check, const struct csb_site *site, TSNode receiver)
{
    return csb_kind(check, csb_unwrap(check, receiver)) == CSB_K_IDENTIFIER &&
           csb_local_of(check, site->scope, receiver) == NULL;
}

/* __class__, __dict__, __mro__, __bases__: does an honest program do this? */
static bool
shape_is_refused(struct csb_check *check, const struct csb_site *site, TSNode receiver)
{
    char path[CSB_PATH_BYTES];
    if (csb_is_literal(check, receiver) || csb_resolve_receiver(check, site, path)) {
        return true;
    }
    if (csb_atom_is(check, site->atom, "__class__")) {
        return site->role == CSB_ROLE_STORE && !csb_is_self(check, receiver);
    }
    if (csb_atom_is(check, site->atom, "__dict__")) {
        return is_builtin_name(check, site, receiver);
    }
    return !is_own(check, site, receiver);
}

/* f.__kwdefaults__["a"] = 5 changes what a function of somebody else does. */
static bool
changes_defaults(const struct csb_check *check, const struct csb_site *site)
{
    if (!csb_atom_is(check, site->atom, "__defaults__") &&
        !csb_atom_is(check, site->atom, "__kwdefaults__")) {
        return false;
    }
    if (csb_kind(check, site->parent) == CSB_K_SUBSCRIPT) {
        TSNode holder = ts_node_parent(site->parent);
        return csb_kind(check, holder) == CSB_K_ASSIGNMENT &&
               ts_node_eq(csb_field(check, holder, CSB_F_LEFT), site->parent);
    }
    return site->role == CSB_ROLE_STORE;
}

/* e.__context__.__traceback__ walks to frames that no except clause was meant to see. */
static bool
walks_exceptions(const struct csb_check *check, const struct csb_site *site,
                 TSNode receiver)
{
    TSNode name;
    receiver = csb_unwrap(check, receiver);
    if (!csb_atom_is(check, site->atom, "__traceback__") ||
        csb_kind(check, receiver) != CSB_K_ATTRIBUTE) {
        return false;
    }
    name = csb_field(check, receiver, CSB_F_ATTRIBUTE);
    return csb_node_text_is(check, name, "__context__") ||
           csb_node_text_is(check, name, "__cause__");
}

static bool
is_refused(struct csb_check *check, const struct csb_site *site, uint32_t flags,
           TSNode receiver)
{
    if (csb_dunder_is_refused(flags)) {
        return (flags & CSB_N_DUNDER_INNER) != 0 ||
               !(csb_is_self(check, receiver) || csb_atom_of(check, site->atom)->own);
    }
    if ((flags & CSB_N_DUNDER_METHOD) != 0) {
        return false;
    }
    /* As the target of a loop, a with or a tuple, nobody looks for an assignment to it. */
    if (site->role == CSB_ROLE_HIDDEN || site->role == CSB_ROLE_DELETE) {
        return !csb_is_self(check, receiver);
    }
    if ((flags & CSB_N_DUNDER_SHAPE) != 0) {
        return shape_is_refused(check, site, receiver);
    }
    if (changes_defaults(check, site) || walks_exceptions(check, site, receiver)) {
        return true;
    }
    return !ts_node_is_null(receiver) && csb_is_literal(check, receiver);
}

/* x.mro() is __mro__ by another name; on names of the source it may be the author's own. */
static bool
mro_is_refused(struct csb_check *check, const struct csb_site *site, TSNode receiver)
{
    TSNode bare = csb_unwrap(check, receiver);
    if (is_own(check, site, receiver)) {
        return false;
    }
    return csb_is_literal(check, receiver) || is_builtin_name(check, site, receiver) ||
           (csb_kind(check, bare) == CSB_K_CALL &&
            csb_node_text_is(check, csb_callee(check, bare), "type")) ||
           (csb_kind(check, bare) == CSB_K_ATTRIBUTE &&
            csb_node_text_is(check, csb_field(check, bare, CSB_F_ATTRIBUTE),
                             "__class__"));
}

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    uint32_t flags = csb_site_flags(check, site);
    TSNode receiver = csb_receiver(check, site);
    const struct csb_atom *atom;
    char name[CSB_NAME_BYTES];
    struct csb_diag *diag;
    bool refused;
    if ((flags & (CSB_N_DUNDER | CSB_N_MRO)) == 0) {
        return;
    }
    atom = csb_atom_of(check, site->atom);
    if (csb_guard_config_allows_attribute(check->config, atom->name, atom->len)) {
        return;
    }
    refused = (flags & CSB_N_MRO) != 0 ? mro_is_refused(check, site, receiver)
                                       : is_refused(check, site, flags, receiver);
    if (!refused) {
        return;
    }
    diag = csb_report(
        check, CSB_RULE_201, site->start, site->end,
        "the special attribute `%s` leads to the interpreter's inner objects",
        csb_atom_text(check, site->atom, name));
    csb_diag_label(diag, "not allowed here");
    csb_diag_help(diag,
                  (flags & CSB_N_DUNDER_SHAPE) != 0
                      ? "use type(x), isinstance() or vars(self)"
                      : "use the builtin or operator that this attribute stands for");
}

const struct csb_rule csb_rule_201 = {
    .sites = CSB_SITE_ATTRIBUTE,
    .check_site = check_site,
};
