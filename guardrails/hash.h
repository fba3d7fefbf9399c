/* The hash of the tables that hold a submission's names: keyed anew for each table, so that
 * nobody can write a source whose names all meet in one slot.
 *
 * Any thread; no allocation. Not a digest: only good for slots. */
#ifndef CSB_GUARD_HASH_H
#define CSB_GUARD_HASH_H

#include "csb.h"

struct csb_hash_key {
    uint64_t start;
    uint64_t factor; /* odd */
};

/* A fresh key, from the kernel's generator; from clock and address where that is out of reach
 * (a host that is confined itself), since a check must not fail for that. */
struct csb_hash_key csb_hash_key_new(void);

uint32_t csb_hash_bytes(const struct csb_hash_key *key, const char *bytes, size_t len);
uint32_t csb_hash_number(const struct csb_hash_key *key, uint64_t number);

#endif
