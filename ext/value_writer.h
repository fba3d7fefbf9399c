/* A growing, bounded buffer into which a value is written.
 *
 * Zero-initialise but for `limit`. After an allocation failed, or the limit would be passed,
 * `failed` or `full` stays set and writes do nothing: check once. Owned by one thread; either
 * process; no GIL. */
#ifndef CSB_VALUE_WRITER_H
#define CSB_VALUE_WRITER_H

#include "value_format.h"

struct csb_value_writer {
    unsigned char *bytes; /* owned */
    size_t count;
    size_t capacity;
    uint64_t limit;
    bool failed; /* no memory */
    bool full;
};

void csb_value_writer_done(struct csb_value_writer *writer);

void csb_write_raw(struct csb_value_writer *writer, const void *bytes, size_t count);

void csb_write_none(struct csb_value_writer *writer);
void csb_write_bool(struct csb_value_writer *writer, bool value);
/* number, or -1 - number */
void csb_write_int(struct csb_value_writer *writer, bool negative, uint64_t number);
/* The same with a number of more than 64 bits, big-endian, without leading zeros. */
void csb_write_big(struct csb_value_writer *writer, bool negative,
                   const unsigned char *bytes, size_t count);
void csb_write_float(struct csb_value_writer *writer, double number);
void csb_write_complex(struct csb_value_writer *writer, double real, double imaginary);
void csb_write_text(struct csb_value_writer *writer, const char *utf8, size_t count);
void csb_write_surrogates(struct csb_value_writer *writer, const char *bytes,
                          size_t count);
void csb_write_bytes(struct csb_value_writer *writer, const void *bytes, size_t count);

/* Heads; `count` values, or pairs of a dict, must follow. */
void csb_write_list(struct csb_value_writer *writer, uint64_t count);
void csb_write_tuple(struct csb_value_writer *writer, uint64_t count);
void csb_write_set(struct csb_value_writer *writer, uint64_t count);
void csb_write_frozenset(struct csb_value_writer *writer, uint64_t count);
void csb_write_dict(struct csb_value_writer *writer, uint64_t count);

#endif
