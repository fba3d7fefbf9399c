/* Theory of operation: the walk records every binding here; the rules ask afterwards, when all
 * bindings are known, because Python decides by the whole function and not by the order of lines.
 * The author is the adversary: whatever is not certain counts as "may still be the builtin"
 * (`if 0: open = None`, `del open`, a class body, a bare annotation). */
#include "scope.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int
csb_scopes_init(struct csb_scopes *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->cap = 32;
    ret->local_cap = 128;
    ret->slot_count = 512;
    ret->items = malloc(ret->cap * sizeof *ret->items);
    ret->locals = malloc(ret->local_cap * sizeof *ret->locals);
    ret->slots = malloc(ret->slot_count * sizeof *ret->slots);
    ret->first_action = UINT32_MAX;
    ret->key = csb_hash_key_new();
    if (ret->items == NULL || ret->locals == NULL || ret->slots == NULL) {
        csb_scopes_done(ret);
        return -ENOMEM;
    }
    memset(ret->slots, 0xff, ret->slot_count * sizeof *ret->slots);
    return 0;
}

void
csb_scopes_done(struct csb_scopes *scopes)
{
    free(scopes->items);
    free(scopes->locals);
    free(scopes->writes);
    free(scopes->slots);
    memset(scopes, 0, sizeof *scopes);
}

uint32_t
csb_scope_new(struct csb_scopes *scopes, uint32_t parent, enum csb_scope_kind kind)
{
    if (scopes->len == scopes->cap) {
        struct csb_scope *items =
            realloc(scopes->items, 2 * (size_t)scopes->cap * sizeof *items);
        if (items == NULL) {
            return CSB_NO_SCOPE;
        }
        scopes->items = items;
        scopes->cap *= 2;
    }
    scopes->items[scopes->len].parent = parent;
    scopes->items[scopes->len].kind = kind;
    return scopes->len++;
}

/* Slot of the pair, or the empty slot where it belongs. */
static uint32_t
find_slot(const struct csb_scopes *scopes, uint32_t scope, uint32_t atom)
{
    uint64_t pair = (uint64_t)scope << 32 | atom;
    uint32_t at = csb_hash_number(&scopes->key, pair) & (scopes->slot_count - 1);
    while (scopes->slots[at] != UINT32_MAX) {
        const struct csb_local *local = &scopes->locals[scopes->slots[at]];
        if (local->scope == scope && local->atom == atom) {
            break;
        }
        at = (at + 1) & (scopes->slot_count - 1);
    }
    return at;
}

static int
grow(struct csb_scopes *scopes)
{
    uint32_t *slots;
    if (scopes->local_len == scopes->local_cap) {
        struct csb_local *locals =
            realloc(scopes->locals, 2 * (size_t)scopes->local_cap * sizeof *locals);
        if (locals == NULL) {
            return -ENOMEM;
        }
        scopes->locals = locals;
        scopes->local_cap *= 2;
    }
    if ((scopes->local_len + 1) * 2 <= scopes->slot_count) {
        return 0;
    }
    slots = malloc(4 * (size_t)scopes->slot_count * sizeof *slots);
    if (slots == NULL) {
        return -ENOMEM;
    }
    free(scopes->slots);
    scopes->slots = slots;
    scopes->slot_count *= 4;
    memset(slots, 0xff, scopes->slot_count * sizeof *slots);
    for (uint32_t i = 0; i < scopes->local_len; i++) {
        slots[find_slot(scopes, scopes->locals[i].scope, scopes->locals[i].atom)] = i;
    }
    return 0;
}

struct csb_local *
csb_scope_bind(struct csb_scopes *scopes, uint32_t scope, uint32_t atom)
{
    uint32_t at = find_slot(scopes, scope, atom);
    struct csb_local *local;
    if (scopes->slots[at] != UINT32_MAX) {
        return &scopes->locals[scopes->slots[at]];
    }
    if (grow(scopes) < 0) {
        return NULL;
    }
    at = find_slot(scopes, scope, atom);
    scopes->slots[at] = scopes->local_len;
    local = &scopes->locals[scopes->local_len++];
    memset(local, 0, sizeof *local);
    local->scope = scope;
    local->atom = atom;
    local->certain_end = UINT32_MAX;
    local->path = CSB_NO_PATH;
    local->member = UINT32_MAX;
    local->write = CSB_NO_WRITE;
    return local;
}

int
csb_scope_write(struct csb_scopes *scopes, struct csb_local *local, TSNode statement,
                TSNode value, bool augmented, bool straight)
{
    if (scopes->write_len == scopes->write_cap) {
        uint32_t cap = scopes->write_cap == 0 ? 64 : scopes->write_cap * 2;
        struct csb_write *writes =
            realloc(scopes->writes, (size_t)cap * sizeof *writes);
        if (writes == NULL) {
            return -ENOMEM;
        }
        scopes->writes = writes;
        scopes->write_cap = cap;
    }
    scopes->writes[scopes->write_len] = (struct csb_write){
        .value = value,
        .statement = statement,
        .end = ts_node_end_byte(statement),
        .previous = local->write,
        .augmented = augmented,
    };
    local->write = scopes->write_len++;
    local->crooked = local->crooked || !straight;
    return 0;
}

static const struct csb_local *
lookup(const struct csb_scopes *scopes, uint32_t scope, uint32_t atom)
{
    uint32_t at = find_slot(scopes, scope, atom);
    return scopes->slots[at] == UINT32_MAX ? NULL : &scopes->locals[scopes->slots[at]];
}

const struct csb_local *
csb_scope_find(const struct csb_scopes *scopes, uint32_t scope, uint32_t atom)
{
    bool own = true;
    while (scope != CSB_NO_SCOPE && scope < scopes->len) {
        const struct csb_scope *here = &scopes->items[scope];
        if (own || here->kind != CSB_SCOPE_CLASS) {
            const struct csb_local *local = lookup(scopes, scope, atom);
            if (local != NULL && (local->binds & CSB_BIND_GLOBAL) != 0) {
                return lookup(scopes, 0, atom);
            }
            if (local != NULL && (local->binds & CSB_BIND_NONLOCAL) == 0) {
                return local;
            }
        }
        /* A comprehension in a class body sees that body's names only in its first iterable,
         * which the walk already files under the class. */
        own = false;
        scope = here->parent;
    }
    return NULL;
}

bool
csb_scope_shadows_builtin(const struct csb_scopes *scopes, uint32_t scope,
                          uint32_t atom, uint32_t at)
{
    const struct csb_local *local = csb_scope_find(scopes, scope, atom);
    enum csb_scope_kind kind;
    if (local == NULL) {
        return false;
    }
    kind = scopes->items[local->scope].kind;
    if (kind == CSB_SCOPE_FUNCTION || kind == CSB_SCOPE_COMPREHENSION) {
        return true;
    }
    if ((local->binds & CSB_BIND_DELETED) != 0 || local->certain_end == UINT32_MAX) {
        return false;
    }
    /* Either the binding stands above the read, or nothing that could call the reading function
     * runs before the binding does. */
    return local->certain_end <= at || local->certain_end < scopes->first_action;
}
