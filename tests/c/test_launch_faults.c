/* Theory of operation: fault injection over a whole run. The linker puts a wrapper around
 * each function that can fail; the n-th call of one of them fails, for n = 1, 2, … until a
 * run passes without meeting it. After each: a clean error or a run that was confined, no
 * descriptor, no child, no folder left, and never an unconfined submission.
 *
 * The wrapped syscall(2) is also the child's between clone and exec, whose memory is ours:
 * so each step of csb_confine_early fails once as well. */
#include "launch.h"

#include "clock.h"
#include "fault.h"
#include "fd.h"
#include "folder.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup */
/* link: -Wl,--wrap=open,--wrap=openat,--wrap=mkdir,--wrap=fstat,--wrap=fdopendir */
/* link: -Wl,--wrap=pipe2,--wrap=socketpair,--wrap=fcntl,--wrap=memfd_create,--wrap=pwrite */
/* link: -Wl,--wrap=clone,--wrap=mmap,--wrap=syscall,--wrap=send,--wrap=recv */
/* link: -Wl,--wrap=recvmsg,--wrap=read,--wrap=write,--wrap=pread,--wrap=poll,--wrap=ppoll */
/* link: -Wl,--wrap=sendmsg,--wrap=eventfd,--wrap=pthread_create */

enum { CALLS_MAX = 2000, RUN_S = 20 };

static struct {
    char *base;
    struct csb_policy policy;
} fixture;

static int
set_up(void **state)
{
    (void)state;
    return fault_policy_make(&fixture.policy, &fixture.base);
}

static int
tear_down(void **state)
{
    (void)state;
    fault_policy_done(&fixture.policy, fixture.base);
    return 0;
}

struct seen {
    int result;
    struct csb_error error;
    struct csb_outcome outcome;
    char output[256];
};

static void
launch(struct seen *ret)
{
    static const struct csb_limits limits = {.cpu_ns = 5 * CSB_NS_PER_S,
                                             .wall_ns = 5 * CSB_NS_PER_S,
                                             .startup_ns = 5 * CSB_NS_PER_S,
                                             .memory_bytes = UINT64_C(256) << 20,
                                             .output_bytes = 100000,
                                             .file_bytes = 1 << 20,
                                             .disk_bytes = 1 << 20,
                                             .files = 100,
                                             .open_files = 64,
                                             .threads = 2,
                                             .stack_bytes = 8 << 20};
    static const struct csb_strings none;
    static const struct csb_file file = {"folder/given",
                                         {(const unsigned char *)"x", 1}};
    const struct csb_bytes source = {(const unsigned char *)fault_program,
                                     strlen(fault_program)};
    const struct csb_request request = {
        .job = {.limits = &limits, .source = source, .cancel_fd = CSB_FD_NONE},
        .input = source,
        .file_name = "program.py",
        .arguments = &none,
        .environment = &none,
        .files = &file,
        .file_count = 1};
    struct csb_report report;
    memset(ret, 0, sizeof *ret);
    ret->result = csb_launch(&fixture.policy, &request, &report, &ret->error);
    (void)fault_clear();
    if (ret->result == 0 && csb_capture_kept(&report.output) < sizeof ret->output) {
        csb_capture_copy(&report.output, (unsigned char *)ret->output);
        ret->outcome = csb_classify(&report.facts, &limits);
    }
    csb_report_done(&report);
}

/* When the clean-up itself fails: it must not guess which folder it is, so that stays. */
static void
forgive_clean_up(const char *target)
{
    if (strcmp(target, "fstat") == 0 || strcmp(target, "fdopendir") == 0 ||
        strcmp(target, "fcntl") == 0 || strcmp(target, "malloc") == 0) {
        folder_empty(fixture.base);
    } else if (strcmp(target, "syscall") == 0) {
        /* waitid(2) itself failed, which is how a host that ignores SIGCHLD looks */
        while (waitpid(-1, NULL, WNOHANG) > 0) {
        }
    }
}

static void
check(const struct seen *seen, const char *target, int descriptors)
{
    if (strstr(seen->output, "UNCONFINED") != NULL) {
        fail_msg("%s: unconfined: %s", target, seen->output);
    }
    if (seen->result < 0) {
        assert_true(seen->error.err > 0 && seen->error.message[0] != '\0');
        assert_true(seen->error.step != CSB_STEP_NONE);
    } else if (seen->outcome.verdict == CSB_ACCEPTED) {
        assert_true(seen->output[0] == '\0' ||
                    strstr(seen->output, "refused refused refused\n"));
    }
    if (seen->result == 0) {
        forgive_clean_up(target);
    }
    if (!fault_nothing_left(fixture.base, descriptors)) {
        fail_msg(
            "%s: left: %d entries in the scratch base, %d descriptors instead of %d",
            target, folder_count(fixture.base), folder_count("/proc/self/fd"),
            descriptors);
    }
}

static void
test_without_a_fault_the_program_is_confined(void **state)
{
    struct seen seen;
    int descriptors = folder_count("/proc/self/fd");
    (void)state;
    launch(&seen);
    if (seen.result != 0) {
        fail_msg("%s: %s", csb_step_name(seen.error.step), seen.error.message);
    }
    assert_int_equal(seen.outcome.verdict, CSB_ACCEPTED);
    assert_string_equal(seen.output, "refused refused refused\n");
    check(&seen, "nothing", descriptors);
}

/* Returns how many calls there were to fail. */
static unsigned long
fail_each_call(const char *target, int err)
{
    int descriptors = folder_count("/proc/self/fd");
    for (unsigned long n = 1; n < CALLS_MAX; n++) {
        struct seen seen;
        fault_set(target, n, err);
        (void)alarm(RUN_S); /* a run that does not return is a failure */
        launch(&seen);
        (void)alarm(0);
        if (fault.seen < n) {
            assert_int_equal(seen.result, 0);
            return n - 1;
        }
        if (getenv("CSB_SHOW_FAULTS") != NULL) {
            print_message("%s %lu: %d %s, %s\n", target, n, seen.result,
                          seen.error.message, csb_verdict_name(seen.outcome.verdict));
        }
        check(&seen, target, descriptors);
    }
    fail_msg("%s: no end", target);
    return 0;
}

static void
test_each_call_fails_once(void **state)
{
    unsigned long all = 0;
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    /* The sanitizer's own calls would be hit too, and some 300 runs take minutes. */
    print_message("SKIPPED: fault injection runs without AddressSanitizer\n");
    skip();
#endif
    for (size_t i = 0; i < fault_target_count; i++) {
        unsigned long count = fail_each_call(fault_targets[i], ENOMEM);
        all += count;
    }
    assert_true(all > 100); /* the wrappers are in place */
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_a_fault_the_program_is_confined),
        cmocka_unit_test(test_each_call_fails_once),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
