/* When two values count as equal. All false and zero: the same types all the way down, so that
 * True is not 1, 1 is not 1.0 and a list is not a tuple; nan equals nothing.
 *
 * Always: -0.0 equals 0.0; the order of a dict and of a set does not count. */
#ifndef CSB_VALUE_RULES_H
#define CSB_VALUE_RULES_H

#include "csb.h"

struct csb_value_rules {
    bool nan_equal; /* every nan equals every nan */
    bool numeric;   /* int, float and complex by their value, as ==; bool stays apart */
    bool sequences; /* a list equals a tuple */
    bool sets;      /* a set equals a frozenset */
    /* With either above 0 numbers are numeric, and close ones equal: within absolute, or
     * within relative times the magnitude of the expected one. Complex numbers part by part.
     * Not for keys of dicts and elements of sets, which must be equal. */
    double relative;
    double absolute;
};

static inline bool
csb_value_tolerant(const struct csb_value_rules *rules)
{
    return rules->relative > 0 || rules->absolute > 0;
}

#endif
