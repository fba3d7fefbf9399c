/* Theory of operation: either process. Writes heads of CBOR in their shortest form; that is
 * all of the format that writing needs. Trusts its caller for the order of what is written. */
#include "value_writer.h"

#include <stdlib.h>
#include <string.h>

enum major { UNSIGNED, NEGATIVE, BYTES, TEXT, ARRAY, MAP, TAG };
enum simple { FALSE = 0xF4, TRUE = 0xF5, NONE = 0xF6, DOUBLE = 0xFB };

void
csb_value_writer_done(struct csb_value_writer *writer)
{
    free(writer->bytes);
    *writer = (struct csb_value_writer){.limit = writer->limit};
}

static bool
reserve(struct csb_value_writer *writer, size_t count)
{
    if (writer->failed || writer->full) {
        return false;
    }
    if (count > writer->limit || writer->count > writer->limit - count) {
        writer->full = true;
        return false;
    }
    if (writer->capacity - writer->count < count) {
        size_t capacity = (writer->count + count + 64) * 2;
        unsigned char *grown = realloc(writer->bytes, capacity);
        if (grown == NULL) {
            writer->failed = true;
            return false;
        }
        writer->bytes = grown;
        writer->capacity = capacity;
    }
    return true;
}

void
csb_write_raw(struct csb_value_writer *writer, const void *bytes, size_t count)
{
    if (count > 0 && reserve(writer, count)) {
        memcpy(writer->bytes + writer->count, bytes, count);
        writer->count += count;
    }
}

static void
put_byte(struct csb_value_writer *writer, unsigned byte)
{
    const unsigned char one = (unsigned char)byte;
    csb_write_raw(writer, &one, 1);
}

static void
put_big_endian(struct csb_value_writer *writer, unsigned first, uint64_t number,
               size_t count)
{
    unsigned char bytes[9] = {(unsigned char)first};
    for (size_t i = 0; i < count; i++) {
        bytes[count - i] = (unsigned char)(number >> (8 * i));
    }
    csb_write_raw(writer, bytes, count + 1);
}

static void
put_head(struct csb_value_writer *writer, enum major major, uint64_t number)
{
    unsigned first = (unsigned)major << 5;
    if (number < 24) {
        put_byte(writer, first | (unsigned)number);
    } else if (number <= UINT8_MAX) {
        put_big_endian(writer, first | 24, number, 1);
    } else if (number <= UINT16_MAX) {
        put_big_endian(writer, first | 25, number, 2);
    } else if (number <= UINT32_MAX) {
        put_big_endian(writer, first | 26, number, 4);
    } else {
        put_big_endian(writer, first | 27, number, 8);
    }
}

void
csb_write_none(struct csb_value_writer *writer)
{
    put_byte(writer, NONE);
}

void
csb_write_bool(struct csb_value_writer *writer, bool value)
{
    put_byte(writer, value ? TRUE : FALSE);
}

void
csb_write_int(struct csb_value_writer *writer, bool negative, uint64_t number)
{
    put_head(writer, negative ? NEGATIVE : UNSIGNED, number);
}

void
csb_write_big(struct csb_value_writer *writer, bool negative,
              const unsigned char *bytes, size_t count)
{
    put_head(writer, TAG, negative ? CSB_TAG_BIG_NEGATIVE : CSB_TAG_BIG_POSITIVE);
    csb_write_bytes(writer, bytes, count);
}

void
csb_write_float(struct csb_value_writer *writer, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    put_big_endian(writer, DOUBLE, bits, sizeof bits);
}

void
csb_write_complex(struct csb_value_writer *writer, double real, double imaginary)
{
    put_head(writer, TAG, CSB_TAG_COMPLEX);
    put_head(writer, ARRAY, 2);
    csb_write_float(writer, real);
    csb_write_float(writer, imaginary);
}

void
csb_write_text(struct csb_value_writer *writer, const char *utf8, size_t count)
{
    put_head(writer, TEXT, count);
    csb_write_raw(writer, utf8, count);
}

void
csb_write_surrogates(struct csb_value_writer *writer, const char *bytes, size_t count)
{
    put_head(writer, TAG, CSB_TAG_SURROGATES);
    csb_write_bytes(writer, bytes, count);
}

void
csb_write_bytes(struct csb_value_writer *writer, const void *bytes, size_t count)
{
    put_head(writer, BYTES, count);
    csb_write_raw(writer, bytes, count);
}

void
csb_write_list(struct csb_value_writer *writer, uint64_t count)
{
    put_head(writer, ARRAY, count);
}

static void
put_tagged(struct csb_value_writer *writer, enum csb_value_tag tag, uint64_t count)
{
    put_head(writer, TAG, tag);
    put_head(writer, ARRAY, count);
}

void
csb_write_tuple(struct csb_value_writer *writer, uint64_t count)
{
    put_tagged(writer, CSB_TAG_TUPLE, count);
}

void
csb_write_set(struct csb_value_writer *writer, uint64_t count)
{
    put_tagged(writer, CSB_TAG_SET, count);
}

void
csb_write_frozenset(struct csb_value_writer *writer, uint64_t count)
{
    put_tagged(writer, CSB_TAG_FROZENSET, count);
}

void
csb_write_dict(struct csb_value_writer *writer, uint64_t count)
{
    put_head(writer, MAP, count);
}
