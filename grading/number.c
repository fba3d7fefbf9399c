/* Theory of operation: in the caller, GIL released. A float that is a whole number is turned
 * into the digits of that number, exactly, so that 2.0**80 and 1 << 80 hash alike. */
#include "number.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MANTISSA_BITS = 52, BIAS = 1075, WHOLE_BYTES = 136 };

bool
csb_number_close(double got, double expected, double relative, double absolute)
{
    double distance;
    if (got == expected) {
        return true;
    }
    if (!isfinite(got) || !isfinite(expected)) {
        return false;
    }
    distance = got > expected ? got - expected : expected - got;
    return distance <= absolute ||
           distance <= relative * (expected < 0 ? -expected : expected);
}

uint64_t
csb_double_bits(double number)
{
    uint64_t bits;
    if (isnan(number)) {
        return UINT64_C(0x7ff8000000000000);
    }
    if (number == 0) {
        return 0;
    }
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

double
csb_number_of(const struct csb_value_token *token)
{
    double number = 0;
    if (token->kind == CSB_VALUE_FLOAT) {
        return token->real;
    }
    if (token->kind == CSB_VALUE_INT) {
        number = (double)token->number;
    } else {
        for (size_t i = 0; i < token->count && number <= DBL_MAX; i++) {
            number = number * 256 + token->bytes[i];
        }
    }
    return token->negative ? -1 - number : number;
}

static void
add_whole(struct csb_hasher *hasher, bool negative, const unsigned char *bytes,
          size_t count)
{
    csb_hasher_add_word(hasher, negative ? 'n' : 'p');
    csb_hasher_add_word(hasher, count);
    csb_hasher_add(hasher, bytes, count);
}

/* number, or -1 - number when negative, as big-endian bytes without leading zeros. */
static void
add_small(struct csb_hasher *hasher, bool negative, uint64_t number)
{
    unsigned char bytes[8];
    size_t count = 0;
    for (unsigned shift = 64; shift > 0; shift -= 8) {
        unsigned char byte = (unsigned char)(number >> (shift - 8));
        if (byte != 0 || count > 0) {
            bytes[count++] = byte;
        }
    }
    add_whole(hasher, negative, bytes, count);
}

/* mantissa × 2^shift, shift ≥ 0; for a negative number one less, as in -1 - number. */
static void
add_shifted(struct csb_hasher *hasher, bool negative, uint64_t mantissa, unsigned shift)
{
    unsigned char little[WHOLE_BYTES + 16] = {0};
    unsigned char big[sizeof little];
    size_t count = sizeof little;
    __extension__ unsigned __int128 part = (unsigned __int128)mantissa << (shift % 8);
    for (size_t i = 0; i < 16; i++) {
        little[shift / 8 + i] = (unsigned char)(part >> (8 * i));
    }
    if (negative) {
        for (size_t i = 0; little[i]-- == 0; i++) {
        }
    }
    while (count > 0 && little[count - 1] == 0) {
        count--;
    }
    for (size_t i = 0; i < count; i++) {
        big[i] = little[count - 1 - i];
    }
    add_whole(hasher, negative, big, count);
}

static void
add_double(struct csb_hasher *hasher, double number)
{
    uint64_t bits = csb_double_bits(number);
    int exponent = (int)(bits >> MANTISSA_BITS & 0x7ff) - BIAS;
    uint64_t mantissa =
        (bits & ((UINT64_C(1) << MANTISSA_BITS) - 1)) | UINT64_C(1) << MANTISSA_BITS;
    bool negative = bits >> 63 != 0;
    if (bits == 0) {
        add_small(hasher, false, 0);
    } else if (!isfinite(number) || exponent <= -(MANTISSA_BITS + 1) ||
               (exponent < 0 && (mantissa & ((UINT64_C(1) << -exponent) - 1)) != 0)) {
        csb_hasher_add_word(hasher, 'f');
        csb_hasher_add_word(hasher, bits);
    } else if (exponent < 0) {
        add_small(hasher, negative, (mantissa >> -exponent) - negative);
    } else {
        add_shifted(hasher, negative, mantissa, (unsigned)exponent);
    }
}

void
csb_number_hash(struct csb_hasher *hasher, const struct csb_value_token *token)
{
    switch (token->kind) {
    case CSB_VALUE_INT:
        add_small(hasher, token->negative, token->number);
        break;
    case CSB_VALUE_BIG:
        add_whole(hasher, token->negative, token->bytes, token->count);
        break;
    case CSB_VALUE_FLOAT:
        add_double(hasher, token->real);
        break;
    default:
        if (token->imaginary == 0) {
            add_double(hasher, token->real);
        } else {
            csb_hasher_add_word(hasher, 'c');
            csb_hasher_add_word(hasher, csb_double_bits(token->real));
            csb_hasher_add_word(hasher, csb_double_bits(token->imaginary));
        }
    }
}
