/* Theory of operation: interns identifiers so that the walk compares numbers and asks the tables
 * once per spelling. A keyed hash with linear probing: the names are chosen by the author, who cannot
 * know where they fall. */
#include "names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

#include "tables.h"

int
csb_atoms_init(struct csb_atoms *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->cap = 256;
    ret->slot_count = 1024;
    ret->key = csb_hash_key_new();
    ret->items = malloc(ret->cap * sizeof *ret->items);
    ret->slots = malloc(ret->slot_count * sizeof *ret->slots);
    if (ret->items == NULL || ret->slots == NULL) {
        csb_atoms_done(ret);
        return -ENOMEM;
    }
    memset(ret->slots, 0xff, ret->slot_count * sizeof *ret->slots);
    return 0;
}

void
csb_atoms_done(struct csb_atoms *atoms)
{
    free(atoms->items);
    free(atoms->slots);
    memset(atoms, 0, sizeof *atoms);
}

static int
grow_slots(struct csb_atoms *atoms)
{
    uint32_t count = atoms->slot_count * 4;
    uint32_t *slots = malloc(count * sizeof *slots);
    if (slots == NULL) {
        return -ENOMEM;
    }
    memset(slots, 0xff, count * sizeof *slots);
    for (uint32_t i = 0; i < atoms->len; i++) {
        uint32_t at = atoms->items[i].hash & (count - 1);
        while (slots[at] != CSB_NO_ATOM) {
            at = (at + 1) & (count - 1);
        }
        slots[at] = i;
    }
    free(atoms->slots);
    atoms->slots = slots;
    atoms->slot_count = count;
    return 0;
}

static uint32_t
add_atom(struct csb_atoms *atoms, const char *name, size_t len, uint32_t hash)
{
    struct csb_atom *atom;
    if (atoms->len == atoms->cap) {
        struct csb_atom *items =
            realloc(atoms->items, 2 * (size_t)atoms->cap * sizeof *items);
        if (items == NULL) {
            return CSB_NO_ATOM;
        }
        atoms->items = items;
        atoms->cap *= 2;
    }
    atom = &atoms->items[atoms->len];
    memset(atom, 0, sizeof *atom);
    atom->name = name;
    atom->len = (uint32_t)len;
    atom->hash = hash;
    atom->flags = csb_name_flags(name, len);
    atom->ascii = true;
    for (size_t i = 0; i < len; i++) {
        atom->ascii = atom->ascii && (unsigned char)name[i] < 0x80;
    }
    return atoms->len++;
}

uint32_t
csb_atom(struct csb_atoms *atoms, const char *name, size_t len)
{
    uint32_t hash = csb_hash_bytes(&atoms->key, name, len);
    uint32_t at = hash & (atoms->slot_count - 1);
    uint32_t made;
    while (atoms->slots[at] != CSB_NO_ATOM) {
        const struct csb_atom *atom = &atoms->items[atoms->slots[at]];
        if (atom->hash == hash && atom->len == len &&
            memcmp(atom->name, name, len) == 0) {
            return atoms->slots[at];
        }
        at = (at + 1) & (atoms->slot_count - 1);
    }
    made = add_atom(atoms, name, len, hash);
    if (made == CSB_NO_ATOM) {
        return CSB_NO_ATOM;
    }
    atoms->slots[at] = made;
    if (atoms->len * 2 > atoms->slot_count && grow_slots(atoms) < 0) {
        return CSB_NO_ATOM;
    }
    return made;
}

const struct csb_atom *
csb_atom_find(const struct csb_atoms *atoms, const char *name, size_t len)
{
    uint32_t hash = csb_hash_bytes(&atoms->key, name, len);
    uint32_t at = hash & (atoms->slot_count - 1);
    while (atoms->slot_count > 0 && atoms->slots[at] != CSB_NO_ATOM) {
        const struct csb_atom *atom = &atoms->items[atoms->slots[at]];
        if (atom->hash == hash && atom->len == len &&
            memcmp(atom->name, name, len) == 0) {
            return atom;
        }
        at = (at + 1) & (atoms->slot_count - 1);
    }
    return NULL;
}

char *
csb_nfkc_changed(const char *name, size_t len, bool *ret_failed)
{
    utf8proc_uint8_t *folded = NULL;
    utf8proc_ssize_t folded_len = utf8proc_map(
        (const utf8proc_uint8_t *)name, (utf8proc_ssize_t)len, &folded,
        (utf8proc_option_t)(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT));
    *ret_failed = folded_len < 0;
    if (folded_len < 0) {
        return NULL;
    }
    if ((size_t)folded_len == len && memcmp(folded, name, len) == 0) {
        free(folded);
        return NULL;
    }
    return (char *)folded;
}
