/* Theory of operation: string building for messages and the renderer; in the caller's process,
 * GIL released. Source text is hostile: whatever reaches a person goes through csb_text_escape,
 * because a terminal is a parser too (control sequences, bidi overrides, zero-width names). */
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

static bool
reserve(struct csb_text *text, size_t extra)
{
    size_t need;
    if (text->failed) {
        return false;
    }
    need = text->len + extra + 1;
    if (need > text->cap) {
        size_t cap = text->cap == 0 ? 128 : text->cap;
        char *bytes;
        while (cap < need) {
            cap *= 2;
        }
        bytes = realloc(text->bytes, cap);
        if (bytes == NULL) {
            text->failed = true;
            return false;
        }
        text->bytes = bytes;
        text->cap = cap;
    }
    return true;
}

void
csb_text_add(struct csb_text *text, const char *bytes, size_t len)
{
    if (reserve(text, len)) {
        memcpy(text->bytes + text->len, bytes, len);
        text->len += len;
        text->bytes[text->len] = '\0';
    }
}

void
csb_text_puts(struct csb_text *text, const char *string)
{
    csb_text_add(text, string, strlen(string));
}

void
csb_text_vprintf(struct csb_text *text, const char *format, va_list arguments)
{
    char buffer[1024];
    int len = vsnprintf(buffer, sizeof buffer, format, arguments);
    if (len > 0) {
        /* Messages are bounded on purpose: hostile names must not make them long. */
        size_t used = (size_t)len < sizeof buffer ? (size_t)len : sizeof buffer - 1;
        csb_text_add(text, buffer, used);
    }
}

void
csb_text_printf(struct csb_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    csb_text_vprintf(text, format, arguments);
    va_end(arguments);
}

void
csb_text_repeat(struct csb_text *text, char character, size_t count)
{
    if (reserve(text, count)) {
        memset(text->bytes + text->len, character, count);
        text->len += count;
        text->bytes[text->len] = '\0';
    }
}

void
csb_text_done(struct csb_text *text)
{
    free(text->bytes);
    memset(text, 0, sizeof *text);
}

char *
csb_text_steal(struct csb_text *text)
{
    char *bytes;
    if (!reserve(text, 0)) {
        csb_text_done(text);
        return NULL;
    }
    bytes = text->bytes;
    bytes[text->len] = '\0';
    memset(text, 0, sizeof *text);
    return bytes;
}

int32_t
csb_utf8_next(const char *bytes, size_t len, size_t *ret_len)
{
    utf8proc_int32_t character;
    utf8proc_ssize_t used;
    *ret_len = 1;
    if ((unsigned char)bytes[0] < 0x80) {
        return (unsigned char)bytes[0];
    }
    used = utf8proc_iterate((const utf8proc_uint8_t *)bytes,
                            (utf8proc_ssize_t)(len > 4 ? 4 : len), &character);
    if (used <= 0) {
        return -1;
    }
    *ret_len = (size_t)used;
    return character;
}

bool
csb_char_is_hostile(int32_t character)
{
    if (character < 0x20 || character == 0x7f) {
        return true;
    }
    if (character < 0x7f) {
        return false;
    }
    switch (utf8proc_category(character)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
        return true;
    default:
        return false;
    }
}

static void
escape_one(struct csb_text *text, int32_t character)
{
    if (character == '\n') {
        csb_text_puts(text, "\\n");
    } else if (character == '\t') {
        csb_text_puts(text, "\\t");
    } else if (character < 0x100) {
        csb_text_printf(text, "\\x%02x", (unsigned)character);
    } else if (character < 0x10000) {
        csb_text_printf(text, "\\u%04x", (unsigned)character);
    } else {
        csb_text_printf(text, "\\U%08x", (unsigned)character);
    }
}

void
csb_text_escape(struct csb_text *text, const char *bytes, size_t len)
{
    size_t at = 0;
    while (at < len) {
        size_t used;
        int32_t character = csb_utf8_next(bytes + at, len - at, &used);
        if (character < 0) {
            escape_one(text, (unsigned char)bytes[at]);
        } else if (csb_char_is_hostile(character)) {
            escape_one(text, character);
        } else {
            csb_text_add(text, bytes + at, used);
        }
        at += used;
    }
}

const char *
csb_escape_name(char *buffer, size_t size, const char *bytes, size_t len)
{
    struct csb_text text = {0};
    size_t shown = len;
    /* Cut the input first: an escape is at most ten times as long as what it stands for. */
    if (shown > 80) {
        shown = 80;
        while (shown > 0 && ((unsigned char)bytes[shown] & 0xc0) == 0x80) {
            shown--;
        }
    }
    csb_text_escape(&text, bytes, shown);
    if (shown < len) {
        csb_text_puts(&text, "...");
    }
    (void)snprintf(buffer, size, "%s", text.failed || !text.bytes ? "?" : text.bytes);
    csb_text_done(&text);
    return buffer;
}
