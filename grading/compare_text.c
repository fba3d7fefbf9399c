/* Theory of operation: in the caller, GIL released, on the output of a hostile child. Chooses
 * the comparator, and tells presentation from a wrong answer. */
#include "compare_text.h"

#include "text_difference.h"

#include <string.h>

enum { BEFORE = 30, AFTER = 50 };

static const char *const names[CSB_TEXT_KINDS] = {
    [CSB_TEXT_EXACT] = "exact",
    [CSB_TEXT_LINES] = "lines",
    [CSB_TEXT_TOKENS] = "tokens",
    [CSB_TEXT_FLOAT] = "float",
    [CSB_TEXT_CASE_INSENSITIVE] = "case_insensitive",
    [CSB_TEXT_YES_NO] = "yes_no",
    [CSB_TEXT_UNORDERED_LINES] = "unordered_lines",
    [CSB_TEXT_JSON] = "json",
};

enum csb_text_kind
csb_text_kind_of(const char *name)
{
    enum csb_text_kind kind = CSB_TEXT_EXACT;
    while (kind < CSB_TEXT_KINDS && strcmp(names[kind], name) != 0) {
        kind++;
    }
    return kind;
}

static bool
is_continuation(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

struct csb_text_place
csb_text_place_at(struct csb_text_piece text, size_t line, size_t line_start,
                  size_t offset)
{
    struct csb_text_place place = {.line = line, .column = 1};
    size_t from = offset > line_start + BEFORE ? offset - BEFORE : line_start;
    size_t to = offset;
    for (size_t i = line_start; i < offset; i++) {
        place.column += !is_continuation(text.bytes[i]);
    }
    while (to < text.count && to < offset + AFTER && text.bytes[to] != '\n') {
        to++;
    }
    /* Whole characters, when the text has any. */
    while (from > line_start && from < offset && is_continuation(text.bytes[from])) {
        from++;
    }
    while (to < text.count && to > offset && is_continuation(text.bytes[to])) {
        to--;
    }
    place.excerpt = (struct csb_text_piece){text.bytes + from, to - from};
    place.at_end = offset == text.count;
    return place;
}

int
csb_text_differ(struct csb_text_difference *ret, struct csb_text_piece got,
                const struct csb_span *got_span, struct csb_text_piece expected,
                const struct csb_span *expected_span)
{
    size_t one = got_span->start;
    size_t two = expected_span->start;
    while (one < got_span->end && two < expected_span->end &&
           got.bytes[one] == expected.bytes[two]) {
        one++;
        two++;
    }
    /* A byte inside a character: at the character. */
    while (one > got_span->start && two > expected_span->start && one < got.count &&
           is_continuation(got.bytes[one])) {
        one--;
        two--;
    }
    ret->got = csb_text_place_at(got, got_span->line, got_span->line_start, one);
    ret->expected = csb_text_place_at(expected, expected_span->line,
                                      expected_span->line_start, two);
    return 1;
}

static int
compare(enum csb_text_kind kind, struct csb_text_piece got,
        struct csb_text_piece expected, const struct csb_compare_options *options,
        struct csb_text_difference *ret)
{
    switch (kind) {
    case CSB_TEXT_EXACT:
        return csb_compare_exact(got, expected, options, ret);
    case CSB_TEXT_LINES:
        return csb_compare_lines(got, expected, ret);
    case CSB_TEXT_UNORDERED_LINES:
        return csb_compare_unordered(got, expected, ret);
    case CSB_TEXT_JSON:
        return csb_compare_json(got, expected, options, ret);
    default:
        return csb_compare_words(kind, got, expected, options, ret);
    }
}

int
csb_compare_text(enum csb_text_kind kind, struct csb_text_piece got,
                 struct csb_text_piece expected,
                 const struct csb_compare_options *options,
                 struct csb_text_difference *ret)
{
    struct csb_text_difference ignored;
    int result;
    *ret = (struct csb_text_difference){0};
    result = compare(kind, got, expected, options, ret);
    if (result == 1 && (kind == CSB_TEXT_EXACT || kind == CSB_TEXT_LINES)) {
        ret->presentation =
            csb_compare_words(CSB_TEXT_TOKENS, got, expected, options, &ignored) == 0;
    }
    return result;
}
