/* Theory of operation: `from math import *` is harmless, `from io import *` binds open: a star
 * import is refused when its module exports a name that another rule guards as a builtin. */
#include <string.h>

#include "../rule.h"

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    const char *module = check->paths.bytes + site->path;
    struct csb_children children;
    TSNode child;
    if (site->atom != CSB_NO_ATOM ||
        csb_kind(check, site->parent) != CSB_K_IMPORT_FROM ||
        !csb_module_has_members(module, strlen(module))) {
        return;
    }
    csb_children_open(&children, site->parent);
    while (csb_children_next(&children, &child)) {
        if (csb_kind(check, child) == CSB_K_WILDCARD_IMPORT) {
            char shown[CSB_NAME_BYTES];
            struct csb_diag *diag = csb_report(
                check, CSB_RULE_103, ts_node_start_byte(child), ts_node_end_byte(child),
                "a star import from `%s` binds names that other rules guard",
                csb_escape_name(shown, sizeof shown, module, strlen(module)));
            csb_diag_help(diag, "import the names that you need one by one");
        }
    }
    csb_children_close(&children);
}

const struct csb_rule csb_rule_103 = {.sites = CSB_SITE_IMPORT,
                                      .check_site = check_site};
