/* What CPython made of the submission: the names and imports of its code objects.
 *
 * The second opinion on what the code is. The child, still trusted, compiles the text and
 * sends these facts before it executes a byte of it; the caller compares them with what the
 * parser saw. A packed list of entries, each a struct csb_fact followed by `length` bytes
 * of UTF-8; entries are not aligned. */
#ifndef CSB_FACTS_H
#define CSB_FACTS_H

#include "csb.h"

enum csb_fact_kind {
    CSB_FACT_NAME =
        1,           /* co_names: globals, attributes, and what the next two name too */
    CSB_FACT_LOCAL,  /* parameters, locals, cells */
    CSB_FACT_IMPORT, /* IMPORT_NAME: the dotted module, "" for `from . import x` */
    CSB_FACT_FROM,   /* IMPORT_FROM: a member of the import before it */
    CSB_FACT_STRING, /* a word of a str constant that may name a special attribute, or all of
                        one that may name a member */
};

struct csb_fact {
    uint32_t kind;
    uint32_t length;
};

/* Read one entry at *at (advanced past it); false at the end or when what is left is not a
 * whole entry. */
static inline bool
csb_fact_next(const unsigned char **at, const unsigned char *end, struct csb_fact *ret,
              const char **ret_text)
{
    if ((size_t)(end - *at) < sizeof *ret) {
        return false;
    }
    __builtin_memcpy(ret, *at, sizeof *ret);
    if (ret->length > (size_t)(end - *at) - sizeof *ret) {
        return false;
    }
    *ret_text = (const char *)(*at + sizeof *ret);
    *at += sizeof *ret + ret->length;
    return true;
}

#endif
