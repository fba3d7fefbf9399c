/* Theory of operation: unit test of the guard's budgets, by what a check has spent and not by the
 * clock: a flood is refused before it is parsed, a broken source soon after its errors begin, and
 * what is read again and again by the number of its reads. One thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "census.h"
#include "guard_fixture.h"
#include "parse.h"

#define FEW_STEPS 30000

struct row {
    const char *head;
    const char *part;
    size_t count;
    const char *tail;
    const char *codes;
    uint64_t most_steps;
};

static void
check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct csb_spent spent;
        const char *codes = guard_spent_of_many(rows[i].head, rows[i].part,
                                                rows[i].count, rows[i].tail, &spent);
        if (strcmp(codes, rows[i].codes) != 0 || spent.steps > rows[i].most_steps) {
            fail_msg("%s(%zu times %s): %s, not %s, after %llu steps of %llu",
                     rows[i].head, rows[i].count, rows[i].part, codes, rows[i].codes,
                     (unsigned long long)spent.steps,
                     (unsigned long long)rows[i].most_steps);
        }
    }
}

static void
test_a_flood_is_not_parsed(void **state)
{
    static const struct row rows[] = {
        {"", "(", 1000000, "", "CSB008", 0},
        {"x = ", "-", 1000000, "1", "CSB008", 0},
        {"", "eval(1)\n", 120000, "", "CSB008", 0},
        {"x = [", "a,", 500000, "]", "CSB008", 0},
        {"x = 1", " + 1", 250000, "", "CSB008", 0},
        {"x = ", "\"\" ", 330000, "", "CSB008", 0},
        {"x = '", "\\n", 500000, "'", "CSB008", 0},
        {"x = f'", "{a}", 330000, "'", "CSB008", 0},
        {"f'{'\"\"\"'}'\n", "x=1\n", 250000, "", "CSB008", 0},
        {"f'''{x!r:{w}}{{}}{a[\"b\"]}'''\n", "x=1\n", 250000, "", "CSB008", 0},
        {"", ". ", 500000, "", "CSB008", 0},
        {"x = ", "\\\n", 10000, "1", "CSB008", 0},
    };
    (void)state;
    check_rows(rows, CSB_ARRAY_LEN(rows));
}

/* Each was seconds of looking for the least wrong reading. */
static void
test_a_broken_source_ends_early(void **state)
{
    static const struct row rows[] = {
        {"", ".", 60000, "", "CSB001 CSB008", FEW_STEPS},
        {"", ".", 1000000, "", "CSB001 CSB008", FEW_STEPS},
        {"", "exec ", 200000, "", "CSB001 CSB008", FEW_STEPS},
        {"", "The fox jumps over a dog, and then it sleeps.\n", 9000, "",
         "CSB001 CSB008", FEW_STEPS},
        {"", "foo(bar[baz{a: b) c] d} ", 5000, "", "CSB001 CSB008", FEW_STEPS},
    };
    (void)state;
    check_rows(rows, CSB_ARRAY_LEN(rows));
}

/* Where the census is wrong about the end of a string, steps are what ends it. */
static void
test_steps_end_what_the_census_missed(void **state)
{
    static const struct row rows[] = {
        {"ub'''\n", "x=1\n", 250000, "", "CSB008", 131072 + 1000 + 1000000 / 4},
        {"f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{f'{", "x,", 300000, "",
         "CSB008", 131072 + 1000 + 600000 / 4},
    };
    (void)state;
    check_rows(rows, CSB_ARRAY_LEN(rows));
}

static void
test_reads_are_counted(void **state)
{
    struct csb_spent spent;
    (void)state;
    /* Read once or twice. */
    assert_string_equal(
        guard_spent_of_many("def f():\n", "    x = y\n", 1000, "", &spent), "");
    assert_in_range(spent.reads, 10000 / 64, 4 * 10000 / 64);
    /* Comments in front of a statement were read again for each of them. */
    assert_string_equal(guard_spent_of_many("if 1:\n  x\n", "  # some words here\n",
                                            10000, "  y\n", &spent),
                        "");
    assert_in_range(spent.reads, 200000 / 64, 6 * 200000 / 64);
    /* Ninety blocks end here, and each looks at all the comments behind. */
    {
        char head[9000];
        size_t used = 0;
        for (int depth = 0; depth < 90; depth++) {
            used += (size_t)snprintf(head + used, sizeof head - used, "%*sif 1:\n",
                                     depth, "");
        }
        (void)snprintf(head + used, sizeof head - used, "%*sx\n", 90, "");
        assert_string_equal(
            guard_spent_of_many(head, "#0123456789\n", 60000, "y\n", &spent), "CSB008");
        assert_in_range(spent.reads, 0, 16384 + 13 * (9000 + 720000) / 64);
    }
}

/* The same numbers, the same answer. */
static void
test_what_is_spent_is_the_same_twice(void **state)
{
    static const char part[] = "x = getattr(a, 'b' + 'c')\n";
    struct csb_spent first;
    struct csb_spent second;
    (void)state;
    assert_string_equal(guard_spent_of_many("", part, 1000, "", &first), "");
    assert_string_equal(guard_spent_of_many("", part, 1000, "", &second), "");
    assert_memory_equal(&first, &second, sizeof first);
    assert_in_range(first.tokens, 14000, 18000);
    assert_true(first.steps > first.tokens && first.steps < 10 * first.tokens);
    assert_true(first.folds >= 3000);
}

static void
test_census(void **state)
{
    static const struct {
        const char *text;
        uint64_t count;
    } rows[] = {
        {"", 0},
        {"  \t\f\n\n", 0},
        {"x\n", 2},
        {"x = 1.5e3 # c\n", 5},
        {"x **= y // 2 -> z ... a.b", 11},
        {"(x,\n\ny)\n", 6},
        {"'a b c'", 3},
        {"rb'''a\nb' c''' d", 4},
        {"'\\n\\x41'", 5},
        {"r'\\n'", 3},
        {"'open\nx", 4 + 1},
        {"f'{a}'", 3 + 3 + 1},
        {"f'{{a}}'", 3},
        {"f'{a:>{w}}' x", 3 + 3 + 1 + 3 + 1 + 1},
        {"f'{'a'}'", 3 + 3 + 3},
        {"f'{x:\"}' y", 3 + 3 + 1 + 1},
        {"\\\nx", 2},
        {"\\\n\\\n\\\nx", 3 + 1 + 2 + 1},
        {"\xc3\xa9 $", 2},
        {"1.1.1", 3},
    };
    size_t at;
    (void)state;
    for (size_t i = 0; i < CSB_ARRAY_LEN(rows); i++) {
        uint64_t count = csb_census(rows[i].text, strlen(rows[i].text), 100, &at);
        if (count != rows[i].count) {
            fail_msg("%s: %llu", rows[i].text, (unsigned long long)count);
        }
    }
    assert_int_equal(csb_census("a b c d", 7, 2, &at), 3);
    assert_int_equal(at, 4);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_flood_is_not_parsed),
        cmocka_unit_test(test_a_broken_source_ends_early),
        cmocka_unit_test(test_steps_end_what_the_census_missed),
        cmocka_unit_test(test_reads_are_counted),
        cmocka_unit_test(test_what_is_spent_is_the_same_twice),
        cmocka_unit_test(test_census),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
