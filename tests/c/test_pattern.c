/* Theory of operation: unit test of patterns, one row a pair. */
#include "pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum {
    NO = 0,
    YES = CSB_PATTERN_MATCHES,
    BELOW = CSB_PATTERN_REACHES,
    BOTH = YES | BELOW
};

struct row {
    const char *pattern;
    const char *path;
    unsigned answer;
};

/* clang-format off */
static const struct row rows[] = {
    {"a", "a", YES}, {"a", "b", NO}, {"a", "ab", NO}, {"ab", "a", NO}, {"a", "a/b", NO},
    {"a/b", "a", BELOW}, {"a/b", "a/b", YES}, {"a/b", "a/c", NO}, {"a/b/c", "a/b", BELOW},
    {"*", "a", YES}, {"*", "a/b", NO}, {"*", ".a", NO}, {".*", ".a", YES}, {"*.txt", "x.txt", YES},
    {"*.txt", ".txt", NO}, {"*.txt", "x.txt2", NO}, {"*/*", "a/b", YES}, {"*/*", "a", BELOW},
    {"a*b*c", "axxbyyc", YES}, {"a*b*c", "axxbyyd", NO}, {"**x", "abx", YES}, {"a**", "abc", YES},
    {"*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NO},
    {"?", "a", YES}, {"?", "ab", NO}, {"?", "\xC3\xA9", YES}, {"??", "\xC3\xA9", NO}, {"?", "\xFF", YES},
    {"?", ".", NO}, {"[.]x", ".x", NO},
    {"[abc]", "b", YES}, {"[abc]", "d", NO}, {"[a-c]x", "cx", YES}, {"[!a-c]", "d", YES}, {"[!a-c]", "b", NO},
    {"[]]", "]", YES}, {"[!]]", "]", NO}, {"[a-]", "-", YES}, {"[", "[", YES}, {"[a", "[a", YES}, {"[a", "a", NO},
    {"[\xC3\xA0-\xC3\xBC]", "\xC3\xA9", YES}, {"[\xC3\xA0-\xC3\xBC]", "z", NO},
    {"[a/b]", "[a/b]", YES}, {"[a/b]", "a", NO},
    {"**", "a", BOTH}, {"**", "a/b/c", BOTH}, {"**", ".a", NO}, {"**", "a/.b", NO},
    {"**/x", "x", YES | BELOW}, {"**/x", "a/x", YES | BELOW}, {"**/x", "a", BELOW}, {"**/x", ".a", NO},
    {"a/**", "a", BELOW}, {"a/**", "a/b", BOTH}, {"a/**", "b", NO}, {"a/**/z", "a/z", YES | BELOW},
    {"a/**/z", "a/b/c/z", YES | BELOW}, {"a/**/z", "a/b", BELOW}, {"**/.x", "a/.x", YES}, {"***", "abc", YES},
    {"**/**/**/**", "a/b/c/d/e/f/g/h/i/j/k/l/m/n/o", BOTH},
};
/* clang-format on */

static void
test_each_pair(void **state)
{
    (void)state;
    for (size_t i = 0; i < CSB_ARRAY_LEN(rows); i++) {
        unsigned answer = csb_pattern_match(rows[i].pattern, rows[i].path);
        if (answer != rows[i].answer) {
            fail_msg("%s on %s: %u, not %u", rows[i].pattern, rows[i].path, answer,
                     rows[i].answer);
        }
    }
}

/* Every string of a few awkward bytes ends, within its bounds (the sanitizers look). */
static void
test_no_input_is_read_past_its_end(void **state)
{
    static const char bytes[] = {'*', '?', '[', ']',    '!',
                                 '-', '/', 'a', '\xC3', '\xF0'};
    char text[5] = "";
    (void)state;
    for (unsigned n = 0; n < 10000; n++) {
        unsigned rest = n;
        for (size_t i = 0; i < 4; i++, rest /= 10) {
            text[i] = bytes[rest % 10];
        }
        assert_true(csb_pattern_match(text, "ab\xC3") <= BOTH);
        assert_true(csb_pattern_match("[a-\xC3]*/?", text) <= BOTH);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_pair),
        cmocka_unit_test(test_no_input_is_read_past_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
