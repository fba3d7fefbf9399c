/* Theory of operation: addresses and raw memory: the attribute .ctypes of numpy arrays, buffer_info
 * of arrays, as_strided, native modules. What a crash could reach is the kernel's to bound. */
#include "../ruleset.h"

static const char help[] = "use slices, memoryview, struct or sliding_window_view";

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    uint32_t flags = csb_site_flags(check, site);
    char name[CSB_NAME_BYTES];
    struct csb_diag *diag;
    const struct csb_atom *atom;
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
    diag = csb_report(check, CSB_RULE_309, site->start, site->end,
                      "`%s` reaches raw memory", csb_atom_text(check, site->atom, name));
    csb_diag_label(diag, "raw memory");
    csb_diag_help(diag, "%s", help);
}

const struct csb_rule csb_rule_309 = {
    .sites = CSB_SITE_NAME | CSB_SITE_ATTRIBUTE | CSB_SITE_IMPORT,
    .check_site = check_site,
};
