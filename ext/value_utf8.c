/* Theory of operation: either process, any bytes. One pass, eight bytes at a time where they
 * are ASCII. The table is Unicode's table 3-7 (well-formed byte sequences). */
#include "value_utf8.h"

#include <string.h>

/* Length of the sequence that starts here, 0 when broken; surrogates are told apart. */
static size_t
sequence(const unsigned char *bytes, size_t count, bool *surrogate)
{
    unsigned first = bytes[0];
    size_t length = first < 0x80   ? 1
                    : first < 0xC2 ? 0
                    : first < 0xE0 ? 2
                    : first < 0xF0 ? 3
                    : first < 0xF5 ? 4
                                   : 0;
    if (length > count) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    if ((first == 0xE0 && bytes[1] < 0xA0) || (first == 0xF0 && bytes[1] < 0x90) ||
        (first == 0xF4 && bytes[1] > 0x8F)) {
        return 0; /* longer than needed, or beyond U+10FFFF */
    }
    *surrogate = *surrogate || (first == 0xED && bytes[1] > 0x9F);
    return length;
}

enum csb_utf8
csb_utf8_check(const unsigned char *bytes, size_t count)
{
    const unsigned char *end = bytes + count;
    bool surrogate = false;
    while (bytes < end) {
        uint64_t word;
        size_t length;
        while ((size_t)(end - bytes) >= sizeof word) {
            memcpy(&word, bytes, sizeof word);
            if ((word & UINT64_C(0x8080808080808080)) != 0) {
                break;
            }
            bytes += sizeof word;
        }
        if (bytes == end) {
            break;
        }
        length = sequence(bytes, (size_t)(end - bytes), &surrogate);
        if (length == 0) {
            return CSB_UTF8_BROKEN;
        }
        bytes += length;
    }
    return surrogate ? CSB_UTF8_SURROGATES : CSB_UTF8_FINE;
}
