/* What a string expression is worth, when that can be computed without running anything.
 *
 * Bounded: steps per source (csb_check.fold_budget), nesting, and the size of every value. */
#ifndef CSB_GUARD_FOLD_H
#define CSB_GUARD_FOLD_H

#include "rule.h"

enum csb_fold {
    CSB_FOLD_UNKNOWN,
    CSB_FOLD_PREFIX, /* *out is how the string certainly begins; may be empty */
    CSB_FOLD_WHOLE,
};

/* Fold `node` to a string (bytes count as their Latin-1 text). Appends to *out, which the caller
 * frees; *out is empty for CSB_FOLD_UNKNOWN. Accepts a null node (unknown). */
enum csb_fold csb_fold_string(struct csb_check *check, uint32_t scope, TSNode node,
                              struct csb_text *out);

#endif
