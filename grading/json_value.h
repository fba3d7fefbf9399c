/* JSON text as a value (value_format.h). Pure; any thread, no GIL. */
#ifndef CSB_JSON_VALUE_H
#define CSB_JSON_VALUE_H

#include "value_writer.h"

enum { CSB_JSON_INT_DIGITS = 1000 };

/* RFC 8259, and NaN, Infinity and -Infinity as Python writes them. A number without fraction
 * and exponent is an int of at most CSB_JSON_INT_DIGITS digits, any other a float. At most
 * CSB_VALUE_MAX_DEPTH deep. 0; -ENOMEM; -EBADMSG with a sentence and the offset in *fault. */
int csb_json_to_value(const unsigned char *text, size_t count,
                      struct csb_value_writer *writer,
                      struct csb_value_fault *fault) CSB_MUST_USE;

#endif
