/* The Python grammar with its node kinds and fields resolved once to numbers.
 *
 * Filled once, constant afterwards, shared by any number of threads. */
#ifndef CSB_GUARD_GRAMMAR_H
#define CSB_GUARD_GRAMMAR_H

#include <tree_sitter/api.h>

#include "error.h"

enum csb_kind {
    CSB_K_OTHER,
#define CSB_KIND(constant, name) CSB_K_##constant,
#include "kinds.def"
#undef CSB_KIND
    CSB_K_ERROR,
    CSB_K_COUNT
};

enum csb_field {
    CSB_F_NONE,
#define CSB_FIELD(constant, name) CSB_F_##constant,
#include "fields.def"
#undef CSB_FIELD
    CSB_F_COUNT
};

#define CSB_MAX_SYMBOLS 512
#define CSB_MAX_FIELDS 64

struct csb_grammar {
    const TSLanguage *language;
    uint8_t kind_of_symbol[CSB_MAX_SYMBOLS];
    uint8_t field_of_id[CSB_MAX_FIELDS];
    TSFieldId field_ids[CSB_F_COUNT];
};

/* 0, or -ENOTSUP when the compiled-in grammar is not the one this code was written for: a
 * grammar with other names would silently see nothing. */
CSB_MUST_USE int csb_grammar_init(struct csb_grammar *ret, struct csb_error *reterr);

enum csb_kind csb_node_kind(const struct csb_grammar *grammar, TSNode node);

/* The child in that field; a null node when there is none. */
TSNode csb_node_field(const struct csb_grammar *grammar, TSNode node,
                      enum csb_field field);

#endif
