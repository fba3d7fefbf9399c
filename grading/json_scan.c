/* Theory of operation: in the caller, GIL released, any bytes. Never looks behind the end, and
 * what a string unfolds to is never longer than how it was written. */
#include "json_scan.h"

#include "value_utf8.h"

#include <string.h>

int
csb_json_peek(struct csb_json_text *text)
{
    while (text->at < text->count && text->bytes[text->at] != '\0' &&
           strchr(" \t\r\n", text->bytes[text->at]) != NULL) {
        text->at++;
    }
    return text->at < text->count ? text->bytes[text->at] : CSB_JSON_END;
}

bool
csb_json_word(struct csb_json_text *text, enum csb_json_word *ret)
{
    static const char *const words[] = {
        [CSB_JSON_NULL] = "null",         [CSB_JSON_TRUE] = "true",
        [CSB_JSON_FALSE] = "false",       [CSB_JSON_NAN] = "NaN",
        [CSB_JSON_INFINITY] = "Infinity", [CSB_JSON_MINUS_INFINITY] = "-Infinity",
    };
    for (size_t i = 0; i < CSB_ARRAY_LEN(words); i++) {
        size_t length = strlen(words[i]);
        if (text->count - text->at >= length &&
            memcmp(text->bytes + text->at, words[i], length) == 0) {
            text->at += length;
            *ret = (enum csb_json_word)i;
            return true;
        }
    }
    return false;
}

static int
byte_at(const struct csb_json_text *text, size_t at)
{
    return at < text->count ? text->bytes[at] : CSB_JSON_END;
}

static size_t
skip_digits(const struct csb_json_text *text, size_t at)
{
    while (byte_at(text, at) >= '0' && byte_at(text, at) <= '9') {
        at++;
    }
    return at;
}

size_t
csb_json_number(struct csb_json_text *text, bool *ret_is_int)
{
    size_t start = text->at + (byte_at(text, text->at) == '-');
    size_t at = skip_digits(text, start);
    size_t part;
    size_t length;
    *ret_is_int = true;
    if (at == start || (at > start + 1 && text->bytes[start] == '0')) {
        return 0;
    }
    if (byte_at(text, at) == '.') {
        *ret_is_int = false;
        part = skip_digits(text, at + 1);
        if (part == at + 1) {
            return 0;
        }
        at = part;
    }
    if (byte_at(text, at) == 'e' || byte_at(text, at) == 'E') {
        *ret_is_int = false;
        at++;
        at += byte_at(text, at) == '+' || byte_at(text, at) == '-';
        part = skip_digits(text, at);
        if (part == at) {
            return 0;
        }
        at = part;
    }
    length = at - text->at;
    text->at = at;
    return length;
}

/* Four hexadecimal digits; -1 when they are none. */
static int32_t
hex4(const struct csb_json_text *text, size_t at)
{
    int32_t number = 0;
    for (size_t i = at; i < at + 4; i++) {
        int byte = byte_at(text, i);
        int digit = byte >= '0' && byte <= '9'   ? byte - '0'
                    : byte >= 'a' && byte <= 'f' ? byte - 'a' + 10
                    : byte >= 'A' && byte <= 'F' ? byte - 'A' + 10
                                                 : -1;
        if (digit < 0) {
            return -1;
        }
        number = number * 16 + digit;
    }
    return number;
}

static size_t
put_character(unsigned char *buffer, uint32_t character)
{
    if (character < 0x80) {
        buffer[0] = (unsigned char)character;
        return 1;
    }
    if (character < 0x800) {
        buffer[0] = (unsigned char)(0xC0 | character >> 6);
        buffer[1] = (unsigned char)(0x80 | (character & 0x3F));
        return 2;
    }
    if (character < 0x10000) {
        buffer[0] = (unsigned char)(0xE0 | character >> 12);
        buffer[1] = (unsigned char)(0x80 | (character >> 6 & 0x3F));
        buffer[2] = (unsigned char)(0x80 | (character & 0x3F));
        return 3;
    }
    buffer[0] = (unsigned char)(0xF0 | character >> 18);
    buffer[1] = (unsigned char)(0x80 | (character >> 12 & 0x3F));
    buffer[2] = (unsigned char)(0x80 | (character >> 6 & 0x3F));
    buffer[3] = (unsigned char)(0x80 | (character & 0x3F));
    return 4;
}

/* The escape behind a backslash at text->at; bytes written, 0 when it is none. */
static size_t
take_escape(struct csb_json_text *text, unsigned char *buffer)
{
    static const char names[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    int byte = byte_at(text, text->at + 1);
    const char *found = byte > 0 ? strchr(names, byte) : NULL;
    int32_t first;
    int32_t second;
    if (found != NULL) {
        buffer[0] = (unsigned char)meanings[found - names];
        text->at += 2;
        return 1;
    }
    first = byte == 'u' ? hex4(text, text->at + 2) : -1;
    if (first < 0) {
        return 0;
    }
    text->at += 6;
    second = first >= 0xD800 && first < 0xDC00 && byte_at(text, text->at) == '\\' &&
                     byte_at(text, text->at + 1) == 'u'
                 ? hex4(text, text->at + 2)
                 : -1;
    if (second >= 0xDC00 && second < 0xE000) {
        text->at += 6;
        return put_character(buffer, 0x10000 + ((uint32_t)(first - 0xD800) << 10) +
                                         (uint32_t)(second - 0xDC00));
    }
    return put_character(buffer, (uint32_t)first);
}

const char *
csb_json_string(struct csb_json_text *text, unsigned char *buffer, size_t *ret_count,
                bool *ret_surrogates)
{
    size_t count = 0;
    enum csb_utf8 utf8;
    text->at++;
    for (;;) {
        int byte = byte_at(text, text->at);
        if (byte == '"') {
            break;
        }
        if (byte == CSB_JSON_END) {
            return "a string without an end";
        }
        if (byte < ' ') {
            return "a control character in a string";
        }
        if (byte == '\\') {
            size_t more = take_escape(text, buffer + count);
            if (more == 0) {
                return "an unknown escape in a string";
            }
            count += more;
        } else {
            buffer[count++] = (unsigned char)byte;
            text->at++;
        }
    }
    text->at++;
    utf8 = csb_utf8_check(buffer, count);
    *ret_count = count;
    *ret_surrogates = utf8 == CSB_UTF8_SURROGATES;
    return utf8 == CSB_UTF8_BROKEN ? "a string that is no UTF-8" : NULL;
}
