/* Identifiers of one source, each stored once, and what NFKC makes of a name.
 *
 * Owned by one check. An atom is an index; equal spellings have equal atoms. Because CSB005
 * refuses every identifier that NFKC would change, equal spelling is equal meaning. */
#ifndef CSB_GUARD_NAMES_H
#define CSB_GUARD_NAMES_H

#include "hash.h"

#define CSB_NO_ATOM UINT32_MAX

struct csb_atom {
    const char *name; /* into the source's text; not NUL-terminated */
    uint32_t len;
    uint32_t hash;
    uint32_t flags; /* enum csb_name_flag */
    bool ascii;
    bool own; /* the source itself defines an attribute of that name */
};

struct csb_atoms {
    struct csb_atom *items;
    uint32_t len;
    uint32_t cap;
    uint32_t *slots; /* power of two, CSB_NO_ATOM when empty */
    uint32_t slot_count;
    struct csb_hash_key key;
};

CSB_MUST_USE int csb_atoms_init(struct csb_atoms *ret);
void csb_atoms_done(struct csb_atoms *atoms);

/* The atom of a spelling, made when new; CSB_NO_ATOM when out of memory. */
uint32_t csb_atom(struct csb_atoms *atoms, const char *name, size_t len);

/* The atom of that spelling, or NULL when there is none. */
const struct csb_atom *csb_atom_find(const struct csb_atoms *atoms, const char *name,
                                     size_t len);

/* The NFKC form as a new NUL-terminated string when it differs from `name`, else NULL. The
 * caller frees it. *ret_failed is set when it could not be computed. */
char *csb_nfkc_changed(const char *name, size_t len, bool *ret_failed);

#endif
