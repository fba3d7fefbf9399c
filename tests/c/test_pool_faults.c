/* Theory of operation: fault injection over the life of a pool: its start, spares and their
 * renewal, runs, a call, a session, the end. The n-th call of one function fails, in whichever
 * thread it is made, for n = 1, 2, … until a life passes without meeting it. After each: clean
 * errors or confined runs, and nothing left. All n take minutes: CSB_ALL_FAULTS=1 asks for them,
 * otherwise the first ones of each function and some of the others are tried. */
#include "pool.h"

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

enum { CALLS_MAX = 5000, LIFE_S = 60, RUNS = 2, FIRST = 3, STRIDE = 29 };

static struct {
    char *base;
    struct csb_policy policy;
} fixture;

static const struct csb_limits limits = {.cpu_ns = 5 * CSB_NS_PER_S,
                                         .wall_ns = 10 * CSB_NS_PER_S,
                                         .startup_ns = 10 * CSB_NS_PER_S,
                                         .memory_bytes = UINT64_C(256) << 20,
                                         .output_bytes = 100000,
                                         .file_bytes = 1 << 20,
                                         .disk_bytes = 1 << 20,
                                         .files = 100,
                                         .open_files = 64,
                                         .threads = 2,
                                         .stack_bytes = 8 << 20};

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

/* What went on in one life. */
struct life {
    unsigned errors;
    unsigned accepted;
    unsigned other;
    char wrong[400]; /* "" = nothing */
};

static void
look_at_error(struct life *life, int result, const struct csb_error *error)
{
    life->errors++;
    if (result >= 0 || error->err <= 0 || error->message[0] == '\0' ||
        error->step == CSB_STEP_NONE) {
        (void)snprintf(life->wrong, sizeof life->wrong, "no clean error: %d, %s",
                       result, error->message);
    }
}

static void
look_at_output(struct life *life, const struct csb_report *report)
{
    char output[256] = "";
    enum csb_verdict verdict = csb_classify(&report->facts, &limits).verdict;
    if (csb_capture_kept(&report->output) < sizeof output) {
        csb_capture_copy(&report->output, (unsigned char *)output);
    }
    life->accepted += verdict == CSB_ACCEPTED;
    life->other += verdict != CSB_ACCEPTED;
    if (strstr(output, "UNCONFINED") != NULL ||
        (verdict == CSB_ACCEPTED && output[0] != '\0' &&
         strstr(output, "refused refused refused\n") == NULL)) {
        (void)snprintf(life->wrong, sizeof life->wrong, "unconfined: %.256s", output);
    } else if (verdict != CSB_ACCEPTED && verdict != CSB_INTERNAL_ERROR) {
        (void)snprintf(life->wrong, sizeof life->wrong, "the program's fault: %s",
                       csb_verdict_name(verdict));
    }
}

static struct csb_request
request_of(enum csb_wire_mode mode, const struct csb_bytes *call)
{
    static const struct csb_strings none;
    static const struct csb_file file = {"folder/given",
                                         {(const unsigned char *)"x", 1}};
    const struct csb_bytes source = {(const unsigned char *)fault_program,
                                     strlen(fault_program)};
    return (struct csb_request){.job = {.limits = &limits,
                                        .source = source,
                                        .cancel_fd = CSB_FD_NONE,
                                        .mode = mode,
                                        .calls = call,
                                        .call_count = call == NULL ? 0 : 1,
                                        .call_kind = CSB_FRAME_CALL,
                                        .reply_bytes = 10000},
                                .input = source,
                                .file_name = "program.py",
                                .arguments = &none,
                                .environment = &none,
                                .prelude = "",
                                .files = &file,
                                .file_count = 1};
}

static void
run(struct csb_pool *pool, struct life *life, enum csb_wire_mode mode)
{
    static const struct csb_bytes call = {(const unsigned char *)"?", 1};
    const struct csb_request request =
        request_of(mode, mode == CSB_MODE_SCRIPT ? NULL : &call);
    struct csb_report report;
    struct csb_error error = {0};
    int result = csb_pool_run(pool, &request, &report, &error);
    if (result < 0) {
        look_at_error(life, result, &error);
    } else {
        look_at_output(life, &report);
    }
    csb_report_done(&report);
}

/* Open, one exchange, close. */
static void
converse(struct csb_pool *pool, struct life *life)
{
    static const struct csb_bytes call = {(const unsigned char *)"?", 1};
    struct csb_request request = request_of(CSB_MODE_SESSION, NULL);
    struct csb_report report;
    struct csb_error error = {0};
    struct csb_run *session;
    struct csb_kit kit;
    int result = csb_pool_open_session(pool, &request, &session, &kit, &report, &error);
    if (result < 0) {
        look_at_error(life, result, &error);
    } else if (session == NULL) {
        look_at_output(life, &report);
    }
    csb_report_done(&report);
    if (session != NULL) {
        struct csb_job job;
        request = request_of(CSB_MODE_SESSION, &call);
        job = csb_request_job(&request, &fixture.policy);
        if (!csb_run_exchange(session, &job, &report)) {
            life->other++;
        }
        look_at_output(life, &report);
        csb_report_done(&report);
    }
    csb_run_close(session);
    csb_kit_done(&kit, 0);
}

