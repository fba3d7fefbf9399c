/* Theory of operation: unit test of the owned list of strings. */
#include "string_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static void
test_items_are_copies_and_the_list_ends_with_null(void **state)
{
    struct csb_strings strings = {0};
    char item[32];
    (void)state;
    for (int i = 0; i < 100; i++) {
        (void)snprintf(item, sizeof item, "item %d", i);
        assert_int_equal(csb_strings_add(&strings, item), 0);
        assert_int_equal(strings.count, i + 1);
        assert_null(strings.items[i + 1]); /* as execve wants it, at every moment */
    }
    assert_string_equal(strings.items[0], "item 0");
    assert_string_equal(strings.items[99], "item 99");
    csb_strings_done(&strings);
    assert_int_equal(strings.count, 0);
    csb_strings_done(&strings);
}

static void
test_pairs(void **state)
{
    struct csb_strings strings = {0};
    (void)state;
    assert_int_equal(csb_strings_add_pair(&strings, "NAME", "a=b"), 0);
    assert_int_equal(csb_strings_add_pair(&strings, "EMPTY", ""), 0);
    assert_string_equal(strings.items[0], "NAME=a=b");
    assert_string_equal(strings.items[1], "EMPTY=");
    csb_strings_done(&strings);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items_are_copies_and_the_list_ends_with_null),
        cmocka_unit_test(test_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
