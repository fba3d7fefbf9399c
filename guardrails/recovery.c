/* Theory of operation: a parser that looks for the least wrong reading of a broken source takes
 * time quadratic in the tokens that it skips, and its interface tells nothing of that. So this
 * file is tree-sitter's single unit (lib.c is upstream's own way to be compiled) and one function
 * that reads the measure which the parser itself decides by. Compiled with upstream's flags; it
 * only reads. */
#include <lib.c>

#include "recovery.h"

uint32_t
csb_recovery_cost(const TSParser *parser)
{
    uint32_t least = UINT32_MAX;
    for (StackVersion i = 0; i < ts_stack_version_count(parser->stack); i++) {
        unsigned cost = ts_stack_error_cost(parser->stack, i);
        least = cost < least ? cost : least;
    }
    return least == UINT32_MAX ? 0 : least;
}
