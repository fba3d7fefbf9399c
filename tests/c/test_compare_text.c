/* Theory of operation: unit test of the text comparators: one row a pair of texts. */
#include "compare_text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum wanted { SAME, WRONG, SPACE, REFUSED };

struct row {
    enum csb_text_kind kind;
    const char *got;
    const char *expected;
    enum wanted wanted;
    unsigned short line; /* of got, when WRONG or SPACE */
    unsigned short column;
};

/* clang-format off */
static const struct row rows[] = {
    {CSB_TEXT_EXACT, "", "", SAME, 0, 0},
    {CSB_TEXT_EXACT, "a\n", "a", SAME, 0, 0},
    {CSB_TEXT_EXACT, "a", "a\n", SAME, 0, 0},
    {CSB_TEXT_EXACT, "a\n\n", "a\n", SPACE, 1, 2},
    {CSB_TEXT_EXACT, "a \n", "a\n", SPACE, 1, 2},
    {CSB_TEXT_EXACT, "a\r\nb", "a\nb", SPACE, 1, 2},
    {CSB_TEXT_EXACT, "a\nbcd", "a\nbxd", WRONG, 2, 2},
    {CSB_TEXT_EXACT, "a\nb", "a\nbc", WRONG, 2, 2},
    {CSB_TEXT_EXACT, "", "a", WRONG, 1, 1},
    {CSB_TEXT_EXACT, "\xc3\xa9\xc3\xa8z", "\xc3\xa9\xc3\xa9z", WRONG, 1, 2},
    {CSB_TEXT_EXACT, "12", "1 2", WRONG, 1, 2},
    {CSB_TEXT_LINES, "a  \nb\t\n\n\n", "a\nb", SAME, 0, 0},
    {CSB_TEXT_LINES, "a\r\nb\r\n", "a\nb\n", SAME, 0, 0},
    {CSB_TEXT_LINES, "", "\n\n \n", SAME, 0, 0},
    {CSB_TEXT_LINES, " a", "a", SPACE, 1, 1},
    {CSB_TEXT_LINES, "a\n\nb", "a\nb", SPACE, 2, 1},
    {CSB_TEXT_LINES, "a\nb", "a\nb\nc", WRONG, 2, 1},
    {CSB_TEXT_LINES, "a\nb\nc", "a\nb", WRONG, 3, 1},
    {CSB_TEXT_TOKENS, " a\n\nb\v c\f", "a b c", SAME, 0, 0},
    {CSB_TEXT_TOKENS, "a b", "a b c", WRONG, 1, 4},
    {CSB_TEXT_TOKENS, "a b c", "a b", WRONG, 1, 5},
    {CSB_TEXT_TOKENS, "ab", "a b", WRONG, 1, 2},
    {CSB_TEXT_TOKENS, "1.0", "1", WRONG, 1, 2},
    {CSB_TEXT_TOKENS, "a\nb\nxy", "a b xz", WRONG, 3, 2},
    {CSB_TEXT_FLOAT, "1.0000001", "1", SAME, 0, 0},
    {CSB_TEXT_FLOAT, "1e0 +2 .5 5.", "1 2 0.5 5", SAME, 0, 0},
    {CSB_TEXT_FLOAT, "1000000.5", "1000000", SAME, 0, 0}, /* relative */
    {CSB_TEXT_FLOAT, "1.1", "1", WRONG, 1, 2},
    {CSB_TEXT_FLOAT, "x", "x", SAME, 0, 0},
    {CSB_TEXT_FLOAT, "x", "y", WRONG, 1, 1},
    {CSB_TEXT_FLOAT, "0x1", "1", WRONG, 1, 1},
    {CSB_TEXT_FLOAT, "1_0", "10", WRONG, 1, 2},
    {CSB_TEXT_FLOAT, "nan", "nan", WRONG, 1, 4},
    {CSB_TEXT_FLOAT, "nan", "1", WRONG, 1, 1},
    {CSB_TEXT_FLOAT, "1", "nan", WRONG, 1, 1},
    {CSB_TEXT_FLOAT, "inf", "Infinity", SAME, 0, 0},
    {CSB_TEXT_FLOAT, "inf", "-inf", WRONG, 1, 1},
    {CSB_TEXT_FLOAT, "inf", "1e300", WRONG, 1, 1},
    {CSB_TEXT_FLOAT, "1e999", "inf", WRONG, 1, 1},
    {CSB_TEXT_FLOAT, "1e999", "1e999", SAME, 0, 0},
    {CSB_TEXT_FLOAT, "Japan", "Japan", SAME, 0, 0},
    {CSB_TEXT_FLOAT, "-0.0", "0", SAME, 0, 0},
    {CSB_TEXT_CASE_INSENSITIVE, "Hello  WORLD", "hello world", SAME, 0, 0},
    {CSB_TEXT_CASE_INSENSITIVE, "a[", "A{", WRONG, 1, 1},
    {CSB_TEXT_YES_NO, "YES\nno", "Yes No", SAME, 0, 0},
    {CSB_TEXT_YES_NO, "YES", "NO", WRONG, 1, 1},
    {CSB_TEXT_YES_NO, "y", "yes", WRONG, 1, 2},
    {CSB_TEXT_YES_NO, "yes", "yes maybe", REFUSED, 0, 0},
    {CSB_TEXT_UNORDERED_LINES, "b\na \n\n", "a\nb", SAME, 0, 0},
    {CSB_TEXT_UNORDERED_LINES, "a\na\nb", "a\nb\nb", WRONG, 2, 1},
    {CSB_TEXT_UNORDERED_LINES, "a\nb", "a\nb\nb", WRONG, 0, 0},
    {CSB_TEXT_UNORDERED_LINES, "a\n\nb", "\nb\na", SAME, 0, 0},
    {CSB_TEXT_UNORDERED_LINES, "a\nb", "\nb\na", WRONG, 0, 0},
    {CSB_TEXT_UNORDERED_LINES, "", "\n\n", SAME, 0, 0},
    {CSB_TEXT_JSON, " {\"a\": 1, \"b\": [1.0, null]}", "{\"b\":[1,null],\"a\":1}", SAME, 0, 0},
    {CSB_TEXT_JSON, "[1, true]", "[1, 1]", WRONG, 0, 0},
    {CSB_TEXT_JSON, "\"\\u00e9\"", "\"\xc3\xa9\"", SAME, 0, 0},
    {CSB_TEXT_JSON, "\"\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\"", SAME, 0, 0},
    {CSB_TEXT_JSON, "\"\\ud83d\"", "\"\\ud83d\"", SAME, 0, 0},
    {CSB_TEXT_JSON, "123456789012345678901234567890", "123456789012345678901234567890", SAME, 0, 0},
    {CSB_TEXT_JSON, "123456789012345678901234567891", "123456789012345678901234567890", WRONG, 0, 0},
    {CSB_TEXT_JSON, "18446744073709551616", "1.8446744073709551616e19", SAME, 0, 0},
    {CSB_TEXT_JSON, "-0", "0", SAME, 0, 0},
    {CSB_TEXT_JSON, "[1,]", "[1]", WRONG, 0, 0},
    {CSB_TEXT_JSON, "{\"a\":1,\"a\":2}", "{\"a\":2}", WRONG, 0, 0},
    {CSB_TEXT_JSON, "01", "1", WRONG, 0, 0},
    {CSB_TEXT_JSON, "", "1", WRONG, 0, 0},
    {CSB_TEXT_JSON, "1 2", "1", WRONG, 0, 0},
    {CSB_TEXT_JSON, "\"\n\"", "1", WRONG, 0, 0},
    {CSB_TEXT_JSON, "1", "one", REFUSED, 0, 0},
};
/* clang-format on */

