/* Theory of operation: frames, generators' frames, code objects, closures and tracebacks hold
 * every variable of every caller. Their attributes have names that nothing else uses; the
 * functions that hand them out are members of known modules. */
#include "../ruleset.h"

static const char help[] =
    "pass values as arguments; to show an error, use traceback.print_exc()";

/* AttributeError.obj is the live object on which the attribute was missing. */
static void
check_exception(struct csb_check *check, const struct csb_site *site)
{
    const struct csb_local *local =
        csb_local_of(check, site->scope, csb_receiver(check, site));
    struct csb_diag *diag;
    if (local == NULL || (local->binds & CSB_BIND_EXCEPTION) == 0) {
        return;
    }
    diag = csb_report(check, CSB_RULE_202, site->start, site->end,
                      "an exception's `obj` hands out the object that failed");
    csb_diag_label(diag, "an inner object");
    csb_diag_help(diag, "use the exception's text, or its `name`");
}

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    char name[CSB_NAME_BYTES];
    struct csb_diag *diag;
    const struct csb_atom *atom;
    if (site->kind == CSB_SITE_ATTRIBUTE &&
        (csb_site_flags(check, site) & CSB_N_EXCEPTION) != 0) {
        check_exception(check, site);
        return;
    }
    if ((csb_site_flags(check, site) & CSB_N_FRAME) == 0 ||
        site->kind != CSB_SITE_ATTRIBUTE) {
        csb_report_member(check, site, CSB_RULE_202, help);
        return;
    }
    atom = csb_atom_of(check, site->atom);
    if (csb_is_self(check, csb_receiver(check, site)) ||
        csb_guard_config_allows_attribute(check->config, atom->name, atom->len)) {
        return;
    }
    diag = csb_report(check, CSB_RULE_202, site->start, site->end,
                      "`%s` reaches a frame, a code object or a closure",
                      csb_atom_text(check, site->atom, name));
    csb_diag_label(diag, "an inner object of the interpreter");
    csb_diag_help(diag, "%s", help);
}

const struct csb_rule csb_rule_202 = {
    .sites = CSB_SITE_ATTRIBUTE | CSB_SITE_NAME | CSB_SITE_IMPORT,
    .check_site = check_site,
};
