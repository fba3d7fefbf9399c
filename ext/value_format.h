/* Plain data on its way between the caller and a child, and how much of it there may be.
 *
 * The format is CBOR (RFC 8949), of which one spelling for each value is used and read:
 *
 *   None, True, False   simple values 22, 21, 20
 *   int                 major types 0 and 1; beyond 64 bits tag 2 or 3 with the big-endian
 *                       number, which starts with no zero byte
 *   float               a double (the bits as they are, so -0.0 and nan survive)
 *   complex             tag 43000, an array of two doubles
 *   str                 text in UTF-8; one with lone surrogates: CSB_TAG_SURROGATES, bytes in
 *                       which each lone surrogate has its three bytes of UTF-8 (Python's
 *                       "surrogatepass")
 *   bytes               byte string
 *   list, dict          array, map in insertion order
 *   tuple               CSB_TAG_TUPLE, array
 *   set, frozenset      tag 258, CSB_TAG_FROZENSET, array
 *
 * Heads are of the shortest form, lengths are definite; everything else of CBOR is an error.
 * Keys of a dict and elements of a set are None, bool, int, float, complex, str, bytes, and
 * tuples and frozensets of these.
 *
 * Pure C: any thread, either process, no Python, no Linux. */
#ifndef CSB_VALUE_FORMAT_H
#define CSB_VALUE_FORMAT_H

#include "csb.h"

enum csb_value_tag {
    CSB_TAG_BIG_POSITIVE = 2,
    CSB_TAG_BIG_NEGATIVE = 3,
    CSB_TAG_SET = 258,
    CSB_TAG_COMPLEX = 43000,
    /* Ours: of the range that anybody may use, of no meaning outside. */
    CSB_TAG_TUPLE = 50608,
    CSB_TAG_FROZENSET = 50609,
    CSB_TAG_SURROGATES = 50610,
};

/* What one value may amount to; everything counts before memory is taken for it. */
struct csb_value_limits {
    uint64_t bytes; /* of the whole encoding */
    uint64_t items; /* in all containers together; a pair of a dict is two */
    uint32_t depth; /* containers in one another, at most CSB_VALUE_MAX_DEPTH */
    uint32_t
        int_digits; /* decimal digits of one int beyond 64 bits, to within the last */
};

enum { CSB_VALUE_MAX_DEPTH = 1000 };

/* Bits that an int of that many decimal digits can have. */
static inline uint64_t
csb_value_int_bits(const struct csb_value_limits *limits)
{
    return (uint64_t)limits->int_digits * 3322 / 1000 + 1; /* log2(10) = 3.3219… */
}

/* Why a value could not be written or read: the value's fault, not the machine's. */
struct csb_value_fault {
    bool of_type; /* a type that is no plain data (else its size, shape or spelling) */
    char path[200]; /* "$.groups[0]"; "" when reading, where `message` names the byte */
    char message[240];
};

#endif