static struct csb_text_piece
piece(const char *text)
{
    return (struct csb_text_piece){(const unsigned char *)text, strlen(text)};
}

static int
compare(const struct row *row, struct csb_text_difference *ret)
{
    const struct csb_compare_options options = {
        .relative = row->kind == CSB_TEXT_FLOAT ? 1e-6 : 0, .final_newline = true};
    return csb_compare_text(row->kind, piece(row->got), piece(row->expected), &options,
                            ret);
}

static void
test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < CSB_ARRAY_LEN(rows); i++) {
        const struct row *row = &rows[i];
        struct csb_text_difference ret;
        int result = compare(row, &ret);
        int wanted = row->wanted == SAME ? 0 : row->wanted == REFUSED ? -EINVAL : 1;
        if (result != wanted) {
            fail_msg("row %zu (%s | %s): %d", i, row->got, row->expected, result);
        }
        if (result == 1 && ret.presentation != (row->wanted == SPACE)) {
            fail_msg("row %zu (%s | %s): presentation", i, row->got, row->expected);
        }
        if (result == 1 && row->line != 0 &&
            (ret.got.line != row->line || ret.got.column != row->column)) {
            fail_msg("row %zu (%s | %s): %zu:%zu", i, row->got, row->expected,
                     ret.got.line, ret.got.column);
        }
    }
}

