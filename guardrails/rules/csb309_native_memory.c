/* Theory of operation: addresses and raw memory: the attribute .ctypes of numpy arrays, buffer_info
 * of arrays, as_strided, native modules. What a crash could reach is the kernel's to bound. */
#include "../ruleset.h"

static const char help[] = "use slices, memoryview, struct or sliding_window_view";

/* repr(object()): such an object has nothing to show but its address. */
static void
check_repr(struct csb_check *check, const struct csb_site *site)
{
    TSNode shown = csb_unwrap(check, csb_argument(check, site->parent, 0, NULL, NULL));
    struct csb_diag *diag;
    if (site->role != CSB_ROLE_CALL || !csb_means_builtin(check, site) ||
        csb_kind(check, shown) != CSB_K_CALL ||
        !csb_node_text_is(check, csb_callee(check, shown), "object") ||
        csb_local_of(check, site->scope, csb_callee(check, shown)) != NULL ||
        csb_argument_count(check, shown) != 0) {
        return;
    }
    diag = csb_report(check, CSB_RULE_309, ts_node_start_byte(shown),
                      ts_node_end_byte(shown),
                      "the text of a bare `object()` is nothing but an address");
    csb_diag_label(diag, "an address of this process");
    csb_diag_help(diag, "count with itertools.count() to tell objects apart");
}

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    uint32_t flags = csb_site_flags(check, site);
    char name[CSB_NAME_BYTES];
    struct csb_diag *diag;
    const struct csb_atom *atom;
    if (site->kind == CSB_SITE_NAME && (flags & CSB_N_REPR) != 0) {
        check_repr(check, site);
    }
    /* A special attribute is CSB201's; a method that the source defines is its own. */
    if (site->kind != CSB_SITE_ATTRIBUTE || (flags & CSB_N_NATIVE) == 0 ||
        (flags & CSB_N_DUNDER) != 0) {
        csb_report_member(check, site, CSB_RULE_309, help);
        return;
    }
    atom = csb_atom_of(check, site->atom);
    if (csb_is_self(check, csb_receiver(check, site)) || atom->own ||
        csb_guard_config_allows_attribute(check->config, atom->name, atom->len)) {
        return;
    }
    diag =
        csb_report(check, CSB_RULE_309, site->start, site->end,
                   "`%s` reaches raw memory", csb_atom_text(check, site->atom, name));
    csb_diag_label(diag, "raw memory");
    csb_diag_help(diag, "%s", help);
}

const struct csb_rule csb_rule_309 = {
    .sites = CSB_SITE_NAME | CSB_SITE_ATTRIBUTE | CSB_SITE_IMPORT,
    .check_site = check_site,
};
