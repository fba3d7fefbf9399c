/* Theory of operation: the first message to a child, taken apart again as child_setup.c does,
 * byte by byte. */
#include "config.h"

#include "syscall_filter.h"
#include "syscalls.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PID = 4711 };

static int
set_up(void **state)
{
    struct csb_policy *policy = malloc(sizeof *policy);
    struct csb_error error = {0};
    csb_policy_init(policy);
    policy->sets = CSB_SET_BIT(CSB_SET_CORE);
    policy->uid = 60700;
    policy->notify = true;
    policy->skipped = 0x5;
    assert_int_equal(csb_seccomp_compile(policy->sets, CSB_FILTER_NARROW,
                                         &policy->narrow_filter, &error),
                     0);
    *state = policy;
    return 0;
}

static int
tear_down(void **state)
{
    csb_policy_done(*state);
    free(*state);
    return 0;
}

static const char *
next_string(const unsigned char **at, const unsigned char *end)
{
    const char *text = (const char *)*at;
    size_t room = (size_t)(end - *at);
    size_t length = strnlen(text, room);
    assert_true(length < room);
    *at += length + 1;
    return text;
}

static void
test_every_part_is_where_the_child_looks(void **state)
{
    struct csb_policy *policy = *state;
    struct csb_plan plan = {.landlock_fds = {20, 21}, .rlimit_count = 2};
    struct csb_strings arguments = {0};
    struct csb_config config;
    struct csb_error error = {0};
    struct csb_wire_config header;
    const unsigned char *at;
    plan.rlimits[0] = (struct csb_rlimit){7, 64};
    plan.rlimits[1] = (struct csb_rlimit){1, 4096};
    assert_int_equal(csb_strings_add(&policy->module_path, "/lib/python"), 0);
    assert_int_equal(csb_strings_add(&policy->module_path, "/lib/python/dyn"), 0);
    assert_int_equal(csb_strings_add(&arguments, ""), 0);
    assert_int_equal(csb_strings_add(&arguments, "-x\n"), 0);
    assert_int_equal(
        csb_config_build(policy, &plan, PID, "program.py", &arguments, &config, &error),
        0);

    memcpy(&header, config.bytes, sizeof header);
    assert_int_equal(header.magic, CSB_WIRE_MAGIC);
    assert_int_equal(header.payload_bytes + sizeof header, config.count);
    assert_int_equal(header.uid, 60700);
    assert_int_equal(header.notify, 1);
    assert_int_equal(header.skipped, 0x5);
    assert_int_equal(header.filter_length, policy->narrow_filter.length);
    assert_int_equal(header.rlimit_count, 2);
    assert_int_equal(header.path_count, 2);
    assert_int_equal(header.argument_count, 2);

    at = config.bytes + sizeof header +
         header.filter_length * sizeof(struct sock_filter);
    assert_memory_equal(at, plan.rlimits, 2 * sizeof *plan.rlimits);
    at += 2 * sizeof *plan.rlimits;
    assert_string_equal(next_string(&at, config.bytes + config.count), "program.py");
    assert_string_equal(next_string(&at, config.bytes + config.count), "/lib/python");
    assert_string_equal(next_string(&at, config.bytes + config.count),
                        "/lib/python/dyn");
    assert_string_equal(next_string(&at, config.bytes + config.count), "");
    assert_string_equal(next_string(&at, config.bytes + config.count), "-x\n");
    assert_ptr_equal(at, config.bytes + config.count);
    csb_config_done(&config);
    csb_strings_done(&arguments);
}

static uint32_t
kill_answer(const struct csb_bpf *program, uint64_t pid)
{
    struct seccomp_data call = {
        .nr = csb_seccomp_number("kill"), .arch = csb_seccomp_arch(), .args = {pid, 9}};
    return csb_bpf_run(program, &call);
}

static void
test_the_pid_is_put_in_for_this_child_only(void **state)
{
    struct csb_policy *policy = *state;
    const struct csb_plan plan = {.landlock_fds = {-1, -1}};
    const struct csb_strings none = {0};
    struct csb_config config;
    struct csb_error error = {0};
    struct csb_wire_config header;
    struct csb_bpf sent;
    assert_int_equal(csb_config_build(policy, &plan, PID, "p", &none, &config, &error),
                     0);
    memcpy(&header, config.bytes, sizeof header);
    sent.length = (unsigned short)header.filter_length;
    sent.code = (struct sock_filter *)(void *)(config.bytes + sizeof header);
    assert_int_equal(kill_answer(&sent, PID), SECCOMP_RET_ALLOW);
    assert_int_equal(kill_answer(&sent, CSB_OWN_PID), SECCOMP_RET_USER_NOTIF);
    /* the policy is shared by other runs and stays as it is */
    assert_int_equal(kill_answer(&policy->narrow_filter, PID), SECCOMP_RET_USER_NOTIF);
    assert_int_equal(kill_answer(&policy->narrow_filter, CSB_OWN_PID),
                     SECCOMP_RET_ALLOW);
    csb_config_done(&config);
}

static void
test_a_message_that_would_not_fit_is_an_error(void **state)
{
    struct csb_policy *policy = *state;
    const struct csb_plan plan = {.landlock_fds = {-1, -1}};
    struct csb_strings arguments = {0};
    struct csb_config config = {0};
    struct csb_error error = {0};
    char *large = malloc(1 << 20);
    memset(large, 'a', (1 << 20) - 1);
    large[(1 << 20) - 1] = '\0';
    assert_int_equal(csb_strings_add(&arguments, large), 0);
    assert_int_equal(
        csb_config_build(policy, &plan, PID, "p", &arguments, &config, &error), -E2BIG);
    assert_null(config.bytes);
    assert_int_equal(error.step, CSB_STEP_ARGUMENT);
    csb_strings_done(&arguments);
    free(large);
}

static void
test_a_filter_without_a_place_for_the_pid_is_an_error(void **state)
{
    struct csb_policy *policy = *state;
    const struct csb_plan plan = {.landlock_fds = {-1, -1}};
    const struct csb_strings none = {0};
    struct csb_config config = {0};
    struct csb_error error = {0};
    (void)csb_bpf_patch_equal(&policy->narrow_filter, (uint32_t)CSB_OWN_PID, 1);
    assert_int_equal(csb_config_build(policy, &plan, PID, "p", &none, &config, &error),
                     -EPROTO);
    assert_null(config.bytes);
}

#define WITH_POLICY(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_POLICY(test_every_part_is_where_the_child_looks),
        WITH_POLICY(test_the_pid_is_put_in_for_this_child_only),
        WITH_POLICY(test_a_message_that_would_not_fit_is_an_error),
        WITH_POLICY(test_a_filter_without_a_place_for_the_pid_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
