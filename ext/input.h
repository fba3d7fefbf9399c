/* Standard input of a run: a sealed file in memory.
 *
 * A file, not a pipe: programs ask for its size (os.fstat(0).st_size, a common idiom of
 * contest programs), map it or seek in it, as they may with `python3 prog.py < input`, and
 * the supervisor has nothing to feed. Sealed: nobody can change it. Called in the caller;
 * any thread, no GIL. */
#ifndef CSB_INPUT_H
#define CSB_INPUT_H

#include "error.h"

/* An empty one. *ret_ours is to be filled, *ret_childs (the same file, positioned at the
 * start) to be given to the child; both the caller's. */
int csb_input_make(int *ret_ours, int *ret_childs,
                   struct csb_error *reterr) CSB_MUST_USE;

/* Fill and seal, before the child may look. */
int csb_input_fill(int ours, const unsigned char *bytes, size_t count,
                   struct csb_error *reterr) CSB_MUST_USE;

#endif
