/* Theory of operation: unit test of limits → rlimits; a child process lowers its own hard
 * limits to see that nothing above them is asked for. */
#include "run_limits.h"

#include "clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const struct csb_limits limits = {.cpu_ns = 1500 * CSB_NS_PER_MS,
                                         .memory_bytes = 12345678,
                                         .file_bytes = 4321,
                                         .open_files = 77,
                                         .stack_bytes = 1 << 20};

/* UINT64_MAX - 1 when the resource is not limited. */
static uint64_t
value_of(int resource)
{
    struct csb_rlimit made[CSB_RLIMITS_MAX];
    size_t count = csb_limits_to_rlimits(&limits, made);
    uint64_t value = UINT64_MAX - 1;
    assert_true(count <= CSB_RLIMITS_MAX);
    for (size_t i = 0; i < count; i++) {
        if (made[i].resource == resource) {
            assert_int_equal(value, UINT64_MAX - 1); /* only once */
            value = made[i].value;
        }
    }
    return value;
}

static void
test_each_limit_has_its_resource(void **state)
{
    (void)state;
    assert_int_equal(value_of(RLIMIT_CPU), 2 + 3); /* rounded up, and the backstop */
    assert_int_equal(value_of(RLIMIT_DATA), 12345678);
    assert_int_equal(value_of(RLIMIT_FSIZE), 4321);
    assert_int_equal(value_of(RLIMIT_NOFILE), 77);
    assert_int_equal(value_of(RLIMIT_STACK), 1 << 20);
}

static void
test_these_are_nothing_whatever_is_asked(void **state)
{
    (void)state;
    assert_int_equal(value_of(RLIMIT_CORE), 0);
    assert_int_equal(value_of(RLIMIT_MEMLOCK), 0);
    assert_int_equal(value_of(RLIMIT_MSGQUEUE), 0);
    assert_int_equal(value_of(RLIMIT_NICE), 0);
    assert_int_equal(value_of(RLIMIT_RTPRIO), 0);
    assert_true(value_of(RLIMIT_SIGPENDING) <= 64);
}

/* Both would count more than this run: all processes of the uid, reserved addresses. */
static void
test_these_are_left_alone(void **state)
{
    (void)state;
    assert_int_equal(value_of(RLIMIT_NPROC), UINT64_MAX - 1);
    assert_int_equal(value_of(RLIMIT_AS), UINT64_MAX - 1);
}

static void
test_never_more_than_the_callers_own_hard_limit(void **state)
{
    int status = 0;
    pid_t child;
    (void)state;
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct rlimit low = {50, 50};
        if (setrlimit(RLIMIT_NOFILE, &low) != 0 || setrlimit(RLIMIT_FSIZE, &low) != 0) {
            _exit(2);
        }
        _exit(value_of(RLIMIT_NOFILE) == 50 && value_of(RLIMIT_FSIZE) == 50 &&
                      value_of(RLIMIT_DATA) == 12345678
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_limit_has_its_resource),
        cmocka_unit_test(test_these_are_nothing_whatever_is_asked),
        cmocka_unit_test(test_these_are_left_alone),
        cmocka_unit_test(test_never_more_than_the_callers_own_hard_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
