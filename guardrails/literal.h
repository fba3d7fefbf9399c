/* String literals as CPython decodes them. */
#ifndef CSB_GUARD_LITERAL_H
#define CSB_GUARD_LITERAL_H

#include "text.h"

struct csb_literal {
    bool raw;
    bool bytes;
    bool format; /* f or t */
    bool triple;
    char quote;
    size_t body; /* offset of the first character after the opening quote */
};

/* Read prefix and opening quote. False when `text` does not start a string literal. */
bool csb_literal_open(const char *text, size_t len, struct csb_literal *ret);

/* Offset after the closing quote by CPython's rule (a backslash always takes the next
 * character with it), or `len` when it is not closed. For literals without f or t. */
size_t csb_literal_end(const char *text, size_t len, const struct csb_literal *literal);

/* Append the value of `len` bytes of a literal's body. *ret_whole is cleared when an escape
 * cannot be decoded here; what was appended up to there is still right. */
void csb_literal_decode(const char *body, size_t len, bool raw, bool bytes,
                        struct csb_text *out, bool *ret_whole);

/* Append one character as UTF-8 (surrogates included, as CPython keeps them in a str). */
void csb_text_char(struct csb_text *text, uint32_t character);

#endif
