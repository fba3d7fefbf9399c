/* Theory of operation: in the caller, on values of hostile children, for messages only. Stops
 * as soon as the buffer is full, whatever is left of the value. */
#include "value_show.h"

#include "value_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 64, MOST_BIG = 16 };

struct page {
    char *buffer;
    size_t size;
    size_t used;
    bool full;
};

struct shown {
    enum csb_value_kind kind;
    uint64_t number;
    uint64_t seen;
};

static void put(struct page *page, const char *format, ...) CSB_PRINTF(2, 3);

static void
put(struct page *page, const char *format, ...)
{
    va_list arguments;
    int length;
    if (page->full) {
        return;
    }
    va_start(arguments, format);
    length = vsnprintf(page->buffer + page->used, page->size - page->used, format,
                       arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= page->size - page->used) {
        page->full = true;
    } else {
        page->used += (size_t)length;
    }
}

static void
put_string(struct page *page, const struct csb_value_token *token)
{
    bool raw = token->kind == CSB_VALUE_BYTES || token->kind == CSB_VALUE_SURROGATES;
    put(page, "%s'", token->kind == CSB_VALUE_BYTES ? "b" : "");
    for (size_t i = 0; i < token->count && !page->full; i++) {
        unsigned byte = token->bytes[i];
        if (byte == '\n') {
            put(page, "\\n");
        } else if (byte == '\'' || byte == '\\') {
            put(page, "\\%c", (char)byte);
        } else if (byte < ' ' || byte == 0x7f || (raw && byte > 0x7f)) {
            put(page, "\\x%02x", byte);
        } else {
            put(page, "%c", (char)byte);
        }
    }
    put(page, "'");
}

/* The shortest text that reads back the same. */
static void
put_double(struct page *page, double number)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number) {
            break;
        }
    }
    for (char *at = text; *at != '\0'; at++) {
        *at = *at == ',' ? '.' : *at; /* the host may have set a locale */
    }
    put(page, "%s%s", text[0] == '-' && strstr(text, "nan") != NULL ? "nan" : text,
        strpbrk(text, ".en") == NULL ? ".0" : "");
}

static void
put_int(struct page *page, const struct csb_value_token *token)
{
    if (token->kind == CSB_VALUE_INT) {
        if (!token->negative) {
            put(page, "%llu", (unsigned long long)token->number);
        } else if (token->number == UINT64_MAX) {
            put(page, "-18446744073709551616");
        } else {
            put(page, "-%llu", (unsigned long long)token->number + 1);
        }
        return;
    }
    put(page, token->negative ? "-1-0x" : "0x");
    for (size_t i = 0; i < token->count && i < MOST_BIG; i++) {
        put(page, "%02x", (unsigned)token->bytes[i]);
    }
    if (token->count > MOST_BIG) {
        put(page, "... (an int of %zu bits)", token->count * 8);
    }
}

static void
put_scalar(struct page *page, const struct csb_value_token *token)
{
    switch (token->kind) {
    case CSB_VALUE_NONE:
        put(page, "None");
        break;
    case CSB_VALUE_BOOL:
        put(page, token->number != 0 ? "True" : "False");
        break;
    case CSB_VALUE_INT:
    case CSB_VALUE_BIG:
        put_int(page, token);
        break;
    case CSB_VALUE_FLOAT:
        put_double(page, token->real);
        break;
    case CSB_VALUE_COMPLEX:
        put(page, "complex(");
        put_double(page, token->real);
        put(page, ", ");
        put_double(page, token->imaginary);
        put(page, ")");
        break;
    default:
        put_string(page, token);
    }
}

static void
put_open(struct page *page, const struct csb_value_token *token)
{
    static const char *const begins[] = {
        [CSB_VALUE_LIST] = "[", [CSB_VALUE_TUPLE] = "(",
        [CSB_VALUE_SET] = "{",  [CSB_VALUE_FROZENSET] = "frozenset({",
        [CSB_VALUE_DICT] = "{",
    };
    put(page, "%s",
        token->kind == CSB_VALUE_SET && token->number == 0 ? "set("
                                                           : begins[token->kind]);
}

static void
put_close(struct page *page, const struct shown *shown)
{
    switch (shown->kind) {
    case CSB_VALUE_LIST:
        put(page, "]");
        break;
    case CSB_VALUE_TUPLE:
        put(page, shown->number == 1 ? ",)" : ")");
        break;
    case CSB_VALUE_FROZENSET:
        put(page, "})");
        break;
    default:
        put(page, shown->kind == CSB_VALUE_SET && shown->number == 0 ? ")" : "}");
    }
}

static void
put_separator(struct page *page, struct shown *inner)
{
    if (inner->seen > 0) {
        put(page, inner->kind == CSB_VALUE_DICT && inner->seen % 2 == 1 ? ": " : ", ");
    }
    inner->seen++;
}

void
csb_value_show(const unsigned char *bytes, size_t count, size_t start, char *buffer,
               size_t size)
{
    const struct csb_value_limits limits = {UINT64_MAX, UINT64_MAX, CSB_VALUE_MAX_DEPTH,
                                            UINT32_MAX};
    struct page page = {buffer, size - 4, 0, false}; /* room for "..." */
    struct shown stack[MOST_DEPTH];
    size_t depth = 0;
    struct csb_value_reader reader;
    struct csb_value_token token;
    struct csb_value_fault fault;
    csb_value_reader_init(&reader, bytes + start, count - start, &limits);
    buffer[0] = '\0';
    do {
        if (csb_value_next(&reader, &token, &fault) <= 0) {
            break;
        }
        if (token.kind == CSB_VALUE_CLOSE) {
            put_close(&page, &stack[--depth]);
            continue;
        }
        if (depth > 0) {
            put_separator(&page, &stack[depth - 1]);
        }
        if (!csb_value_is_container(token.kind)) {
            put_scalar(&page, &token);
        } else if (depth < MOST_DEPTH) {
            put_open(&page, &token);
            stack[depth++] = (struct shown){token.kind, token.number, 0};
        } else {
            page.full = true;
        }
    } while (depth > 0 && !page.full);
    if (page.full) {
        memcpy(buffer + strlen(buffer), "...", 4);
    }
}