static void
test_options(void **state)
{
    struct csb_text_difference ret;
    const struct csb_compare_options strict = {.final_newline = false};
    const struct csb_compare_options nan = {.nan_equal = true};
    const struct csb_compare_options loose = {.absolute = 0.5};
    (void)state;
    assert_int_equal(
        csb_compare_text(CSB_TEXT_EXACT, piece("a\n"), piece("a"), &strict, &ret), 1);
    assert_true(ret.presentation);
    assert_int_equal(
        csb_compare_text(CSB_TEXT_FLOAT, piece("NaN"), piece("nan"), &nan, &ret), 0);
    assert_int_equal(
        csb_compare_text(CSB_TEXT_JSON, piece("[NaN]"), piece("[NaN]"), &nan, &ret), 0);
    assert_int_equal(
        csb_compare_text(CSB_TEXT_JSON, piece("[NaN]"), piece("[NaN]"), &strict, &ret),
        1);
    assert_int_equal(
        csb_compare_text(CSB_TEXT_FLOAT, piece("1.5"), piece("1"), &loose, &ret), 0);
    assert_int_equal(
        csb_compare_text(CSB_TEXT_FLOAT, piece("1.51"), piece("1"), &loose, &ret), 1);
    assert_int_equal(csb_compare_text(CSB_TEXT_JSON, piece("{\"a\":[1.4]}"),
                                      piece("{\"a\":[1]}"), &loose, &ret),
                     0);
}

static void
test_both_sides_are_shown_around_the_place(void **state)
{
    struct csb_text_difference ret;
    char got[300];
    char expected[300];
    (void)state;
    memset(got, 'a', sizeof got);
    memset(expected, 'a', sizeof expected);
    memcpy(got, "first\n", 6);
    memcpy(expected, "first\n", 6);
    got[150] = 'x';
    got[299] = '\0';
    expected[299] = '\0';
    assert_int_equal(csb_compare_text(CSB_TEXT_LINES, piece(got), piece(expected),
                                      &(struct csb_compare_options){0}, &ret),
                     1);
    assert_int_equal(ret.got.line, 2);
    assert_int_equal(ret.got.column, 145);
    assert_int_equal(ret.got.excerpt.count, 80);
    assert_int_equal(ret.got.excerpt.bytes[30], 'x');
    assert_int_equal(ret.expected.excerpt.bytes[30], 'a');
}

static void
test_names(void **state)
{
    (void)state;
    assert_int_equal(csb_text_kind_of("float"), CSB_TEXT_FLOAT);
    assert_int_equal(csb_text_kind_of("json"), CSB_TEXT_JSON);
    assert_int_equal(csb_text_kind_of("Exact"), CSB_TEXT_KINDS);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_both_sides_are_shown_around_the_place),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
