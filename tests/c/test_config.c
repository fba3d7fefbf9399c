/* Theory of operation: the messages that make a child and then a run of it, taken apart again
 * as child_setup.c does, byte by byte. */
#include "config.h"

#include "submission.h"
#include "syscall_filter.h"
#include "syscalls.h"
#include "wire.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int
set_up(void **state)
{
    struct csb_policy *policy = malloc(sizeof *policy);
    struct csb_error error = {0};
    csb_policy_init(policy);
    policy->sets = CSB_SET_BIT(CSB_SET_CORE);
    policy->uid = 60700;
    policy->profile = strdup("compute");
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
    const struct csb_rlimit rlimits[] = {{7, 64}, {1, 4096}};
    struct csb_message message = {0};
    struct csb_error error = {0};
    struct csb_wire_config header;
    const unsigned char *at;
    const unsigned char *end;
    assert_int_equal(csb_strings_add(&policy->module_path, "/lib/python"), 0);
    assert_int_equal(csb_strings_add(&policy->module_path, "/lib/python/dyn"), 0);
    assert_int_equal(csb_config_build(policy, rlimits, 2, &message, &error), 0);

    memcpy(&header, message.bytes, sizeof header);
    assert_int_equal(header.magic, CSB_WIRE_MAGIC);
    assert_int_equal(header.payload_bytes + sizeof header, message.count);
    assert_int_equal(header.uid, 60700);
    assert_int_equal(header.notify, 1);
    assert_int_equal(header.skipped, 0x5);
    assert_int_equal(header.filter_length, policy->narrow_filter.length);
    assert_int_equal(header.rlimit_count, 2);
    assert_int_equal(header.path_count, 2);
    assert_int_equal(header.zygote, 0);
    assert_int_equal(header.preload_count, 0);

    at = message.bytes + sizeof header;
    end = message.bytes + message.count;
    assert_memory_equal(at, policy->narrow_filter.code,
                        header.filter_length * sizeof(struct sock_filter));
    at += header.filter_length * sizeof(struct sock_filter);
    assert_memory_equal(at, rlimits, sizeof rlimits);
    at += sizeof rlimits;
    assert_string_equal(next_string(&at, end), "compute");
    assert_string_equal(next_string(&at, end), "/lib/python");
    assert_string_equal(next_string(&at, end), "/lib/python/dyn");
    assert_ptr_equal(at, end);
    csb_message_done(&message);
}

static void
test_a_zygote_is_told_what_to_import(void **state)
{
    struct csb_policy *policy = *state;
    struct csb_strings preload = {0};
    struct csb_message message = {0};
    struct csb_error error = {0};
    struct csb_wire_config header;
    const unsigned char *at;
    assert_int_equal(csb_strings_add(&preload, "numpy"), 0);
    assert_int_equal(csb_config_build_zygote(policy, &preload, &message, &error), 0);
    memcpy(&header, message.bytes, sizeof header);
    assert_int_equal(header.zygote, 1);
    assert_int_equal(header.rlimit_count, 0);
    assert_int_equal(header.preload_count, 1);
    at = message.bytes + message.count - sizeof "numpy";
    assert_string_equal(next_string(&at, message.bytes + message.count), "numpy");
    csb_message_done(&message);
    csb_strings_done(&preload);
}

