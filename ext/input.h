/* Standard input of a run: a sealed file in memory.
 *
 * A file, not a pipe: programs ask for its size (os.fstat(0).st_size, a common idiom of
 * contest programs), map it or seek in it, as they may with `python3 prog.py < input`, and
 * the supervisor has nothing to feed. Sealed: nobody can change it. Called in the caller;
 * any thread, no GIL. */
#ifndef CSB_INPUT_H
#define CSB_INPUT_H

#include "error.h"

/* On success *ret_fd (positioned at its start) is the caller's. */
int csb_input_make(const unsigned char *bytes, size_t count, int *ret_fd,
                   struct csb_error *reterr) CSB_MUST_USE;

#endif
