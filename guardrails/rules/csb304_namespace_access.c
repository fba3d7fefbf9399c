/* Theory of operation: globals(), and locals() and vars() where they mean the same, hand out the
 * module's namespace with __builtins__ in it; sys.modules hands out all modules. vars(x) of an
 * object and locals() inside a function are only that object's or function's own variables. */
#include "../ruleset.h"

static bool
inside_function(const struct csb_check *check, uint32_t scope)
{
    while (scope != CSB_NO_SCOPE &&
           check->scopes.items[scope].kind == CSB_SCOPE_COMPREHENSION) {
        scope = check->scopes.items[scope].parent;
    }
    return scope != CSB_NO_SCOPE &&
           check->scopes.items[scope].kind == CSB_SCOPE_FUNCTION;
}

static bool
is_harmless(struct csb_check *check, const struct csb_site *site)
{
    TSNode argument;
    char path[CSB_PATH_BYTES];
    if (site->role != CSB_ROLE_CALL || csb_atom_is(check, site->atom, "globals")) {
        return false;
    }
    argument = csb_argument(check, site->parent, 0, NULL, NULL);
    if (ts_node_is_null(argument)) {
        return inside_function(check, site->scope);
    }
    return csb_atom_is(check, site->atom, "vars") && !csb_is_literal(check, argument) &&
           !csb_resolve(check, site->scope, argument, path);
}

/* builtins_allow lifts globals and locals. vars is only refused where it is one of them, or
 * on a module, so its own name in the list changes nothing. */
static bool
is_lifted(const struct csb_check *check, const struct csb_site *site)
{
    if (!csb_atom_is(check, site->atom, "vars")) {
        return csb_builtin_is_lifted(check, site);
    }
    return csb_guard_config_allows_builtin(check->config, "globals", 7) &&
           csb_argument_count(check, site->parent) == 0;
}

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    char name[CSB_NAME_BYTES];
    struct csb_diag *diag;
    if (site->kind != CSB_SITE_NAME ||
        (csb_site_flags(check, site) & CSB_N_NAMESPACE) == 0) {
        csb_report_member(check, site, CSB_RULE_304,
                          "import the module by its own name");
        return;
    }
    if ((site->role != CSB_ROLE_READ && site->role != CSB_ROLE_CALL) ||
        !csb_means_builtin(check, site) || is_lifted(check, site) ||
        is_harmless(check, site)) {
        return;
    }
    diag = csb_report(check, CSB_RULE_304, site->start, site->end,
                      "`%s` hands out a module's namespace, builtins included",
                      csb_atom_text(check, site->atom, name));
    csb_diag_label(diag, "namespace access");
    csb_diag_help(diag, "keep values in a dictionary of your own");
}

const struct csb_rule csb_rule_304 = {
    .sites = CSB_SITE_NAME | CSB_SITE_ATTRIBUTE | CSB_SITE_IMPORT,
    .check_site = check_site,
};
