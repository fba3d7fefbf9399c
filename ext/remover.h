/* Removes large scratch folders in the background, in a bounded number of threads.
 *
 * One for a process (the extension's), shared by its policies; any thread, no GIL. In a forked
 * copy of the process it begins anew: the threads of the original are not there. */
#ifndef CSB_REMOVER_H
#define CSB_REMOVER_H

#include "scratch.h"

/* Threads at a time. Making files takes longer than removing them, so that fewer are enough; with
 * more than these at work, whoever comes next removes his folder himself: then programs leave
 * files faster than they can be removed, and must be held up. */
enum { CSB_REMOVERS_MAX = 8 };

struct csb_remover;

/* NULL: no memory. The caller has one reference. */
struct csb_remover *csb_remover_new(void);

struct csb_remover *csb_remover_keep(struct csb_remover *remover);

/* Give a reference back. Threads that are at work have their own. NULL is harmless. */
void csb_remover_drop(struct csb_remover *remover);

/* Remove as csb_scratch_remove does, for a folder in which so much was made that it would hold
 * the caller past its deadline (some file systems take milliseconds a folder). It is taken:
 * *scratch is empty on return. NULL: nobody to do it, it is removed at once. */
void csb_remover_take(struct csb_remover *remover, struct csb_scratch *scratch);

/* Folders that are being removed now. When the process ends first, what is left of them is for
 * its janitor. */
unsigned csb_remover_busy(const struct csb_remover *remover);

#endif