static void
live(struct life *ret)
{
    static const struct csb_strings none;
    const struct csb_pool_options options = {.workers = 1,
                                             .spares = 1,
                                             .preload = &none,
                                             .renew_runs = 3,
                                             .renew_ns = 60 * CSB_NS_PER_S,
                                             .startup_ns = 10 * CSB_NS_PER_S};
    struct csb_error error = {0};
    struct csb_pool *pool;
    int result = csb_pool_open(&fixture.policy, &options, &pool, &error);
    memset(ret, 0, sizeof *ret);
    if (result < 0) {
        look_at_error(ret, result, &error);
        return;
    }
    for (int i = 0; i < RUNS; i++) {
        run(pool, ret, CSB_MODE_SCRIPT);
    }
    run(pool, ret, CSB_MODE_CALLS);
    converse(pool, ret);
    csb_pool_close(pool, false);
}

/* What a clean-up that failed itself may leave: it must not guess which folder it is. */
static void
forgive_clean_up(const char *target)
{
    static const char *const removing[] = {"fstat", "fdopendir", "fcntl", "malloc",
                                           "openat"};
    for (size_t i = 0; i < CSB_ARRAY_LEN(removing); i++) {
        if (strcmp(target, removing[i]) == 0) {
            folder_empty(fixture.base);
        }
    }
    if (strcmp(target, "syscall") == 0) {
        /* waitid(2) itself failed, which is how a host that ignores SIGCHLD looks */
        while (waitpid(-1, NULL, WNOHANG) > 0) {
        }
    }
}

static void
check(const struct life *life, const char *target, unsigned long n, int descriptors)
{
    if (life->wrong[0] != '\0') {
        fail_msg("%s %lu: %s", target, n, life->wrong);
    }
    if (!fault_nothing_left(fixture.base, descriptors)) {
        forgive_clean_up(target);
        if (!fault_nothing_left(fixture.base, descriptors)) {
            fail_msg("%s %lu: left: %d entries in the scratch base, %d descriptors "
                     "instead of %d",
                     target, n, folder_count(fixture.base),
                     folder_count("/proc/self/fd"), descriptors);
        }
    }
}

static void
test_without_a_fault_all_is_accepted(void **state)
{
    struct life life;
    int descriptors = folder_count("/proc/self/fd");
    (void)state;
    live(&life);
    check(&life, "nothing", 0, descriptors);
    assert_int_equal(life.errors, 0);
    assert_int_equal(life.other, 0);
    assert_int_equal(life.accepted, RUNS + 2);
}

/* Returns how many faults there were. */
static unsigned long
fail_calls(const char *target, bool all)
{
    int descriptors = folder_count("/proc/self/fd");
    unsigned long tried = 0;
    const char *first = getenv("CSB_FIRST_FAULT");
    for (unsigned long n = first == NULL ? 1 : strtoul(first, NULL, 10); n < CALLS_MAX;
         n += all || n < FIRST ? 1 : STRIDE) {
        struct life life;
        unsigned long seen;
        fault_set(target, n, ENOMEM);
        (void)alarm(LIFE_S); /* what does not return is a failure */
        live(&life);
        (void)alarm(0);
        seen = fault_clear();
        if (getenv("CSB_SHOW_FAULTS") != NULL) {
            print_message("%s %lu of %lu: %u errors, %u accepted, %u other\n", target,
                          n, seen, life.errors, life.accepted, life.other);
        }
        check(&life, target, n, descriptors);
        if (seen < n) {
            return tried;
        }
        tried++;
    }
    fail_msg("%s: no end", target);
    return 0;
}

static void
test_each_call_fails_once(void **state)
{
    const bool all = getenv("CSB_ALL_FAULTS") != NULL;
    const char *only = getenv("CSB_ONLY_FAULT");
    unsigned long tried = 0;
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    print_message("SKIPPED: fault injection runs without AddressSanitizer\n");
    skip();
#endif
    for (size_t i = 0; i < fault_target_count; i++) {
        if (only == NULL || strcmp(only, fault_targets[i]) == 0) {
            tried += fail_calls(fault_targets[i], all);
        }
    }
    print_message("%lu faults\n", tried);
    assert_true(only != NULL || tried > 50); /* the wrappers are in place */
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_a_fault_all_is_accepted),
        cmocka_unit_test(test_each_call_fails_once),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
