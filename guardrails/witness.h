/* What the walk saw of a source, written down whole: for tests that hold it against CPython.
 *
 * Off in every ordinary check (csb_check.witness is NULL). Owned by the caller of
 * csb_check_witnessed; filled in its thread; no GIL. Knows the walk, judges nothing. */
#ifndef CSB_GUARD_WITNESS_H
#define CSB_GUARD_WITNESS_H

#include "frame.h"

enum csb_witness_kind {
    CSB_WITNESS_IMPORT,    /* "a.b"; "a.b.name" for each name of a from-import; "*" */
    CSB_WITNESS_ATTRIBUTE, /* also the keyword of a class pattern */
    CSB_WITNESS_CALL,      /* the name, or the attribute, that is called */
    CSB_WITNESS_NAME,      /* a variable that is read */
    CSB_WITNESS_STRING, /* value of a literal, adjacent ones joined; f-strings without
                              what is computed */
    CSB_WITNESS_PREFIX, /* the same, when an escape in it is beyond the decoder; that
                              character is U+FFFD */
    CSB_WITNESS_KINDS
};

/* A growing list of entries, each a struct csb_witness_entry and `length` bytes after it,
 * unaligned. Zero-initialise it; when `entries.failed` is set the list is worth nothing. */
struct csb_witness {
    struct csb_text entries;
};

struct csb_witness_entry {
    uint32_t kind;
    uint32_t length;
};

void csb_witness_done(struct csb_witness *witness);

/* All of these do nothing when there is no witness. */
void csb_witness_add(const struct csb_check *check, enum csb_witness_kind kind,
                     const char *text, size_t len);
void csb_witness_import(const struct csb_check *check, uint32_t path, uint32_t atom);

/* The node that the walk has just come to, frames[depth]: literals. */
void csb_witness_node(const struct csb_walker *walker);

/* An identifier that is a variable, or (member) an attribute. */
void csb_witness_identifier(const struct csb_walker *walker,
                            const struct csb_frame *frame, uint32_t atom, bool member);

#endif
