/* Theory of operation: in the caller, GIL released, on the output of a hostile child. Two
 * passes of the same parser without recursion: the first checks, and counts what is in each
 * container, since a value's containers begin with their length; the second writes. */
#include "json_value.h"

#include "json_scan.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct container {
    size_t number; /* in the order of their beginnings */
    bool is_object;
};

struct parser {
    struct csb_json_text text;
    struct csb_value_writer *writer; /* NULL: the first pass */
    struct csb_value_fault *fault;
    locale_t locale;
    uint64_t *counts; /* owned; items or pairs of each container */
    size_t used;
    size_t capacity;
    struct container *stack; /* owned; CSB_VALUE_MAX_DEPTH */
    size_t depth;
    unsigned char *scratch; /* owned; holds any string of the text */
};

enum state { WANT_VALUE, WANT_KEY, WANT_FIRST, HAVE_VALUE, DONE };

static int
bad(struct parser *parser, const char *what)
{
    (void)snprintf(parser->fault->message, sizeof parser->fault->message,
                   "byte %zu: %s", parser->text.at, what);
    return -EBADMSG;
}

static int
open_container(struct parser *parser, bool is_object)
{
    if (parser->depth == CSB_VALUE_MAX_DEPTH) {
        return bad(parser, "nested too deep");
    }
    if (parser->writer != NULL && is_object) {
        csb_write_dict(parser->writer, parser->counts[parser->used]);
    } else if (parser->writer != NULL) {
        csb_write_list(parser->writer, parser->counts[parser->used]);
    } else {
        if (parser->used == parser->capacity) {
            size_t capacity = parser->capacity * 2 + 16;
            uint64_t *grown = realloc(parser->counts, capacity * sizeof *grown);
            if (grown == NULL) {
                return -ENOMEM;
            }
            parser->counts = grown;
            parser->capacity = capacity;
        }
        parser->counts[parser->used] = 0;
    }
    parser->stack[parser->depth++] = (struct container){parser->used++, is_object};
    return WANT_FIRST;
}

static int
take_string(struct parser *parser)
{
    size_t count = 0;
    bool surrogates = false;
    const char *fault =
        csb_json_string(&parser->text, parser->scratch, &count, &surrogates);
    if (fault != NULL) {
        return bad(parser, fault);
    }
    if (parser->writer != NULL && surrogates) {
        csb_write_surrogates(parser->writer, (const char *)parser->scratch, count);
    } else if (parser->writer != NULL) {
        csb_write_text(parser->writer, (const char *)parser->scratch, count);
    }
    return 0;
}

enum { LIMBS = CSB_JSON_INT_DIGITS / 9 + 2 }; /* 32 bits hold more than nine digits */

/* Nine digits at a time; returns how many limbs are in use. */
static size_t
to_limbs(const char *digits, uint32_t *limbs)
{
    size_t length = strlen(digits);
    size_t count = 0;
    while (length > 0) {
        size_t some = length % 9 == 0 ? 9 : length % 9;
        uint64_t carry = 0;
        uint64_t factor = 1;
        for (size_t i = 0; i < some; i++) {
            carry = carry * 10 + (uint64_t)(digits[i] - '0');
            factor *= 10;
        }
        for (size_t i = 0; i < count; i++) {
            carry += limbs[i] * factor;
            limbs[i] = (uint32_t)carry;
            carry >>= 32;
        }
        if (carry != 0) {
            limbs[count++] = (uint32_t)carry;
        }
        digits += some;
        length -= some;
    }
    return count;
}

/* Decimal digits as an int of a value. */
static void
write_digits(struct csb_value_writer *writer, const char *digits, bool negative)
{
    uint32_t limbs[LIMBS] = {0};
    unsigned char big[LIMBS * 4];
    size_t used = to_limbs(digits, limbs);
    size_t count = 0;
    uint64_t small = 0;
    negative = negative && used > 0;    /* -0 is 0 */
    for (size_t i = 0; negative; i++) { /* -1 - number is what is written */
        if (limbs[i]-- != 0) {
            break;
        }
    }
    for (size_t i = used * 4; i > 0; i--) {
        unsigned char byte = (unsigned char)(limbs[(i - 1) / 4] >> ((i - 1) % 4 * 8));
        if (byte != 0 || count > 0) {
            big[count++] = byte;
            small = small << 8 | byte;
        }
    }
    if (count <= sizeof small) {
        csb_write_int(writer, negative, small);
    } else {
        csb_write_big(writer, negative, big, count);
    }
}

