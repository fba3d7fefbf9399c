/* One data item of CBOR, its head and, for strings, its content. Nothing nested is followed.
 *
 * Two implementations: value_item.c in the caller, which reads what a hostile process wrote
 * and leaves that to libcbor; child_item.c in the child, which reads what the caller wrote and
 * must not need a shared library of its own. The fuzzer holds one against the other. */
#ifndef CSB_VALUE_ITEM_H
#define CSB_VALUE_ITEM_H

#include "csb.h"

enum csb_item_type {
    CSB_ITEM_UNSIGNED,
    CSB_ITEM_NEGATIVE, /* -1 - number */
    CSB_ITEM_BYTES,
    CSB_ITEM_TEXT,
    CSB_ITEM_ARRAY,
    CSB_ITEM_MAP,
    CSB_ITEM_TAG,
    CSB_ITEM_FALSE,
    CSB_ITEM_TRUE,
    CSB_ITEM_NULL,
    CSB_ITEM_DOUBLE,
    CSB_ITEM_OTHER, /* well-formed, but nothing that plain data uses */
};

struct csb_item {
    enum csb_item_type type;
    uint64_t number; /* value, length or tag */
    double real;
    const unsigned char
        *bytes;  /* content of a string, inside what was read; else NULL */
    size_t used; /* bytes of head and content, > 0 */
};

/* Read the item that starts at bytes[0]. Returns 0, or -EBADMSG when it is not well-formed or
 * not all there. No allocation. */
int csb_item_next(const unsigned char *bytes, size_t count,
                  struct csb_item *ret) CSB_MUST_USE;

#endif
