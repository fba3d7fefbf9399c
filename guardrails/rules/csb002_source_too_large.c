/* Theory of operation: looks at the size alone, before anything reads the bytes. */
#include "../rule.h"

static void
check_source(struct csb_check *check)
{
    uint64_t most = csb_guard_config_limits(check->config)->max_source_bytes;
    struct csb_diag *diag;
    if (!check->source->cut) {
        return;
    }
    diag = csb_report(check, CSB_RULE_002, 0, 0, "the source has %zu bytes, more than %llu",
                      check->source->raw_len, (unsigned long long)most);
    if (diag != NULL) {
        diag->whole_source = true;
    }
    csb_diag_help(diag, "keep data out of the code: pass it through stdin or files");
}

const struct csb_rule csb_rule_002 = {.check_source = check_source};
