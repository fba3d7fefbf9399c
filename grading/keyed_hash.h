/* A keyed hash of 128 bits: SipHash-2-4 with its long result, written from the paper.
 *
 * Whoever does not know the key can neither find two inputs with the same hash nor choose
 * where one lands, so equal hashes stand for equal values, and tables need no second look.
 * Pure C, any thread; allocates nothing. */
#ifndef CSB_KEYED_HASH_H
#define CSB_KEYED_HASH_H

#include "csb.h"

struct csb_hash_secret {
    uint64_t words[2];
};

struct csb_hash {
    uint64_t words[2];
};

struct csb_hasher {
    uint64_t state[4];
    uint64_t tail; /* bytes that are not yet a word */
    uint64_t length;
};

/* A key of this process's own, from the kernel; a new one for each comparison. */
struct csb_hash_secret csb_hash_secret_new(void);

void csb_hasher_init(struct csb_hasher *hasher, const struct csb_hash_secret *secret);
void csb_hasher_add(struct csb_hasher *hasher, const void *bytes, size_t count);
void csb_hasher_add_word(struct csb_hasher *hasher, uint64_t word);
struct csb_hash csb_hasher_end(struct csb_hasher *hasher);

bool csb_hash_equal(struct csb_hash one, struct csb_hash two);

/* Sum modulo 2^128, for collections without an order. */
void csb_hash_add_to(struct csb_hash *sum, struct csb_hash hash);

#endif
