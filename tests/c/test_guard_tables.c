/* Theory of operation: unit test of the name tables, as data and as lookups. */
#include "rule.h"
#include "tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "nameset.h"

static uint32_t
flags(const char *name)
{
    return csb_name_flags(name, strlen(name));
}

static void
test_names_are_sorted(void **state)
{
    (void)state;
    for (size_t i = 1; i < csb_name_count(); i++) {
        assert_true(strcmp(csb_name_at(i - 1), csb_name_at(i)) < 0);
    }
}

static void
test_members_are_sorted_and_unique(void **state)
{
    (void)state;
    for (size_t i = 1; i < csb_member_count(); i++) {
        const struct csb_member *left = csb_member_at(i - 1);
        const struct csb_member *right = csb_member_at(i);
        int order = strcmp(left->member, right->member);
        assert_true(order <= 0);
        if (order == 0) {
            assert_true(strcmp(left->module, right->module) <= 0);
        }
    }
}

static void
test_every_name_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < csb_name_count(); i++) {
        assert_true(flags(csb_name_at(i)) != 0);
    }
    assert_true((flags("eval") & CSB_N_CODE) != 0);
    assert_int_equal(flags("evaluate") & CSB_N_BUILTIN, 0);
    assert_int_equal(flags("eva") & CSB_N_BUILTIN, 0);
    assert_int_equal(flags(""), 0);
}

static void
test_unknown_dunders_are_refused(void **state)
{
    (void)state;
    assert_true(csb_dunder_is_refused(flags("__globals__")));
    assert_true(csb_dunder_is_refused(flags("__from_the_future__")));
    assert_false(csb_dunder_is_refused(flags("__init__")));
    assert_false(csb_dunder_is_refused(flags("__name__")));
    assert_false(csb_dunder_is_refused(flags("__")));
    assert_false(csb_dunder_is_refused(flags("____")));
    assert_false(csb_dunder_is_refused(flags("_private")));
}

static void
test_members_are_found_by_module(void **state)
{
    const struct csb_member *member = csb_member_find("sys", 3, "_getframe", 9);
    (void)state;
    assert_non_null(member);
    assert_int_equal(member->rule, CSB_RULE_202);
    assert_null(csb_member_find("sysx", 4, "_getframe", 9));
    assert_null(csb_member_find("sys", 3, "_getframes", 10));
    assert_null(csb_member_find("re", 2, "compile", 7));
    assert_true(csb_module_has_members("io", 2));
    assert_false(csb_module_has_members("math", 4));
}

static void
test_longest_prefix(void **state)
{
    static const char *const items[] = {"a", "a.b.c", "zz"};
    struct csb_nameset set;
    (void)state;
    assert_int_equal(csb_nameset_init(&set, items, 3), 0);
    assert_int_equal(csb_nameset_longest_prefix(&set, "a.b.c.d", 7), 5);
    assert_int_equal(csb_nameset_longest_prefix(&set, "a.b.cd", 6), 1);
    assert_int_equal(csb_nameset_longest_prefix(&set, "ab", 2), 0);
    assert_int_equal(csb_nameset_longest_prefix(&set, "", 0), 0);
    csb_nameset_done(&set);
}

static void
test_edit_distance(void **state)
{
    (void)state;
    assert_int_equal(csb_edit_distance("maths", 5, "math", 4, 2), 1);
    assert_int_equal(csb_edit_distance("jsno", 4, "json", 4, 2), 1);
    assert_int_equal(csb_edit_distance("", 0, "abc", 3, 5), 3);
}

/* csb_check.stars has room for each guarded module. */
static void
test_there_is_room_for_star_imports(void **state)
{
    size_t modules = 0;
    (void)state;
    for (size_t i = 0; i < csb_member_count(); i++) {
        const char *module = csb_member_at(i)->module;
        size_t at = 0;
        while (strcmp(csb_member_at(at)->module, module) != 0) {
            at++;
        }
        modules += at == i;
    }
    assert_in_range(modules, 40, CSB_MOST_STARS);
    assert_true(csb_module_is_guarded("os", 2));
    assert_false(csb_module_is_guarded("math", 4));
    assert_non_null(csb_member_find("a.b._types", 10, "CodeType", 8));
    assert_null(csb_member_find("a.b.xtypes", 10, "CodeType", 8));
    assert_null(csb_member_find("types.", 6, "CodeType", 8));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_sorted),
        cmocka_unit_test(test_members_are_sorted_and_unique),
        cmocka_unit_test(test_every_name_is_found),
        cmocka_unit_test(test_unknown_dunders_are_refused),
        cmocka_unit_test(test_members_are_found_by_module),
        cmocka_unit_test(test_longest_prefix),
        cmocka_unit_test(test_edit_distance),
        cmocka_unit_test(test_there_is_room_for_star_imports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
