/* Theory of operation: in the caller, GIL released or not, on bytes that a hostile child may
 * have made. libcbor's stateless decoder reads one item and calls one of these functions; no
 * function that allocates or recurses is used. */
#include "value_item.h"

#include <cbor.h>
#include <errno.h>

static void
set(void *context, enum csb_item_type type, uint64_t number)
{
    struct csb_item *item = context;
    item->type = type;
    item->number = number;
}

static void
unsigned_8(void *context, uint8_t number)
{
    set(context, CSB_ITEM_UNSIGNED, number);
}

static void
unsigned_16(void *context, uint16_t number)
{
    set(context, CSB_ITEM_UNSIGNED, number);
}

static void
unsigned_32(void *context, uint32_t number)
{
    set(context, CSB_ITEM_UNSIGNED, number);
}

static void
unsigned_64(void *context, uint64_t number)
{
    set(context, CSB_ITEM_UNSIGNED, number);
}

static void
negative_8(void *context, uint8_t number)
{
    set(context, CSB_ITEM_NEGATIVE, number);
}

static void
negative_16(void *context, uint16_t number)
{
    set(context, CSB_ITEM_NEGATIVE, number);
}

static void
negative_32(void *context, uint32_t number)
{
    set(context, CSB_ITEM_NEGATIVE, number);
}

static void
negative_64(void *context, uint64_t number)
{
    set(context, CSB_ITEM_NEGATIVE, number);
}

static void
byte_string(void *context, cbor_data bytes, size_t count)
{
    set(context, CSB_ITEM_BYTES, count);
    ((struct csb_item *)context)->bytes = bytes;
}

static void
text(void *context, cbor_data bytes, size_t count)
{
    set(context, CSB_ITEM_TEXT, count);
    ((struct csb_item *)context)->bytes = bytes;
}

static void
array(void *context, size_t count)
{
    set(context, CSB_ITEM_ARRAY, count);
}

static void
map(void *context, size_t count)
{
    set(context, CSB_ITEM_MAP, count);
}

static void
tag(void *context, uint64_t number)
{
    set(context, CSB_ITEM_TAG, number);
}

static void
boolean(void *context, bool value)
{
    set(context, value ? CSB_ITEM_TRUE : CSB_ITEM_FALSE, 0);
}

static void
null(void *context)
{
    set(context, CSB_ITEM_NULL, 0);
}

static void
double_float(void *context, double number)
{
    set(context, CSB_ITEM_DOUBLE, 0);
    ((struct csb_item *)context)->real = number;
}

static void
other(void *context)
{
    set(context, CSB_ITEM_OTHER, 0);
}

static void
other_float(void *context, float number)
{
    (void)number;
    other(context);
}

static const struct cbor_callbacks callbacks = {
    .uint8 = unsigned_8,
    .uint16 = unsigned_16,
    .uint32 = unsigned_32,
    .uint64 = unsigned_64,
    .negint8 = negative_8,
    .negint16 = negative_16,
    .negint32 = negative_32,
    .negint64 = negative_64,
    .byte_string_start = other,
    .byte_string = byte_string,
    .string = text,
    .string_start = other,
    .indef_array_start = other,
    .array_start = array,
    .indef_map_start = other,
    .map_start = map,
    .tag = tag,
    .float2 = other_float,
    .float4 = other_float,
    .float8 = double_float,
    .undefined = other,
    .null = null,
    .boolean = boolean,
    .indef_break = other,
};

int
csb_item_next(const unsigned char *bytes, size_t count, struct csb_item *ret)
{
    struct cbor_decoder_result result;
    *ret = (struct csb_item){.type = CSB_ITEM_OTHER};
    if (count == 0) {
        return -EBADMSG;
    }
    result = cbor_stream_decode(bytes, count, &callbacks, ret);
    if (result.status != CBOR_DECODER_FINISHED || result.read == 0 ||
        result.read > count) {
        return -EBADMSG;
    }
    ret->used = result.read;
    return 0;
}
