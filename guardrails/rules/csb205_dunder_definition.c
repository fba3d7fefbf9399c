/* Theory of operation: a class that defines one of the inner special attributes plants it where
 * the interpreter or a C library will read it (__array_interface__ hands numpy any address).
 * Ordinary protocol methods are untouched. */
#include "../resolve.h"
#include "../ruleset.h"

/* `__class_getitem__ = print`: a subscript, even one in an annotation, calls the builtin. */
static bool
plants_builtin(struct csb_check *check, const struct csb_site *site)
{
    static const char *const acting[] = {
        "print",   "input",   "open",       "eval",       "exec", "compile", "getattr",
        "setattr", "delattr", "__import__", "breakpoint", "exit", "quit"};
    TSNode value = csb_kind(check, site->parent) == CSB_K_ASSIGNMENT
                       ? csb_unwrap(check, csb_field(check, site->parent, CSB_F_RIGHT))
                       : site->node;
    if (csb_kind(check, site->parent) != CSB_K_ASSIGNMENT ||
        csb_local_of(check, site->scope, value) != NULL) {
        return false;
    }
    for (size_t i = 0; i < CSB_ARRAY_LEN(acting); i++) {
        if (csb_node_text_is(check, value, acting[i])) {
            return true;
        }
    }
    return false;
}

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    uint32_t flags = csb_site_flags(check, site);
    char name[CSB_NAME_BYTES];
    struct csb_diag *diag;
    if ((flags & CSB_N_DUNDER) == 0 || (flags & CSB_N_IMPORT) != 0 ||
        check->scopes.items[site->scope].kind != CSB_SCOPE_CLASS ||
        (site->role != CSB_ROLE_STORE && site->role != CSB_ROLE_HIDDEN)) {
        return;
    }
    if ((flags & CSB_N_DUNDER_INNER) == 0) {
        if (plants_builtin(check, site)) {
            diag = csb_report(check, CSB_RULE_205, site->start, site->end,
                              "the special method `%s` is a builtin that acts",
                              csb_atom_text(check, site->atom, name));
            csb_diag_label(diag, "called where no call is written");
            csb_diag_help(diag,
                          "define the method with def, and call the builtin in it");
        }
        return;
    }
    diag = csb_report_special(check, CSB_RULE_205, site, "a class must not define", "");
    csb_diag_label(diag, "read by the interpreter or by C code");
    csb_diag_help(diag, "give the attribute a name without double underscores");
}

const struct csb_rule csb_rule_205 = {
    .sites = CSB_SITE_NAME | CSB_SITE_FUNCTION,
    .check_site = check_site,
};
