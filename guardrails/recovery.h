/* How broken a source has turned out to be, while it is being parsed. */
#ifndef CSB_GUARD_RECOVERY_H
#define CSB_GUARD_RECOVERY_H

#include <stdint.h>

#include <tree_sitter/api.h>

/* tree-sitter's own measure (error_costs.h) for the best reading that it still follows: 500 for
 * each place, 100 for each token and 1 for each character that it skips there. 0 while all is
 * well, and when there is no reading. Only for a parser that is in ts_parser_parse, from its
 * callback. */
uint32_t csb_recovery_cost(const TSParser *parser);

#endif
