/* Theory of operation: in the caller on a child's reply (hostile, any bytes), in the child on
 * a request. One item at a time from value_item.h; a stack of open containers of fixed size
 * instead of recursion. What a container announces is refused unless the bytes left hold at
 * least one byte for each token that is still to come, in this and all outer containers:
 * nobody can make a builder take more memory than the limits say. */
#include "value_reader.h"

#include "value_item.h"
#include "value_utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

static int bad(const struct csb_value_reader *reader, struct csb_value_fault *fault,
               const char *format, ...) CSB_PRINTF(3, 4);

static int
bad(const struct csb_value_reader *reader, struct csb_value_fault *fault,
    const char *format, ...)
{
    va_list arguments;
    char text[160];
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments); /* cut is as good */
    va_end(arguments);
    fault->of_type = false;
    fault->path[0] = '\0';
    (void)snprintf(fault->message, sizeof fault->message, "byte %zu: %s", reader->at,
                   text);
    return -EBADMSG;
}

void
csb_value_reader_init(struct csb_value_reader *reader, const unsigned char *bytes,
                      size_t count, const struct csb_value_limits *limits)
{
    reader->bytes = bytes;
    reader->count = count;
    reader->at = 0;
    reader->limits = *limits;
    if (reader->limits.depth > CSB_VALUE_MAX_DEPTH) {
        reader->limits.depth = CSB_VALUE_MAX_DEPTH;
    }
    reader->pending = 0;
    reader->items = 0;
    reader->depth = 0;
    reader->begun = false;
}

bool
csb_value_is_container(enum csb_value_kind kind)
{
    return kind >= CSB_VALUE_LIST && kind <= CSB_VALUE_DICT;
}

const char *
csb_value_kind_name(enum csb_value_kind kind)
{
    static const char *const names[] = {
        [CSB_VALUE_NONE] = "NoneType",
        [CSB_VALUE_BOOL] = "bool",
        [CSB_VALUE_INT] = "int",
        [CSB_VALUE_BIG] = "int",
        [CSB_VALUE_FLOAT] = "float",
        [CSB_VALUE_COMPLEX] = "complex",
        [CSB_VALUE_TEXT] = "str",
        [CSB_VALUE_SURROGATES] = "str",
        [CSB_VALUE_BYTES] = "bytes",
        [CSB_VALUE_LIST] = "list",
        [CSB_VALUE_TUPLE] = "tuple",
        [CSB_VALUE_SET] = "set",
        [CSB_VALUE_FROZENSET] = "frozenset",
        [CSB_VALUE_DICT] = "dict",
        [CSB_VALUE_CLOSE] = "end",
    };
    return names[kind];
}

/* Bytes of the shortest head with this number. */
static size_t
head_length(uint64_t number)
{
    return number < 24            ? 1
           : number <= UINT8_MAX  ? 2
           : number <= UINT16_MAX ? 3
           : number <= UINT32_MAX ? 5
                                  : 9;
}

static bool
is_shortest(const struct csb_item *item)
{
    size_t content = item->bytes == NULL ? 0 : (size_t)item->number;
    switch (item->type) {
    case CSB_ITEM_FALSE:
    case CSB_ITEM_TRUE:
    case CSB_ITEM_NULL:
        return item->used == 1;
    case CSB_ITEM_DOUBLE:
        return item->used == 9;
    default:
        return item->used == head_length(item->number) + content;
    }
}

/* The next item, in its only spelling. */
static int
take(struct csb_value_reader *reader, struct csb_item *ret,
     struct csb_value_fault *fault)
{
    int result =
        csb_item_next(reader->bytes + reader->at, reader->count - reader->at, ret);
    if (result < 0) {
        return bad(reader, fault, "%s",
                   reader->at == reader->count
                       ? "the data ends too early"
                       : "no CBOR item, or one that is cut off");
    }
    if (ret->type == CSB_ITEM_OTHER) {
        return bad(reader, fault, "a CBOR item that plain data does not use");
    }
    if (!is_shortest(ret)) {
        return bad(reader, fault, "a CBOR item that is not in its shortest form");
    }
    reader->at += ret->used;
    return 0;
}

