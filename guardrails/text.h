/* Small owned strings for messages, and the escaping of hostile text.
 *
 * Memory is the heap's; the caller owns what is returned. Any thread, no GIL. */
#ifndef CSB_GUARD_TEXT_H
#define CSB_GUARD_TEXT_H

#include <stdarg.h>

#include "csb.h"

/* A growing buffer. Zero-initialise it. After a failed allocation `failed` stays set, further
 * appends do nothing and csb_text_steal gives NULL: check once, at the end. */
struct csb_text {
    char *bytes;
    size_t len;
    size_t cap;
    bool failed;
};

void csb_text_add(struct csb_text *text, const char *bytes, size_t len);
void csb_text_puts(struct csb_text *text, const char *string);
void csb_text_printf(struct csb_text *text, const char *format, ...) CSB_PRINTF(2, 3);
void csb_text_vprintf(struct csb_text *text, const char *format, va_list arguments)
    CSB_PRINTF(2, 0);
void csb_text_repeat(struct csb_text *text, char character, size_t count);
void csb_text_done(struct csb_text *text);

/* The NUL-terminated string, owned by the caller now; NULL when an allocation failed. */
char *csb_text_steal(struct csb_text *text);

/* Decode one character of valid or broken UTF-8 at bytes[0]. Writes its length (>= 1) and
 * returns the code point, or -1 for a byte that is not part of valid UTF-8 (length 1). */
int32_t csb_utf8_next(const char *bytes, size_t len, size_t *ret_len);

/* True for what a terminal or an editor would act on or hide: control, format (bidi,
 * zero-width), surrogate, unassigned, private use, line and paragraph separators. */
bool csb_char_is_hostile(int32_t character);

/* Append `bytes` with every hostile character as \xNN, \uNNNN or \UNNNNNNNN. */
void csb_text_escape(struct csb_text *text, const char *bytes, size_t len);

/* The same into a fixed buffer, cut with an ellipsis after `max_chars` characters; always
 * NUL-terminated. For names in messages. Returns `buffer`. */
const char *csb_escape_name(char *buffer, size_t size, const char *bytes, size_t len);

#endif
