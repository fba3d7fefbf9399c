/* The file rules of a policy, in the two layers in which a child enters them.
 *
 * The fine layer holds every rule and is made once a policy; it grants the whole folder in
 * which scratch folders are made. The coarse layer is made for each run and is short: a few
 * parent folders, and of the scratch folders only the run's own. Landlock grants what both
 * layers grant, so the result is the fine rules plus one scratch folder, at the price of a
 * dozen rules a run instead of two hundred (a stdlib without its site-packages has to be
 * listed entry by entry, because Landlock can not take a folder out again).
 *
 * Filled by one thread, then read-only and shared. Owns its descriptors. No GIL. */
#ifndef CSB_PATH_RULES_H
#define CSB_PATH_RULES_H

#include "error.h"
#include "landlock.h"
#include "string_list.h"

/* Kept by name, and open only while it is made a rule: there may be hundreds, and a host's
 * limit of descriptors may be 256. */
struct csb_fine_rule {
    enum csb_path_access access;
    char *path;
};

struct csb_path_rules {
    struct csb_fine_rule *fine;
    size_t fine_count;
    struct csb_path_rule *coarse; /* one more entry is allocated than coarse_count */
    size_t coarse_count;
    struct csb_strings coarse_paths; /* to make each only once */
    int fine_ruleset;                /* CSB_FD_NONE until csb_path_rules_seal */
};

void csb_path_rules_init(struct csb_path_rules *rules);
void csb_path_rules_done(struct csb_path_rules *rules);

/* Add `path`. A path that does not exist is passed over. Refused (EINVAL): a
 * relative path, "/", and a path that holds the scratch folders, which are granted run by
 * run. */
int csb_path_rules_add(struct csb_path_rules *rules, enum csb_path_access access,
                       const char *path, const char *scratch_base,
                       struct csb_error *reterr) CSB_MUST_USE;

/* Make the fine ruleset. After this nothing may be added. */
int csb_path_rules_seal(struct csb_path_rules *rules, const char *scratch_base,
                        bool scratch_writable, int abi,
                        struct csb_error *reterr) CSB_MUST_USE;

/* Make the coarse ruleset of one run. *ret_fd is the caller's. Thread-safe. */
int csb_path_rules_for_run(const struct csb_path_rules *rules, int scratch_fd,
                           bool scratch_writable, int abi, int *ret_fd,
                           struct csb_error *reterr) CSB_MUST_USE;

#endif