static void
test_a_submission_is_taken_apart_again(void **state)
{
    const struct csb_rlimit rlimits[] = {{2, 1 << 20}};
    struct csb_strings arguments = {0};
    struct csb_strings environment = {0};
    struct csb_message message = {0};
    struct csb_error error = {0};
    struct csb_wire_submission header;
    struct csb_submission submission = {.mode = CSB_MODE_CALLS,
                                        .file_name = "program.py",
                                        .arguments = &arguments,
                                        .environment = &environment,
                                        .rlimits = rlimits,
                                        .rlimit_count = 1,
                                        .source_bytes = 12345678};
    const unsigned char *at;
    const unsigned char *end;
    (void)state;
    assert_int_equal(csb_strings_add(&arguments, ""), 0);
    assert_int_equal(csb_strings_add(&arguments, "-x\n"), 0);
    assert_int_equal(csb_strings_add(&environment, "A=b"), 0);
    assert_int_equal(csb_submission_build(&submission, &message, &error), 0);

    memcpy(&header, message.bytes, sizeof header);
    assert_int_equal(header.magic, CSB_WIRE_MAGIC);
    assert_int_equal(header.mode, CSB_MODE_CALLS);
    assert_int_equal(header.payload_bytes + sizeof header, message.count);
    assert_int_equal(header.rlimit_count, 1);
    assert_int_equal(header.argument_count, 2);
    assert_int_equal(header.environment_count, 1);
    assert_int_equal(header.source_bytes, 12345678);
    at = message.bytes + sizeof header;
    end = message.bytes + message.count;
    assert_memory_equal(at, rlimits, sizeof rlimits);
    at += sizeof rlimits;
    assert_string_equal(next_string(&at, end), "program.py");
    assert_string_equal(next_string(&at, end), "");
    assert_string_equal(next_string(&at, end), "-x\n");
    assert_string_equal(next_string(&at, end), "A=b");
    assert_string_equal(next_string(&at, end), ""); /* no prelude */
    assert_ptr_equal(at, end);
    csb_message_done(&message);
    csb_strings_done(&arguments);
    csb_strings_done(&environment);
}

static void
test_a_message_that_is_too_long_is_an_error(void **state)
{
    const size_t size = (size_t)3 << 20;
    struct csb_strings arguments = {0};
    struct csb_message message = {0};
    struct csb_error error = {0};
    struct csb_submission submission = {.file_name = "p", .arguments = &arguments};
    char *large = malloc(size);
    (void)state;
    memset(large, 'a', size - 1);
    large[size - 1] = '\0';
    assert_int_equal(csb_strings_add(&arguments, large), 0);
    assert_int_equal(csb_submission_build(&submission, &message, &error), -E2BIG);
    assert_null(message.bytes);
    assert_int_equal(error.step, CSB_STEP_ARGUMENT);
    csb_strings_done(&arguments);
    free(large);
}

static uint32_t
kill_answer(const struct csb_bpf *program, uint64_t pid)
{
    struct seccomp_data call = {
        .nr = csb_seccomp_number("kill"), .arch = csb_seccomp_arch(), .args = {pid, 9}};
    return csb_bpf_run(program, &call);
}

/* child_setup.c does this with its own pid, and fails when there is no place for it. */
static void
test_the_pid_has_a_place_in_the_filter(void **state)
{
    struct csb_policy *policy = *state;
    const uint32_t pid = 4711;
    assert_int_equal(kill_answer(&policy->narrow_filter, pid), SECCOMP_RET_USER_NOTIF);
    assert_true(
        csb_bpf_patch_equal(&policy->narrow_filter, (uint32_t)CSB_OWN_PID, pid) > 0);
    assert_int_equal(kill_answer(&policy->narrow_filter, pid), SECCOMP_RET_ALLOW);
    assert_int_equal(kill_answer(&policy->narrow_filter, CSB_OWN_PID),
                     SECCOMP_RET_USER_NOTIF);
    assert_int_equal(
        csb_bpf_patch_equal(&policy->narrow_filter, (uint32_t)CSB_OWN_PID, pid), 0);
}

#define WITH_POLICY(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_POLICY(test_every_part_is_where_the_child_looks),
        WITH_POLICY(test_a_zygote_is_told_what_to_import),
        WITH_POLICY(test_a_submission_is_taken_apart_again),
        WITH_POLICY(test_a_message_that_is_too_long_is_an_error),
        WITH_POLICY(test_the_pid_has_a_place_in_the_filter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
