/* Theory of operation: in the child, before or between calls of untrusted code, on requests
 * that the caller wrote. Bounds are held all the same, so that both readers of value_item.h
 * can be compared on any bytes. No Python. */
#include "value_item.h"

#include <errno.h>
#include <string.h>

enum { MAJOR_SIMPLE = 7, INFO_8 = 24, INFO_64 = 27, INFO_INDEFINITE = 31 };

static const enum csb_item_type types[] = {
    CSB_ITEM_UNSIGNED, CSB_ITEM_NEGATIVE, CSB_ITEM_BYTES, CSB_ITEM_TEXT,
    CSB_ITEM_ARRAY,    CSB_ITEM_MAP,      CSB_ITEM_TAG,
};

/* Major type 7: the argument is a simple value or the bits of a float. */
static int
simple(unsigned info, uint64_t argument, struct csb_item *ret)
{
    static const enum csb_item_type named[] = {CSB_ITEM_FALSE, CSB_ITEM_TRUE,
                                               CSB_ITEM_NULL, CSB_ITEM_OTHER};
    if (info == INFO_64) {
        ret->type = CSB_ITEM_DOUBLE;
        memcpy(&ret->real, &argument, sizeof ret->real);
        return 0;
    }
    if (info >= 20 && info <= 23) {
        ret->type = named[info - 20];
        return 0;
    }
    ret->type = CSB_ITEM_OTHER;
    /* Simple values without a name: libcbor refuses them. */
    return info == 25 || info == 26 ? 0 : -EBADMSG;
}

int
csb_item_next(const unsigned char *bytes, size_t count, struct csb_item *ret)
{
    unsigned major = count == 0 ? 0 : bytes[0] >> 5;
    unsigned info = count == 0 ? 0 : bytes[0] & 31;
    size_t extra = info < INFO_8 ? 0 : (size_t)1 << (info - INFO_8);
    *ret = (struct csb_item){.type = CSB_ITEM_OTHER, .used = 1};
    if (count == 0 || (info > INFO_64 && info < INFO_INDEFINITE)) {
        return -EBADMSG;
    }
    if (info == INFO_INDEFINITE) {
        return major < 2 || major == 6 ? -EBADMSG : 0;
    }
    if (extra > count - 1) {
        return -EBADMSG;
    }
    ret->number = extra == 0 ? info : 0;
    for (size_t i = 1; i <= extra; i++) {
        ret->number = ret->number << 8 | bytes[i];
    }
    ret->used = 1 + extra;
    if (major == MAJOR_SIMPLE) {
        uint64_t argument = ret->number;
        ret->number = 0;
        return simple(info, argument, ret);
    }
    ret->type = types[major];
    if (major == CSB_ITEM_BYTES || major == CSB_ITEM_TEXT) {
        if (ret->number > count - ret->used) {
            return -EBADMSG;
        }
        ret->bytes = bytes + ret->used;
        ret->used += (size_t)ret->number;
    }
    return 0;
}
