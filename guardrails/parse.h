/* From text to tree, within budgets that count.
 *
 * Counts and not clocks: the same source must get the same answer on a slow machine and on a
 * busy one. What a source of n bytes may have: CSB_TOKENS_MOST(n) tokens, some steps of the
 * parser for each of them, a number of reads of each byte, and so much brokenness and no more. */
#ifndef CSB_GUARD_PARSE_H
#define CSB_GUARD_PARSE_H

#include "rule.h"

/* Of 26,675 Python files of this machine (the standard library, packages, their tests) none
 * needs more than 45,200 + 0.3 a byte; the standard library has 0.12 a byte. */
#define CSB_TOKENS_MOST(bytes) (UINT64_C(65536) + (uint64_t)(bytes) * 3 / 10)

/* The tree, owned by the caller (ts_tree_delete), or NULL. Then either a finding says which
 * budget it was, or check->failed is set. What was spent is in check->spent. */
TSTree *csb_parse(struct csb_check *check);

#endif
