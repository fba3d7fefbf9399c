/* Theory of operation: unit test of what the parser is given in place of the source; pure text. */
#include "respell.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef bool respell(char *text, size_t len);

static void
check(respell *function, const char *given, const char *wanted)
{
    char text[128];
    size_t len = strlen(given);
    assert_true(len < sizeof text);
    memcpy(text, given, len + 1);
    assert_int_equal(function(text, len), strcmp(given, wanted) != 0);
    assert_string_equal(text, wanted);
    assert_int_equal(strlen(text), len);
}

static void
test_formats_that_no_expression_begins_like(void **state)
{
    static const char *const rows[][2] = {
        {"", ""},
        {"f\"{x:=^30}\"", "f\"{x:*^30}\""},
        {"f'{x!r:=>{w}} {y:=<2}'", "f'{x!r:*>{w}} {y:*<2}'"},
        {"f'{x:=8d}{x:=+08.2f}{x:=,d}'", "f'{x:*8d}{x:*+08.2f}{x:*,d}'"},
        /* Assignment expressions, numbers of all kinds, names. */
        {"(x := 5), {y:=8}", "(x := 5), {y:=8}"},
        {"{y:=8j} {y:=0xd} {y:=-8} {y:=d}", "{y:=8j} {y:=0xd} {y:=-8} {y:=d}"},
        {"x[a:=8d]", "x[a:=8d]"},
        {":=", ":="},
    };
    (void)state;
    for (size_t i = 0; i < CSB_ARRAY_LEN(rows); i++) {
        check(csb_respell_formats, rows[i][0], rows[i][1]);
    }
}

static void
test_comments_become_one(void **state)
{
    static const char *const rows[][2] = {
        {"", ""},
        {"# a", "# a"},
        {"# a\n# b\nc\n", "# a # b\nc\n"},
        {"  # a\n\t# b\n\n \n# c\nd", "  # a \t# b    # c\nd"},
        {"x # a\n# b\n# c", "x # a\n# b # c"},
        {"# a\nx\n# b\n", "# a\nx\n# b\n"},
        /* A continuation may stand before it when the first line ends a string. */
        {"# a \\\n# b\n# c\n", "# a \\\n# b # c\n"},
        {"# a\n\n", "# a\n\n"},
    };
    (void)state;
    for (size_t i = 0; i < CSB_ARRAY_LEN(rows); i++) {
        check(csb_respell_comments, rows[i][0], rows[i][1]);
    }
}

static void
test_lines_within_brackets(void **state)
{
    static const char *const rows[][2] = {
        {"", ""},
        {"a\nb\n", "a\nb\n"},
        {"f(a,\nb)\nc\n", "f(a, b)\nc\n"},
        {"[{\n}\n]\n", "[{ } ]\n"},
        {"(a # b\nc)\n", "(a     c)\n"},
        {"a # (\nb\n", "a # (\nb\n"},
        /* A comment with a quote may be the inside of a string that was read wrongly. */
        {"(a # 'b\nc)\n", "(a # 'b\nc)\n"},
        {"('(\n', \"\"\"[\n\"\"\",\nb)\n", "('(\n', \"\"\"[\n\"\"\", b)\n"},
        {"'('\n'\\'('\nr'\\'('\n", "'('\n'\\'('\nr'\\'('\n"},
        {")\n(\n", ")\n( "},
        {"(\\\n\n", "(\\\n "},
        {"(\\", "(\\"},
        {"('", "('"},
    };
    (void)state;
    for (size_t i = 0; i < CSB_ARRAY_LEN(rows); i++) {
        check(csb_respell_lines, rows[i][0], rows[i][1]);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats_that_no_expression_begins_like),
        cmocka_unit_test(test_comments_become_one),
        cmocka_unit_test(test_lines_within_brackets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
