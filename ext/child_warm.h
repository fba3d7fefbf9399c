/* What is done ahead of need, so that a run does not pay for it. In a zygote and its children
 * before they have a submission; includes Python.h, glue. Each returns 0 or -1 with an
 * exception. */
#ifndef CSB_CHILD_WARM_H
#define CSB_CHILD_WARM_H

#include "child_script.h"

/* In the zygote, before csb_confine_drop: code stays mapped across its forks. */
void csb_child_keep_code_mapped(void);

/* In the zygote, around the imports: what `random` and `threading` would have called after each
 * fork is kept aside. In a new child, in its place: random states of its own. */
int csb_child_hooks_watch(struct csb_child *child);
int csb_child_hooks_keep(struct csb_child *child);
int csb_child_hooks_run(const struct csb_child *child);

/* In the zygote, once: everything that is done for the first time only, and what does not
 * depend on the run; then freeze what the garbage collector would otherwise walk (and so
 * copy) in each child. */
int csb_child_warm(struct csb_child *child);

/* In a new child, before it has descriptors of its own: run a program of ours, so that the pages that every program dirties are
 * the child's own before anybody waits for it. */
int csb_child_touch(struct csb_child *child);

#endif
