/* A table from keyed hashes to a number, of fixed size. Owned by one thread; no GIL. */
#ifndef CSB_HASH_TABLE_H
#define CSB_HASH_TABLE_H

#include "keyed_hash.h"

struct csb_hash_slot {
    struct csb_hash hash;
    uint64_t number;
    bool used;
};

struct csb_hash_table {
    struct csb_hash_slot *slots; /* owned */
    size_t mask;
    size_t used;
    size_t most;
};

/* For at most `count` different hashes; 64 to 128 bytes each. 0 or -ENOMEM. */
int csb_hash_table_init(struct csb_hash_table *table, size_t count) CSB_MUST_USE;
void csb_hash_table_done(struct csb_hash_table *table);

/* The slot of this hash, or NULL. */
struct csb_hash_slot *csb_hash_table_find(const struct csb_hash_table *table,
                                          struct csb_hash hash);

/* The same, made with number 0 when it is not there; NULL when the table holds its most. */
struct csb_hash_slot *csb_hash_table_get(struct csb_hash_table *table,
                                         struct csb_hash hash);

#endif
