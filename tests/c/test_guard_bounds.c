/* Theory of operation: unit test of what hostile sources aim at: loops that never end, values and
 * paths that grow, names that hold NUL, and comments where an expression is looked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "guard_fixture.h"
#include "hash.h"
#include "nameset.h"
#include "tables.h"

struct row {
    const char *head;
    const char *part;
    size_t count;
    const char *tail;
    const char *codes;
};

static void
check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *codes = guard_codes_of_many(rows[i].head, rows[i].part,
                                                rows[i].count, rows[i].tail);
        if (strcmp(codes, rows[i].codes) != 0) {
            fail_msg("%s(%zu times %s)%s: %s, not %s", rows[i].head, rows[i].count,
                     rows[i].part, rows[i].tail, codes, rows[i].codes);
        }
    }
}

static void
test_comments_are_no_children(void **state)
{
    static const struct row rows[] = {
        {"getattr(1,\n", "#\n", 3, "'__class__')", "CSB203"},
        {"getattr(1,\n", "#\n", 70, "'__class__')", "CSB203"},
        {"getattr(1, (\n", "#\n", 3, "'__class__'))", "CSB203"},
        {"getattr(1,", "\\\n", 70, "'__class__')", "CSB203"},
        {"getattr(1, ''.join([\n", "#\n", 5000, "'__class__']))", "CSB203"},
        {"getattr(1, ''.join(\n", "#\n", 3, "chr(c) for c in [95] * 1))", "CSB303"},
        {"getattr(1, '@@class@@'.translate({\n", "#\n", 70, "64: 95}))", "CSB203"},
        {"class A:\n __match_args__ = (\n", "#\n", 70, "'__class__',)", "CSB206"},
        {"import random, math\n[math, random,\n", "#\n", 3, "][1]._os", "CSB106"},
        {"import random, math\n[random for x in [\n", "#\n", 3, "1]]", ""},
        {"getattr(1, [n for n in x if n][0])", "", 0, "", "CSB303"},
        {"class A:\n def __eq__(self, other):\n", "  #\n", 3, "  return True",
         "CSB406"},
    };
    (void)state;
    check_rows(rows, CSB_ARRAY_LEN(rows));
}

/* Beyond a cap something is unknown, which is not the same as absent. */
static void
test_nothing_hides_behind_a_cap(void **state)
{
    static const char operator_[] = "import operator\noperator.attrgetter(";
    static const struct row rows[] = {
        {operator_, "'a',", 20, "'__class__')(1)", "CSB101 CSB203"},
        {operator_, "'a',", 20, "*['__class__'])(1)", "CSB101 CSB203"},
        {"import operator\noperator.attrgetter(*[", "'a',", 5000, "'__class__'])(1)",
         "CSB101 CSB203"},
        {operator_, "*['a', *['b']],", 9, "*['__class__'] * 2)(1)", "CSB101"},
        {"class A:\n __match_args__ = (", "'a',", 80, "'__class__')", "CSB206"},
        {"getattr(1, ''.join([", "'',", 4096, "'__class__']))", "CSB303"},
        {"getattr(1, '@@class@@'.translate({", "0: 0,", 70, "64: 95}))", "CSB203"},
        {"import sympy\nsympy.sympify(", "1,", 10, "'__x__')", "CSB101 CSB301"},
        {"import sympy\nsympy.sympify(", "1,", 80, "'__x__')", "CSB101 CSB301"},
        /* Whoever uses up the steps of folding gets no other answer for it. */
        {"a = ["
         "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]\n",
         "getattr(x, 'a'.join(map(chr, a)))\n", 2500, "'{0.__class__}'.format(1)",
         "CSB008"},
    };
    (void)state;
    check_rows(rows, CSB_ARRAY_LEN(rows));
}

static void
test_arithmetic_of_values_ends(void **state)
{
    static const struct row rows[] = {
        {"getattr(x, '' * 9223372036854775807)", "", 0, "", "CSB403"},
        {"getattr(x, 'a' * -(-9223372036854775807-1))", "", 0, "", ""},
        {"getattr(x, 'a' * 9223372036854775807)", "", 0, "", "CSB403"},
        {"getattr(x, 'ab'[-9223372036854775807-1:9223372036854775807])", "", 0, "", ""},
        {"getattr(1, '__class__'.strip(z))", "", 0, "", "CSB303"},
        {"getattr(1, '@AclassA@'.translate({64: 65, 65: 95}).replace('A', '_'))", "", 0,
         "", "CSB203"},
        {"getattr(1, '__class__\\0'.strip('\\0'))", "", 0, "", "CSB203"},
    };
    (void)state;
    check_rows(rows, CSB_ARRAY_LEN(rows));
}

static void
test_names_with_nul(void **state)
{
    static const char name[] =
        "open\0aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    static const char *const items[] = {"open", "zip"};
    struct csb_nameset set;
    (void)state;
    assert_int_equal(csb_name_flags(name, sizeof name - 1), 0);
    assert_null(csb_member_find("io", 2, name, sizeof name - 1));
    assert_null(csb_member_find("io\0aaaaaaaaaaaaaaaaaaaaaaa", 26, "open", 4));
    assert_true(csb_name_compare("a\0b", 3, "a") > 0);
    assert_true(csb_name_compare("a", 1, "ab") < 0);
    assert_int_equal(csb_name_compare("ab", 2, "ab"), 0);
    assert_int_equal(csb_nameset_init(&set, items, 2), 0);
    assert_false(csb_nameset_has(&set, name, sizeof name - 1));
    assert_true(csb_nameset_has(&set, "open", 4));
    csb_nameset_done(&set);
    assert_string_equal(guard_codes("getattr(x, 'open\\0' + 'a' * 4000)"), "CSB203");
    assert_string_equal(guard_codes("getattr(x, 'openb')"), "");
}

/* Names that meet in one slot under one key do not under another. */
static void
test_tables_have_keys_of_their_own(void **state)
{
    struct csb_hash_key first = csb_hash_key_new();
    struct csb_hash_key second = csb_hash_key_new();
    size_t both = 0;
    size_t one = 0;
    (void)state;
    assert_memory_not_equal(&first, &second, sizeof first);
    for (unsigned i = 0; i < 20000; i++) {
        char name[16];
        size_t len = (size_t)snprintf(name, sizeof name, "name%u", i);
        bool here = (csb_hash_bytes(&first, name, len) & 63) == 0;
        bool there = (csb_hash_bytes(&second, name, len) & 63) == 0;
        one += here;
        both += here && there;
    }
    assert_in_range(one, 200, 430);
    assert_in_range(both, 0, 30);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comments_are_no_children),
        cmocka_unit_test(test_nothing_hides_behind_a_cap),
        cmocka_unit_test(test_arithmetic_of_values_ends),
        cmocka_unit_test(test_names_with_nul),
        cmocka_unit_test(test_tables_have_keys_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
