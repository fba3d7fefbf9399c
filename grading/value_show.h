/* A value as people read it: as Python writes it, cut. Pure, any thread. */
#ifndef CSB_VALUE_SHOW_H
#define CSB_VALUE_SHOW_H

#include "csb.h"

/* Write the value that begins at bytes[start] (which has been read before without a fault)
 * into the buffer, NUL-terminated, with "..." at the end when it does not fit (size ≥ 8).
 * Control characters are escaped; other characters of a str are left as they are, in UTF-8,
 * and the cut may go through one. */
void csb_value_show(const unsigned char *bytes, size_t count, size_t start,
                    char *buffer, size_t size);

#endif