static int
take_number(struct parser *parser)
{
    char text[CSB_JSON_INT_DIGITS + 2];
    bool is_int = false;
    const unsigned char *start = parser->text.bytes + parser->text.at;
    size_t count = csb_json_number(&parser->text, &is_int);
    double number = 0;
    bool negative;
    if (count == 0) {
        return bad(parser, "no JSON value");
    }
    negative = *start == '-';
    if (count >= sizeof text) {
        return bad(parser, "a number that is too long");
    }
    memcpy(text, start, count);
    text[count] = '\0';
    if (!is_int) {
        number = strtod_l(text, NULL, parser->locale);
        if (isinf(number)) { /* 1e999 is not what Infinity is, nor what 1e888 is */
            return bad(parser, "a number beyond what a double holds");
        }
    }
    if (parser->writer != NULL && is_int) {
        write_digits(parser->writer, text + negative, negative);
    } else if (parser->writer != NULL) {
        csb_write_float(parser->writer, number);
    }
    return 0;
}

static void
write_word(struct parser *parser, enum csb_json_word word)
{
    struct csb_value_writer *writer = parser->writer;
    if (writer == NULL) {
        return;
    }
    switch (word) {
    case CSB_JSON_NULL:
        csb_write_none(writer);
        break;
    case CSB_JSON_TRUE:
    case CSB_JSON_FALSE:
        csb_write_bool(writer, word == CSB_JSON_TRUE);
        break;
    case CSB_JSON_NAN:
        csb_write_float(writer, (double)NAN);
        break;
    default:
        csb_write_float(writer, word == CSB_JSON_INFINITY ? (double)INFINITY
                                                          : -(double)INFINITY);
    }
}

/* The next state, or a negative error. */
static int
take_value(struct parser *parser)
{
    int next = csb_json_peek(&parser->text);
    enum csb_json_word word;
    int result;
    if (parser->depth > 0) {
        parser->counts[parser->stack[parser->depth - 1].number] +=
            parser->writer == NULL ? 1 : 0;
    }
    if (next == '{' || next == '[') {
        parser->text.at++;
        return open_container(parser, next == '{');
    }
    if (next == '"') {
        result = take_string(parser);
    } else if (csb_json_word(&parser->text, &word)) {
        write_word(parser, word);
        result = 0;
    } else {
        result = take_number(parser);
    }
    return result < 0 ? result : HAVE_VALUE;
}

static int
take_key(struct parser *parser)
{
    int result;
    if (csb_json_peek(&parser->text) != '"') {
        return bad(parser, "a key was expected");
    }
    result = take_string(parser);
    if (result < 0) {
        return result;
    }
    if (csb_json_peek(&parser->text) != ':') {
        return bad(parser, "':' was expected");
    }
    parser->text.at++;
    return WANT_VALUE;
}

/* Behind a value, or at the beginning of a container. */
static int
go_on(struct parser *parser, bool first)
{
    const struct container *inner =
        parser->depth == 0 ? NULL : &parser->stack[parser->depth - 1];
    int next = csb_json_peek(&parser->text);
    if (inner == NULL) {
        return next == CSB_JSON_END ? DONE : bad(parser, "something behind the value");
    }
    if (next == (inner->is_object ? '}' : ']')) {
        parser->text.at++;
        parser->depth--;
        return HAVE_VALUE;
    }
    if (!first) {
        if (next != ',') {
            return bad(parser, "',' or the end of a container was expected");
        }
        parser->text.at++;
    }
    return inner->is_object ? WANT_KEY : WANT_VALUE;
}

static int
parse(struct parser *parser)
{
    int state = WANT_VALUE;
    parser->text.at = 0;
    parser->used = 0;
    parser->depth = 0;
    while (state >= 0 && state != DONE) {
        state = state == WANT_VALUE ? take_value(parser)
                : state == WANT_KEY ? take_key(parser)
                                    : go_on(parser, state == WANT_FIRST);
    }
    return state < 0 ? state : 0;
}

int
csb_json_to_value(const unsigned char *text, size_t count,
                  struct csb_value_writer *writer, struct csb_value_fault *fault)
{
    struct parser parser = {.text = {text, count, 0}, .fault = fault};
    int result = -ENOMEM;
    parser.stack = malloc(CSB_VALUE_MAX_DEPTH * sizeof *parser.stack);
    parser.scratch = malloc(count + 1);
    parser.locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (parser.stack != NULL && parser.scratch != NULL &&
        parser.locale != (locale_t)0) {
        result = parse(&parser);
    }
    if (result == 0) {
        parser.writer = writer;
        result = parse(&parser);
    }
    if (parser.locale != (locale_t)0) {
        freelocale(parser.locale);
    }
    free(parser.stack);
    free(parser.scratch);
    free(parser.counts);
    return result == 0 && (writer->failed || writer->full) ? -ENOMEM : result;
}
