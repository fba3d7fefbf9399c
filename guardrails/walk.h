/* One pass over the tree: scopes, bindings, imports and the sites that rules look at. */
#ifndef CSB_GUARD_WALK_H
#define CSB_GUARD_WALK_H

#include "rule.h"

/* Fills check->sites, check->scopes and check->paths. Reports CSB003, CSB005 and CSB008 itself
 * because only the walk sees depth, every identifier and the clock. */
void csb_walk(struct csb_check *check, TSTree *tree);

/* CPU time of this thread in nanoseconds. */
uint64_t csb_guard_now_ns(void);

#endif
