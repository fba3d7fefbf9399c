/* Theory of operation: unit test of the error idiom. */
#include "error.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void
test_failure_is_never_reported_as_zero(void **state)
{
    struct csb_error error = {0};
    (void)state;
    assert_int_equal(csb_fail(&error, CSB_STEP_PIPE, 0, "pipe: %s", "x"), -EIO);
    assert_int_equal(error.err, EIO);
    assert_string_equal(error.message, "pipe: x");
    assert_int_equal(csb_fail(NULL, CSB_STEP_PIPE, EPERM, "pipe"), -EPERM);
}

static void
test_long_messages_are_cut_inside_the_buffer(void **state)
{
    struct csb_error error;
    char text[2 * sizeof error.message];
    (void)state;
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(csb_fail(&error, CSB_STEP_EXEC, ENOENT, "%s", text), -ENOENT);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
}

static void
test_every_step_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (int i = 0; i < CSB_STEP_COUNT; i++) {
        assert_string_not_equal(csb_step_name((enum csb_step)i), "unknown");
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(csb_step_name((enum csb_step)i),
                                    csb_step_name((enum csb_step)j));
        }
    }
    assert_string_equal(csb_step_name(CSB_STEP_COUNT), "unknown");
    assert_string_equal(csb_step_name((enum csb_step) - 1), "unknown");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failure_is_never_reported_as_zero),
        cmocka_unit_test(test_long_messages_are_cut_inside_the_buffer),
        cmocka_unit_test(test_every_step_has_a_name_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