static int
open_container(struct csb_value_reader *reader, enum csb_value_kind kind,
               uint64_t number, bool hashed, struct csb_value_token *ret,
               struct csb_value_fault *fault)
{
    size_t bytes_left = reader->count - reader->at;
    if (hashed && kind != CSB_VALUE_TUPLE && kind != CSB_VALUE_FROZENSET) {
        return bad(reader, fault, "a %s as key of a dict or element of a set",
                   csb_value_kind_name(kind));
    }
    /* In this order nothing overflows. */
    if (number > bytes_left) {
        return bad(reader, fault, "a container that is longer than the data");
    }
    number *= kind == CSB_VALUE_DICT ? 2 : 1;
    if (number > bytes_left || reader->pending > bytes_left - number) {
        return bad(reader, fault, "a container that is longer than the data");
    }
    if (number > reader->limits.items ||
        reader->items > reader->limits.items - number) {
        return bad(reader, fault, "more than %llu items",
                   (unsigned long long)reader->limits.items);
    }
    if (reader->depth >= reader->limits.depth) {
        return bad(reader, fault, "nested deeper than %u",
                   (unsigned)reader->limits.depth);
    }
    reader->items += number;
    reader->pending += number;
    reader->open[reader->depth] = (struct csb_value_open){
        .left = number,
        .kind = (unsigned char)kind,
        .hashed = hashed || kind == CSB_VALUE_SET || kind == CSB_VALUE_FROZENSET};
    reader->depth++;
    ret->kind = kind;
    ret->number = number;
    return 1;
}

static int
take_big(struct csb_value_reader *reader, bool negative, struct csb_value_token *ret,
         struct csb_value_fault *fault)
{
    struct csb_item item;
    uint64_t bits;
    if (take(reader, &item, fault) < 0) {
        return -EBADMSG;
    }
    if (item.type != CSB_ITEM_BYTES || item.number <= sizeof(uint64_t) ||
        item.bytes[0] == 0) {
        return bad(reader, fault, "an int in the form of a large one, but not large");
    }
    bits = item.number * 8 -
           (uint64_t)(__builtin_clz(item.bytes[0]) - (int)(sizeof(unsigned) - 1) * 8);
    if (bits > csb_value_int_bits(&reader->limits)) {
        return bad(reader, fault, "an int of more than %u digits",
                   (unsigned)reader->limits.int_digits);
    }
    ret->kind = CSB_VALUE_BIG;
    ret->negative = negative;
    ret->bytes = item.bytes;
    ret->count = (size_t)item.number;
    return 1;
}

static int
take_complex(struct csb_value_reader *reader, struct csb_value_token *ret,
             struct csb_value_fault *fault)
{
    struct csb_item head;
    struct csb_item real;
    struct csb_item imaginary;
    if (take(reader, &head, fault) < 0 || take(reader, &real, fault) < 0 ||
        take(reader, &imaginary, fault) < 0) {
        return -EBADMSG;
    }
    if (head.type != CSB_ITEM_ARRAY || head.number != 2 ||
        real.type != CSB_ITEM_DOUBLE || imaginary.type != CSB_ITEM_DOUBLE) {
        return bad(reader, fault, "a complex number that is no pair of floats");
    }
    ret->kind = CSB_VALUE_COMPLEX;
    ret->real = real.real;
    ret->imaginary = imaginary.real;
    return 1;
}

static int
take_text(struct csb_value_reader *reader, enum csb_value_kind kind,
          const struct csb_item *item, struct csb_value_token *ret,
          struct csb_value_fault *fault)
{
    enum csb_utf8 wanted =
        kind == CSB_VALUE_SURROGATES ? CSB_UTF8_SURROGATES : CSB_UTF8_FINE;
    if (kind != CSB_VALUE_BYTES &&
        csb_utf8_check(item->bytes, (size_t)item->number) != wanted) {
        return bad(reader, fault, "a str that is not in its form of UTF-8");
    }
    ret->kind = kind;
    ret->bytes = item->bytes;
    ret->count = (size_t)item->number;
    return 1;
}

