/* Theory of operation: unit test of decoding, line ends and places. */
#include "source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void
load(struct csb_source *source, const char *bytes, size_t len)
{
    assert_int_equal(csb_source_init(source, bytes, len, SIZE_MAX), 0);
}

static void
test_line_ends_become_line_feeds(void **state)
{
    struct csb_source source;
    (void)state;
    load(&source, "a\r\nb\rc\n\r\r\nd", 11);
    assert_string_equal(source.text, "a\nb\nc\n\n\nd");
    assert_int_equal(source.line_count, 6);
    csb_source_done(&source);
}

static void
test_a_byte_order_mark_is_dropped_once(void **state)
{
    struct csb_source source;
    (void)state;
    load(&source, "\xef\xbb\xbf\xef\xbb\xbfx", 7);
    assert_int_equal(source.len, 4);
    csb_source_done(&source);
}

static void
test_columns_count_characters(void **state)
{
    struct csb_source source;
    struct csb_place place;
    (void)state;
    load(&source, "x\n\xc3\xa9\xf0\x9f\x98\x80z", 9);
    place = csb_source_place(&source, 8);
    assert_int_equal(place.line, 2);
    assert_int_equal(place.column, 3);
    place = csb_source_place(&source, 1000);
    assert_int_equal(place.line, 2);
    csb_source_done(&source);
}

static void
test_broken_utf8_is_found_where_it_begins(void **state)
{
    static const struct {
        const char *bytes;
        size_t at;
    } rows[] = {
        {"ab\x80", 2},
        {"\xc0\xaf", 0},
        {"\xed\xa0\x80", 0},
        {"\xf4\x90\x80\x80", 0},
        {"x\xe2\x82", 1},
        {"\xf0\x8f\xbf\xbf", 0},
        {"\xe0\x9f\xbf", 0},
        {"12345678\xff", 8},
        {"\xc3\xa9", CSB_NOWHERE},
        {"\xf4\x8f\xbf\xbf", CSB_NOWHERE},
    };
    (void)state;
    for (size_t i = 0; i < CSB_ARRAY_LEN(rows); i++) {
        struct csb_source source;
        load(&source, rows[i].bytes, strlen(rows[i].bytes));
        assert_true(source.invalid_utf8 == rows[i].at);
        csb_source_done(&source);
    }
}

static void
test_nul_and_ascii(void **state)
{
    struct csb_source source;
    (void)state;
    load(&source, "a\0b", 3);
    assert_int_equal(source.nul, 1);
    assert_true(source.ascii);
    csb_source_done(&source);
}

static void
test_what_is_too_long_is_cut_and_says_so(void **state)
{
    struct csb_source source;
    (void)state;
    assert_int_equal(csb_source_init(&source, "abcdef", 6, 4), 0);
    assert_true(source.cut);
    assert_int_equal(source.raw_len, 6);
    assert_string_equal(source.text, "abcd");
    csb_source_done(&source);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line_ends_become_line_feeds),
        cmocka_unit_test(test_a_byte_order_mark_is_dropped_once),
        cmocka_unit_test(test_columns_count_characters),
        cmocka_unit_test(test_broken_utf8_is_found_where_it_begins),
        cmocka_unit_test(test_nul_and_ascii),
        cmocka_unit_test(test_what_is_too_long_is_cut_and_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
