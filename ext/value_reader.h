/* A value, token by token, in the order of its encoding; all of its limits and rules held.
 *
 * The reader borrows the bytes; tokens point into them. It allocates nothing, recurses never,
 * and says nothing about a container's size that the bytes left could not hold, so whoever
 * builds from the tokens may take memory for what they announce. Any thread, no GIL. */
#ifndef CSB_VALUE_READER_H
#define CSB_VALUE_READER_H

#include "value_format.h"

enum csb_value_kind {
    CSB_VALUE_NONE,
    CSB_VALUE_BOOL,
    CSB_VALUE_INT,
    CSB_VALUE_BIG,
    CSB_VALUE_FLOAT,
    CSB_VALUE_COMPLEX,
    CSB_VALUE_TEXT,
    CSB_VALUE_SURROGATES,
    CSB_VALUE_BYTES,
    CSB_VALUE_LIST,
    CSB_VALUE_TUPLE,
    CSB_VALUE_SET,
    CSB_VALUE_FROZENSET,
    CSB_VALUE_DICT,
    CSB_VALUE_CLOSE, /* the container that was opened last, and not closed yet, is complete */
};

struct csb_value_token {
    enum csb_value_kind kind;
    bool negative; /* INT, BIG: the value is -1 - number */
    uint64_t
        number; /* BOOL, INT; containers: tokens directly inside, a pair counts two */
    double real;
    double imaginary;
    const unsigned char *bytes; /* TEXT, SURROGATES, BYTES, BIG (big-endian) */
    size_t count;
    size_t start; /* offset of the value's first byte, tags included */
    size_t end;   /* offset behind it; of a container: behind its head */
};

struct csb_value_open {
    uint64_t left; /* tokens still to come directly inside */
    unsigned char kind;
    bool hashed; /* everything inside must be hashable */
};

struct csb_value_reader {
    const unsigned char *bytes;
    size_t count;
    size_t at;
    struct csb_value_limits limits;
    uint64_t pending; /* tokens to come in all open containers */
    uint64_t items;
    uint32_t depth;
    bool begun;
    struct csb_value_open open[CSB_VALUE_MAX_DEPTH];
};

void csb_value_reader_init(struct csb_value_reader *reader, const unsigned char *bytes,
                           size_t count, const struct csb_value_limits *limits);

/* 1 and a token, 0 when the one value is complete and no byte is left, or -EBADMSG with
 * *fault filled. Containers are followed by what is inside, then CLOSE. */
int csb_value_next(struct csb_value_reader *reader, struct csb_value_token *ret,
                   struct csb_value_fault *fault) CSB_MUST_USE;

bool csb_value_is_container(enum csb_value_kind kind);

/* "list", "int", as Python calls it. */
const char *csb_value_kind_name(enum csb_value_kind kind);

/* Read all of it for its faults alone. 0 or -EBADMSG. */
int csb_value_validate(const unsigned char *bytes, size_t count,
                       const struct csb_value_limits *limits,
                       struct csb_value_fault *fault) CSB_MUST_USE;

#endif