static int
take_tagged(struct csb_value_reader *reader, uint64_t tag, bool hashed,
            struct csb_value_token *ret, struct csb_value_fault *fault)
{
    struct csb_item item;
    enum csb_value_kind kind;
    switch (tag) {
    case CSB_TAG_BIG_POSITIVE:
    case CSB_TAG_BIG_NEGATIVE:
        return take_big(reader, tag == CSB_TAG_BIG_NEGATIVE, ret, fault);
    case CSB_TAG_COMPLEX:
        return take_complex(reader, ret, fault);
    case CSB_TAG_SURROGATES:
        if (take(reader, &item, fault) < 0) {
            return -EBADMSG;
        }
        return item.type != CSB_ITEM_BYTES
                   ? bad(reader, fault, "a str with surrogates that is no byte string")
                   : take_text(reader, CSB_VALUE_SURROGATES, &item, ret, fault);
    case CSB_TAG_TUPLE:
        kind = CSB_VALUE_TUPLE;
        break;
    case CSB_TAG_SET:
        kind = CSB_VALUE_SET;
        break;
    case CSB_TAG_FROZENSET:
        kind = CSB_VALUE_FROZENSET;
        break;
    default:
        return bad(reader, fault, "CBOR tag %llu, which plain data does not use",
                   (unsigned long long)tag);
    }
    if (take(reader, &item, fault) < 0) {
        return -EBADMSG;
    }
    if (item.type != CSB_ITEM_ARRAY) {
        return bad(reader, fault, "a %s that is no array", csb_value_kind_name(kind));
    }
    return open_container(reader, kind, item.number, hashed, ret, fault);
}

static int
take_value(struct csb_value_reader *reader, bool hashed, struct csb_value_token *ret,
           struct csb_value_fault *fault)
{
    struct csb_item item;
    if (take(reader, &item, fault) < 0) {
        return -EBADMSG;
    }
    ret->number = item.number;
    switch (item.type) {
    case CSB_ITEM_UNSIGNED:
    case CSB_ITEM_NEGATIVE:
        ret->kind = CSB_VALUE_INT;
        ret->negative = item.type == CSB_ITEM_NEGATIVE;
        return 1;
    case CSB_ITEM_BYTES:
        return take_text(reader, CSB_VALUE_BYTES, &item, ret, fault);
    case CSB_ITEM_TEXT:
        return take_text(reader, CSB_VALUE_TEXT, &item, ret, fault);
    case CSB_ITEM_ARRAY:
        return open_container(reader, CSB_VALUE_LIST, item.number, hashed, ret, fault);
    case CSB_ITEM_MAP:
        return open_container(reader, CSB_VALUE_DICT, item.number, hashed, ret, fault);
    case CSB_ITEM_TAG:
        return take_tagged(reader, item.number, hashed, ret, fault);
    case CSB_ITEM_FALSE:
    case CSB_ITEM_TRUE:
        ret->kind = CSB_VALUE_BOOL;
        ret->number = item.type == CSB_ITEM_TRUE;
        return 1;
    case CSB_ITEM_NULL:
        ret->kind = CSB_VALUE_NONE;
        return 1;
    case CSB_ITEM_DOUBLE:
        ret->kind = CSB_VALUE_FLOAT;
        ret->real = item.real;
        return 1;
    case CSB_ITEM_OTHER:
        break;
    }
    return bad(reader, fault, "a CBOR item that plain data does not use");
}

int
csb_value_next(struct csb_value_reader *reader, struct csb_value_token *ret,
               struct csb_value_fault *fault)
{
    struct csb_value_open *inner =
        reader->depth == 0 ? NULL : &reader->open[reader->depth - 1];
    bool hashed = false;
    int result;
    *ret = (struct csb_value_token){.start = reader->at};
    if (inner == NULL && reader->begun) {
        return reader->at == reader->count
                   ? 0
                   : bad(reader, fault, "something behind the value");
    }
    if (inner == NULL && reader->count > reader->limits.bytes) {
        return bad(reader, fault, "%zu bytes, of which %llu are allowed", reader->count,
                   (unsigned long long)reader->limits.bytes);
    }
    reader->begun = true;
    if (inner != NULL && inner->left == 0) {
        reader->depth--;
        ret->kind = CSB_VALUE_CLOSE;
        ret->end = reader->at;
        return 1;
    }
    if (inner != NULL) {
        /* What is left is even at a key. */
        hashed =
            inner->hashed || (inner->kind == CSB_VALUE_DICT && inner->left % 2 == 0);
        inner->left--;
        reader->pending--;
    }
    result = take_value(reader, hashed, ret, fault);
    ret->end = reader->at;
    return result;
}

int
csb_value_validate(const unsigned char *bytes, size_t count,
                   const struct csb_value_limits *limits, struct csb_value_fault *fault)
{
    struct csb_value_reader reader;
    struct csb_value_token token;
    int result;
    csb_value_reader_init(&reader, bytes, count, limits);
    do {
        result = csb_value_next(&reader, &token, fault);
    } while (result > 0);
    return result;
}
