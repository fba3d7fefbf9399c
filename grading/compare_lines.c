/* Theory of operation: in the caller, GIL released. Byte for byte, and line for line. Nothing
 * is allocated. */
#include "text_difference.h"

#include <string.h>

enum { BLOCK = 4096 };

static struct csb_text_piece
without_newline(struct csb_text_piece text)
{
    text.count -= text.count > 0 && text.bytes[text.count - 1] == '\n';
    return text;
}

static size_t
first_different(struct csb_text_piece one, struct csb_text_piece two)
{
    size_t most = one.count < two.count ? one.count : two.count;
    size_t at = 0;
    while (most - at >= BLOCK && memcmp(one.bytes + at, two.bytes + at, BLOCK) == 0) {
        at += BLOCK;
    }
    while (at < most && one.bytes[at] == two.bytes[at]) {
        at++;
    }
    return at;
}

int
csb_compare_exact(struct csb_text_piece got, struct csb_text_piece expected,
                  const struct csb_compare_options *options,
                  struct csb_text_difference *ret)
{
    struct csb_text_piece one = options->final_newline ? without_newline(got) : got;
    struct csb_text_piece two =
        options->final_newline ? without_newline(expected) : expected;
    size_t at = first_different(one, two);
    struct csb_cursor cursor;
    struct csb_span got_span;
    struct csb_span expected_span;
    if (at == one.count && at == two.count) {
        return 0;
    }
    csb_cursor_init(&cursor, one.bytes, at); /* what is before is the same in both */
    csb_cursor_seek(&cursor, at);
    got_span =
        (struct csb_span){cursor.line_start, one.count, cursor.line, cursor.line_start};
    expected_span = got_span;
    expected_span.end = two.count;
    return csb_text_differ(ret, got, &got_span, expected, &expected_span);
}

int
csb_compare_lines(struct csb_text_piece got, struct csb_text_piece expected,
                  struct csb_text_difference *ret)
{
    struct csb_cursor one;
    struct csb_cursor two;
    csb_cursor_init(&one, got.bytes, got.count);
    csb_cursor_init(&two, expected.bytes, expected.count);
    for (;;) {
        struct csb_span got_line;
        struct csb_span expected_line;
        bool more = csb_cursor_line(&one, &got_line);
        size_t length;
        more = csb_cursor_line(&two, &expected_line) || more;
        if (!more) {
            return 0;
        }
        /* Behind the last line there are as many empty ones as the other side has. */
        length = got_line.end - got_line.start;
        if (length != expected_line.end - expected_line.start ||
            memcmp(got.bytes + got_line.start, expected.bytes + expected_line.start,
                   length) != 0) {
            return csb_text_differ(ret, got, &got_line, expected, &expected_line);
        }
    }
}
