/* How many tokens a source has, before anything with a price per token reads it. */
#ifndef CSB_GUARD_CENSUS_H
#define CSB_GUARD_CENSUS_H

#include "csb.h"

/* Count tokens of `len` bytes until there are more than `most`, in one pass, allocating nothing.
 * Returns the number (at most `most` + 1); *ret_at is the offset of the last one counted. It is
 * a price, not a reading: whoever fools it about where a string ends is met by the parser's own
 * budget of steps (budget.h). */
uint64_t csb_census(const char *text, size_t len, uint64_t most, size_t *ret_at);

#endif
