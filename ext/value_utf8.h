/* Is this text? As CPython's decoders decide it. Any thread, pure. */
#ifndef CSB_VALUE_UTF8_H
#define CSB_VALUE_UTF8_H

#include "csb.h"

enum csb_utf8 {
    CSB_UTF8_BROKEN,
    CSB_UTF8_SURROGATES, /* UTF-8 but for surrogates of three bytes, at least one */
    CSB_UTF8_FINE,
};

enum csb_utf8 csb_utf8_check(const unsigned char *bytes, size_t count);

#endif
