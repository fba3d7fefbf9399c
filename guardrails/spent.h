/* What one check has used of its budgets. The same source spends the same on every machine, so
 * that tests can hold what a clock cannot. */
#ifndef CSB_GUARD_SPENT_H
#define CSB_GUARD_SPENT_H

#include "csb.h"

struct csb_spent {
    uint64_t tokens; /* counted before the parser begins, up to the first too many */
    uint64_t steps;  /* of the parser, in hundreds */
    uint64_t reads;  /* pieces of text that its lexer asked for */
    uint64_t folds;  /* steps of constant folding */
};

#endif
