/* Theory of operation: decodes string literals by CPython's rules (Objects/unicodeobject.c,
 * bytesobject.c) so that "\x5f\x5fclass__" is compared as what it means. Works on text that the
 * parser called a string; bounded by the literal's own length. */
#include "literal.h"

#include <string.h>

bool
csb_literal_open(const char *text, size_t len, struct csb_literal *ret)
{
    size_t at = 0;
    memset(ret, 0, sizeof *ret);
    for (; at < len && at < 3 && text[at] != '"' && text[at] != '\''; at++) {
        switch (text[at] | 0x20) {
        case 'r':
            ret->raw = true;
            break;
        case 'b':
            ret->bytes = true;
            break;
        case 'f':
        case 't':
            ret->format = true;
            break;
        case 'u':
            break;
        default:
            return false;
        }
    }
    if (at >= len || (text[at] != '"' && text[at] != '\'')) {
        return false;
    }
    ret->quote = text[at];
    ret->triple =
        at + 2 < len && text[at + 1] == ret->quote && text[at + 2] == ret->quote;
    ret->body = at + (ret->triple ? 3 : 1);
    return true;
}

size_t
csb_literal_end(const char *text, size_t len, const struct csb_literal *literal)
{
    size_t at = literal->body;
    while (at < len) {
        if (text[at] == '\\') {
            at += 2;
        } else if (text[at] != literal->quote) {
            at++;
        } else if (!literal->triple) {
            return at + 1;
        } else if (at + 2 < len && text[at + 1] == literal->quote &&
                   text[at + 2] == literal->quote) {
            return at + 3;
        } else {
            at++;
        }
    }
    return len;
}

void
csb_text_char(struct csb_text *text, uint32_t character)
{
    char bytes[4];
    if (character < 0x80) {
        bytes[0] = (char)character;
        csb_text_add(text, bytes, 1);
    } else if (character < 0x800) {
        bytes[0] = (char)(0xc0 | character >> 6);
        bytes[1] = (char)(0x80 | (character & 0x3f));
        csb_text_add(text, bytes, 2);
    } else if (character < 0x10000) {
        bytes[0] = (char)(0xe0 | character >> 12);
        bytes[1] = (char)(0x80 | (character >> 6 & 0x3f));
        bytes[2] = (char)(0x80 | (character & 0x3f));
        csb_text_add(text, bytes, 3);
    } else {
        bytes[0] = (char)(0xf0 | (character >> 18 & 0x07));
        bytes[1] = (char)(0x80 | (character >> 12 & 0x3f));
        bytes[2] = (char)(0x80 | (character >> 6 & 0x3f));
        bytes[3] = (char)(0x80 | (character & 0x3f));
        csb_text_add(text, bytes, 4);
    }
}

static int
digit(char character)
{
    if (character >= '0' && character <= '9') {
        return character - '0';
    }
    character |= 0x20;
    return character >= 'a' && character <= 'f' ? character - 'a' + 10 : -1;
}

/* Read exactly `count` hex digits; 0 when they are not there. */
static size_t
read_hex(const char *text, size_t len, size_t count, uint32_t *ret)
{
    uint32_t value = 0;
    if (len < count) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        int one = digit(text[i]);
        if (one < 0) {
            return 0;
        }
        value = value << 4 | (uint32_t)one;
    }
    *ret = value;
    return count;
}

/* \N{NAME}: the names from which attribute names can be built. Others leave the literal's value
 * unknown from there on. */
static bool
named_character(const char *name, size_t len, uint32_t *ret)
{
    static const char small[] = "LATIN SMALL LETTER ";
    static const char capital[] = "LATIN CAPITAL LETTER ";
    if (len == sizeof small && memcmp(name, small, sizeof small - 1) == 0) {
        *ret = (uint32_t)((unsigned char)name[len - 1] | 0x20);
        return true;
    }
    if (len == sizeof capital && memcmp(name, capital, sizeof capital - 1) == 0) {
        *ret = (unsigned char)name[len - 1];
        return true;
    }
    if ((len == 8 && memcmp(name, "LOW LINE", 8) == 0) ||
        (len == 18 && memcmp(name, "SPACING UNDERSCORE", 18) == 0)) {
        *ret = '_';
        return true;
    }
    if (len == 9 && memcmp(name, "FULL STOP", 9) == 0) {
        *ret = '.';
        return true;
    }
    return false;
}

static size_t
decode_named(const char *text, size_t len, struct csb_text *out, bool *ret_whole)
{
    const char *close = len > 0 && text[0] == '{' ? memchr(text, '}', len) : NULL;
    uint32_t character = 0xfffd;
    if (close == NULL) {
        *ret_whole = false;
        return 0;
    }
    if (!named_character(text + 1, (size_t)(close - text) - 1, &character)) {
        *ret_whole = false;
    }
    csb_text_char(out, character);
    return (size_t)(close - text) + 1;
}

static size_t
decode_octal(const char *text, size_t len, struct csb_text *out)
{
    uint32_t value = 0;
    size_t used = 0;
    while (used < len && used < 3 && text[used] >= '0' && text[used] <= '7') {
        value = value * 8 + (uint32_t)(text[used++] - '0');
    }
    csb_text_char(out, value);
    return used;
}

/* text[0] is the character after the backslash. Returns how much of it was used. */
static size_t
decode_escape(const char *text, size_t len, bool bytes, struct csb_text *out,
              bool *ret_whole)
{
    static const char simple[] = "\\\\''\"\"a\ab\bf\fn\nr\rt\tv\v";
    uint32_t value;
    size_t digits;
    if (text[0] == '\n') {
        return 1;
    }
    for (size_t i = 0; i + 1 < sizeof simple; i += 2) {
        if (text[0] == simple[i]) {
            csb_text_add(out, &simple[i + 1], 1);
            return 1;
        }
    }
    if (text[0] >= '0' && text[0] <= '7') {
        return decode_octal(text, len, out);
    }
    if (text[0] == 'N' && !bytes) {
        return 1 + decode_named(text + 1, len - 1, out, ret_whole);
    }
    digits = text[0] == 'x'   ? 2
             : bytes          ? 0
             : text[0] == 'u' ? 4
             : text[0] == 'U' ? 8
                              : 0;
    if (digits > 0 && read_hex(text + 1, len - 1, digits, &value) > 0 &&
        value < 0x110000) {
        csb_text_char(out, value);
        return 1 + digits;
    }
    /* Not an escape: CPython keeps the backslash. */
    csb_text_add(out, "\\", 1);
    return 0;
}

void
csb_literal_decode(const char *body, size_t len, bool raw, bool bytes,
                   struct csb_text *out, bool *ret_whole)
{
    size_t at = 0;
    while (at < len) {
        const char *slash = raw ? NULL : memchr(body + at, '\\', len - at);
        size_t run = slash == NULL ? len - at : (size_t)(slash - (body + at));
        csb_text_add(out, body + at, run);
        at += run;
        if (slash != NULL) {
            at++;
            if (at < len) {
                at += decode_escape(body + at, len - at, bytes, out, ret_whole);
            } else {
                csb_text_add(out, "\\", 1); /* before the { of an f-string's field */
            }
        }
    }
}
