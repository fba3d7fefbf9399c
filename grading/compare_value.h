/* Two values, compared; the first difference, with its path.
 *
 * Linear in the size of both; 40 bytes an item and, for a dict or set that differs, a table of
 * its keys. No recursion, no code of anybody's. Any thread, no GIL. */
#ifndef CSB_COMPARE_VALUE_H
#define CSB_COMPARE_VALUE_H

#include "value_format.h"
#include "value_rules.h"

enum csb_value_reason {
    CSB_DIFFERS_IN_TYPE,
    CSB_DIFFERS_IN_VALUE,
    CSB_DIFFERS_IN_LENGTH,
    CSB_DIFFERS_BY_MISSING, /* a key or element that was expected */
    CSB_DIFFERS_BY_EXTRA,   /* a key or element that was not */
};

struct csb_value_difference {
    enum csb_value_reason reason;
    char path[200];     /* "$.groups[0]" */
    char got[200];      /* cut, as Python writes it (value_show.h); "" for MISSING */
    char expected[200]; /* the same; "" for EXTRA */
};

struct csb_encoded {
    const unsigned char *bytes;
    size_t count;
    const struct csb_value_limits *limits;
};

/* 0 equal, 1 with *ret filled, -ENOMEM, or -EBADMSG with *fault and *ret_bad_got (whose fault
 * it is) when one of them is no value. */
int csb_compare_values(const struct csb_encoded *got,
                       const struct csb_encoded *expected,
                       const struct csb_value_rules *rules,
                       struct csb_value_difference *ret, struct csb_value_fault *fault,
                       bool *ret_bad_got) CSB_MUST_USE;

#endif
