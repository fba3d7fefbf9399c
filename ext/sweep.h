/* Scratch folders of hosts that were killed. In the caller or its janitor; any thread, no GIL. */
#ifndef CSB_SWEEP_H
#define CSB_SWEEP_H

#include "csb.h"

/* Remove the scratch folders below `base` that belong to this user (or `owner`, the uid that
 * children of root get) and that no process holds locked. Returns how many are held, by whom ever.
 * What can not be looked at or removed stays. */
size_t csb_sweep(const char *base, uint32_t owner);

#endif
