/* A sorted, immutable set of names, and the edit distance between two names.
 *
 * Owns copies. Any thread may read. */
#ifndef CSB_GUARD_NAMESET_H
#define CSB_GUARD_NAMESET_H

#include "csb.h"

struct csb_nameset {
    char **items;
    size_t len;
};

/* 0 or -ENOMEM; *ret is empty after a failure. */
CSB_MUST_USE int csb_nameset_init(struct csb_nameset *ret, const char *const *items,
                                  size_t len);
void csb_nameset_done(struct csb_nameset *set);

bool csb_nameset_has(const struct csb_nameset *set, const char *name, size_t len);

/* Length of the longest entry that equals `dotted` or is a parent package of it, else 0. */
size_t csb_nameset_longest_prefix(const struct csb_nameset *set, const char *dotted,
                                  size_t len);

/* Optimal string alignment distance, given up (returning limit + 1) above `limit`. */
size_t csb_edit_distance(const char *left, size_t left_len, const char *right,
                         size_t right_len, size_t limit);

#endif
