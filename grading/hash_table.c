/* Theory of operation: in the caller, GIL released. Open addressing; hashes are keyed and long,
 * so a slot's hash is its key and nobody outside can make chains long. */
#include "hash_table.h"

#include <errno.h>
#include <stdlib.h>

int
csb_hash_table_init(struct csb_hash_table *table, size_t count)
{
    size_t size = 8;
    while (size / 2 < count && size < SIZE_MAX / 128) {
        size *= 2;
    }
    *table = (struct csb_hash_table){.slots = calloc(size, sizeof *table->slots),
                                     .mask = size - 1,
                                     .most = size / 2};
    return table->slots == NULL ? -ENOMEM : 0;
}

void
csb_hash_table_done(struct csb_hash_table *table)
{
    free(table->slots);
    *table = (struct csb_hash_table){0};
}

/* The slot with this hash, or the free one where it would be. */
static struct csb_hash_slot *
probe(const struct csb_hash_table *table, struct csb_hash hash)
{
    size_t at = (size_t)hash.words[0] & table->mask;
    while (table->slots[at].used && !csb_hash_equal(table->slots[at].hash, hash)) {
        at = (at + 1) & table->mask;
    }
    return &table->slots[at];
}

struct csb_hash_slot *
csb_hash_table_find(const struct csb_hash_table *table, struct csb_hash hash)
{
    struct csb_hash_slot *slot = probe(table, hash);
    return slot->used ? slot : NULL;
}

struct csb_hash_slot *
csb_hash_table_get(struct csb_hash_table *table, struct csb_hash hash)
{
    struct csb_hash_slot *slot = probe(table, hash);
    if (!slot->used) {
        if (table->used == table->most) {
            return NULL;
        }
        table->used++;
        *slot = (struct csb_hash_slot){.hash = hash, .used = true};
    }
    return slot;
}
