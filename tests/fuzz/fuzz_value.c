/* Theory of operation: libFuzzer target over what the caller does with a reply, without Python:
 * both readers of items against each other, the reader of values, the tree, the comparison and
 * the rendering. The first byte chooses the rules and splits the rest into two sides. What the
 * text comparators and the JSON parser make of the same bytes is exercised too. Besides what the
 * sanitizers see, a few promises are asserted. Built and run by tests/fuzz/run.sh. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare_text.h"
#include "compare_value.h"
#include "json_value.h"
#include "value_item.h"
#include "value_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* child_item.c, compiled under this name. */
int csb_item_next_child(const unsigned char *bytes, size_t count, struct csb_item *ret);

static const struct csb_value_limits limits = {1 << 20, 1 << 16, 100, 1000};

static void
require(bool condition, const char *what)
{
    if (!condition) {
        (void)fprintf(stderr, "promise broken: %s\n", what);
        abort();
    }
}

static void
compare_readers(const uint8_t *data, size_t size)
{
    size_t at = 0;
    while (at < size) {
        struct csb_item one;
        struct csb_item two;
        int result = csb_item_next(data + at, size - at, &one);
        /* libcbor refuses tags that had no meaning when it was written; so do values. */
        if (result < 0 && data[at] >= 0xC6 && data[at] <= 0xD4) {
            return;
        }
        require(csb_item_next_child(data + at, size - at, &two) == result,
                "both readers call the same bytes well-formed");
        if (result < 0) {
            return;
        }
        require(one.type == two.type && one.used == two.used &&
                    (one.type == CSB_ITEM_OTHER ||
                     (one.number == two.number && one.bytes == two.bytes &&
                      memcmp(&one.real, &two.real, sizeof one.real) == 0)),
                "both readers read the same item");
        require(one.used > 0 && one.used <= size - at, "an item is inside the text");
        at += one.used;
    }
}

static bool
is_value(const uint8_t *data, size_t size)
{
    struct csb_value_reader reader;
    struct csb_value_token token;
    struct csb_value_fault fault;
    uint64_t announced = 0;
    int result;
    csb_value_reader_init(&reader, data, size, &limits);
    while ((result = csb_value_next(&reader, &token, &fault)) > 0) {
        require(token.end <= size && token.start <= token.end, "tokens are inside");
        announced += csb_value_is_container(token.kind) ? token.number : 0;
        require(announced <= size, "no more is announced than there are bytes");
    }
    require(result == 0 || fault.message[0] != '\0', "a fault has its reason");
    return result == 0;
}

static void
compare_sides(struct csb_encoded one, struct csb_encoded two, unsigned bits)
{
    const struct csb_value_rules rules = {
        .nan_equal = bits & 1,
        .numeric = bits & 2,
        .sequences = bits & 4,
        .sets = bits & 8,
        .relative = bits & 16 ? 1e-6 : 0,
    };
    struct csb_value_difference difference;
    struct csb_value_difference back;
    struct csb_value_fault fault;
    bool bad_got;
    int result = csb_compare_values(&one, &two, &rules, &difference, &fault, &bad_got);
    int reverse = csb_compare_values(&two, &one, &rules, &back, &fault, &bad_got);
    /* Closeness is relative to one side; a fault may be found on one way only. */
    require(result < 0 || reverse < 0 || result == reverse || (bits & 16),
            "a comparison does not depend on its direction");
    if ((bits & 1) && is_value(one.bytes, one.count)) {
        require(csb_compare_values(&one, &one, &rules, &difference, &fault, &bad_got) ==
                    0,
                "a value equals itself when nan does");
    }
}

static void
compare_texts(struct csb_text_piece one, struct csb_text_piece two, unsigned bits)
{
    const struct csb_compare_options options = {
        .relative = bits & 1 ? 1e-6 : 0, .nan_equal = true, .final_newline = bits & 2};
    for (enum csb_text_kind kind = 0; kind < CSB_TEXT_KINDS; kind++) {
        struct csb_text_difference ret;
        int result = csb_compare_text(kind, one, two, &options, &ret);
        require(result != 1 || ret.got.excerpt.count < 400, "excerpts are bounded");
        result = csb_compare_text(kind, one, one, &options, &ret);
        require(result <= 0 || (kind == CSB_TEXT_JSON && ret.what[0] != '\0'),
                "a text equals itself");
    }
}

static void
read_json(const uint8_t *data, size_t size)
{
    struct csb_value_writer writer = {.limit = UINT64_MAX};
    const struct csb_value_limits large = {UINT64_MAX, UINT64_MAX, CSB_VALUE_MAX_DEPTH,
                                           2000};
    struct csb_value_fault fault;
    if (csb_json_to_value(data, size, &writer, &fault) == 0) {
        require(csb_value_validate(writer.bytes, writer.count, &large, &fault) == 0,
                "JSON becomes a value");
    }
    csb_value_writer_done(&writer);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A copy, so that a read behind the end is seen, and an empty side is no NULL. */
    unsigned char *one;
    unsigned char *two;
    size_t half;
    if (size < 2) {
        return 0;
    }
    half = data[1] * (size - 2) / 255;
    one = malloc(half > 0 ? half : 1);
    two = malloc(size - 2 - half > 0 ? size - 2 - half : 1);
    require(one != NULL && two != NULL, "set-up");
    memcpy(one, data + 2, half);
    memcpy(two, data + 2 + half, size - 2 - half);
    compare_readers(one, half);
    (void)is_value(two, size - 2 - half);
    compare_sides((struct csb_encoded){one, half, &limits},
                  (struct csb_encoded){two, size - 2 - half, &limits}, data[0]);
    compare_texts((struct csb_text_piece){one, half},
                  (struct csb_text_piece){two, size - 2 - half}, data[0]);
    read_json(one, half);
    free(one);
    free(two);
    return 0;
}
