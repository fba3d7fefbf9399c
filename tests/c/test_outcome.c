/* Theory of operation: unit test of the verdict: one row a way of ending. The limits of all
 * rows are one second of CPU, three of wall time, 100 MB. */
#include "outcome.h"

#include "clock.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define MB UINT64_C(1000000)

static const struct csb_limits limits = {
    .cpu_ns = CSB_NS_PER_S, .wall_ns = 3 * CSB_NS_PER_S, .memory_bytes = 100 * MB};

#define EXITED(code) .begun = true, .exit_known = true, .exit_code = (code)
#define KILLED(number)                                                                 \
    .begun = true, .exit_known = true, .exit_code = -1, .signal = (number)
#define OVER_CPU .cpu_ns = CSB_NS_PER_S + 1
#define OVER_WALL .wall_ns = 3 * CSB_NS_PER_S + 1

struct row {
    const char *what;
    struct csb_facts facts;
    enum csb_verdict verdict;
    enum csb_limit_hit hit;
};

/* clang-format off */
static const struct row rows[] = {
    {"exit 0", {EXITED(0)}, CSB_ACCEPTED, CSB_HIT_NONE},
    {"exit 0 at exactly the limits", {EXITED(0), .cpu_ns = CSB_NS_PER_S, .wall_ns = 3 * CSB_NS_PER_S}, CSB_ACCEPTED, CSB_HIT_NONE},
    {"exit 1", {EXITED(1)}, CSB_RUNTIME_ERROR, CSB_HIT_NONE},
    {"exit 255", {EXITED(255)}, CSB_RUNTIME_ERROR, CSB_HIT_NONE},
    {"no compile", {EXITED(1), .end = CSB_END_COMPILE_ERROR}, CSB_COMPILE_ERROR, CSB_HIT_NONE},
    {"the parser gave up", {.exit_known = true, .exit_code = 1, .end = CSB_END_MEMORY_ERROR, .memory_bytes = 20 * MB}, CSB_COMPILE_ERROR, CSB_HIT_NONE},
    {"no memory to compile", {.exit_known = true, .exit_code = 1, .end = CSB_END_MEMORY_ERROR, .memory_bytes = 90 * MB}, CSB_MEMORY_LIMIT, CSB_HIT_MEMORY},
    {"our code failed before the program began", {.exit_known = true, .exit_code = 127}, CSB_INTERNAL_ERROR, CSB_HIT_NONE},
    {"a program that exits with 127", {EXITED(127)}, CSB_RUNTIME_ERROR, CSB_HIT_NONE},
    {"refused by the second opinion", {KILLED(SIGKILL), .stop = CSB_STOP_REFUSED}, CSB_REJECTED, CSB_HIT_NONE},
    {"too much disk space", {KILLED(SIGKILL), .stop = CSB_STOP_DISK}, CSB_OUTPUT_LIMIT, CSB_HIT_DISK},
    {"ended by itself with too much on the disk", {EXITED(0), .stop = CSB_STOP_DISK}, CSB_OUTPUT_LIMIT, CSB_HIT_DISK},
    {"failed for a refused fallocate", {EXITED(1), .disk_denied = 1}, CSB_RUNTIME_ERROR, CSB_HIT_DISK},
    {"coped with a refused fallocate", {EXITED(0), .disk_denied = 1}, CSB_ACCEPTED, CSB_HIT_NONE},
    {"too many files, and failed", {EXITED(1), .files_denied = 1}, CSB_RUNTIME_ERROR, CSB_HIT_FILES},
    {"a forged word about a crash", {KILLED(SIGSEGV), .end = CSB_END_COMPILE_ERROR}, CSB_RUNTIME_ERROR, CSB_HIT_NONE},
    {"SIGXCPU from itself", {KILLED(SIGXCPU)}, CSB_RUNTIME_ERROR, CSB_HIT_NONE},
    {"uncaught MemoryError", {EXITED(1), .end = CSB_END_MEMORY_ERROR}, CSB_MEMORY_LIMIT, CSB_HIT_MEMORY},
    {"crash", {KILLED(SIGSEGV)}, CSB_RUNTIME_ERROR, CSB_HIT_NONE},
    {"crash with full memory", {KILLED(SIGSEGV), .memory_bytes = 90 * MB}, CSB_MEMORY_LIMIT, CSB_HIT_MEMORY},
    {"crash with less memory", {KILLED(SIGSEGV), .memory_bytes = 89 * MB}, CSB_RUNTIME_ERROR, CSB_HIT_NONE},
    {"abort with full memory", {KILLED(SIGABRT), .memory_bytes = 99 * MB}, CSB_MEMORY_LIMIT, CSB_HIT_MEMORY},
    {"SIGBUS with full memory", {KILLED(SIGBUS), .memory_bytes = 99 * MB}, CSB_MEMORY_LIMIT, CSB_HIT_MEMORY},
    {"SIGTERM with full memory is no crash", {KILLED(SIGTERM), .memory_bytes = 99 * MB}, CSB_RUNTIME_ERROR, CSB_HIT_NONE},
    {"stopped for CPU", {KILLED(SIGKILL), .stop = CSB_STOP_CPU}, CSB_TIME_LIMIT, CSB_HIT_CPU},
    {"the kernel's own CPU limit", {KILLED(SIGKILL), OVER_CPU}, CSB_TIME_LIMIT, CSB_HIT_CPU},
    {"ended by itself after its CPU time", {EXITED(0), OVER_CPU}, CSB_TIME_LIMIT, CSB_HIT_CPU},
    {"failed by itself after its CPU time", {EXITED(1), OVER_CPU}, CSB_TIME_LIMIT, CSB_HIT_CPU},
    {"crashed after its CPU time", {KILLED(SIGSEGV), OVER_CPU}, CSB_TIME_LIMIT, CSB_HIT_CPU},
    {"stopped for wall time", {KILLED(SIGKILL), .stop = CSB_STOP_WALL}, CSB_TIME_LIMIT, CSB_HIT_WALL},
    {"ended by itself after its wall time", {EXITED(0), OVER_WALL}, CSB_TIME_LIMIT, CSB_HIT_WALL},
    {"CPU before wall", {EXITED(0), OVER_CPU, OVER_WALL}, CSB_TIME_LIMIT, CSB_HIT_CPU},
    {"stopped for memory", {KILLED(SIGKILL), .stop = CSB_STOP_MEMORY}, CSB_MEMORY_LIMIT, CSB_HIT_MEMORY},
    {"stopped for output", {KILLED(SIGKILL), .stop = CSB_STOP_OUTPUT}, CSB_OUTPUT_LIMIT, CSB_HIT_OUTPUT},
    {"ended by itself after too much output", {EXITED(0), .output_over = true}, CSB_OUTPUT_LIMIT, CSB_HIT_OUTPUT},
    {"output before CPU", {EXITED(0), .output_over = true, OVER_CPU}, CSB_OUTPUT_LIMIT, CSB_HIT_OUTPUT},
    {"x32 or i386 entry", {KILLED(SIGSYS)}, CSB_SECURITY_VIOLATION, CSB_HIT_NONE},
    {"kill on a denial", {KILLED(SIGKILL), .stop = CSB_STOP_VIOLATION}, CSB_SECURITY_VIOLATION, CSB_HIT_NONE},
    {"a violation is not hidden by output", {KILLED(SIGSYS), .output_over = true}, CSB_SECURITY_VIOLATION, CSB_HIT_NONE},
    {"too many threads, and failed", {EXITED(1), .threads_denied = 1}, CSB_RUNTIME_ERROR, CSB_HIT_PROCESSES},
    {"too many threads, and coped", {EXITED(0), .threads_denied = 1}, CSB_ACCEPTED, CSB_HIT_NONE},
    {"killed from elsewhere", {KILLED(SIGKILL)}, CSB_RUNTIME_ERROR, CSB_HIT_NONE},
    {"nobody knows", {.exit_known = false, .exit_code = -1}, CSB_INTERNAL_ERROR, CSB_HIT_NONE},
    {"the caller was interrupted", {KILLED(SIGKILL), .stop = CSB_STOP_INTERRUPT}, CSB_INTERNAL_ERROR, CSB_HIT_NONE},
    {"a forged word about a success", {EXITED(0), .end = CSB_END_COMPILE_ERROR}, CSB_ACCEPTED, CSB_HIT_NONE},
    {"a forged word about CPU time", {EXITED(1), OVER_CPU, .end = CSB_END_MEMORY_ERROR}, CSB_TIME_LIMIT, CSB_HIT_CPU},
    {"a forged word about an unknown end", {.exit_code = -1, .end = CSB_END_COMPILE_ERROR}, CSB_INTERNAL_ERROR, CSB_HIT_NONE},
};
/* clang-format on */

static void
test_each_way_of_ending(void **state)
{
    (void)state;
    for (size_t i = 0; i < CSB_ARRAY_LEN(rows); i++) {
        struct csb_outcome outcome = csb_classify(&rows[i].facts, &limits);
        if (outcome.verdict != rows[i].verdict || outcome.limit_hit != rows[i].hit) {
            fail_msg("%s: got %s", rows[i].what, csb_verdict_name(outcome.verdict));
        }
    }
}

/* Whatever the child says, it can not make a failure a success or a limit something else. */
static void
test_the_childs_word_chooses_between_failures_only(void **state)
{
    (void)state;
    for (size_t i = 0; i < CSB_ARRAY_LEN(rows); i++) {
        struct csb_facts facts = rows[i].facts;
        enum csb_verdict silent;
        facts.end = CSB_END_OTHER;
        silent = csb_classify(&facts, &limits).verdict;
        for (int end = CSB_END_OTHER; end <= CSB_END_MEMORY_ERROR; end++) {
            enum csb_verdict verdict;
            bool failure;
            facts.end = (enum csb_wire_end)end;
            verdict = csb_classify(&facts, &limits).verdict;
            failure = verdict == CSB_RUNTIME_ERROR || verdict == CSB_COMPILE_ERROR ||
                      verdict == CSB_MEMORY_LIMIT;
            /* a crash with full memory is the one limit that is a guess */
            if (silent == CSB_RUNTIME_ERROR ||
                (silent == CSB_MEMORY_LIMIT && facts.stop == CSB_STOP_NONE)) {
                assert_true(failure);
            } else {
                assert_int_equal(verdict, silent);
            }
        }
    }
}

static void
test_every_word_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (int i = 0; i < CSB_VERDICT_COUNT; i++) {
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(csb_verdict_name((enum csb_verdict)i),
                                    csb_verdict_name((enum csb_verdict)j));
        }
    }
    assert_null(csb_limit_hit_name(CSB_HIT_NONE));
    for (int i = CSB_HIT_NONE + 1; i < CSB_HIT_COUNT; i++) {
        assert_non_null(csb_limit_hit_name((enum csb_limit_hit)i));
    }
    assert_string_equal(csb_verdict_name(CSB_VERDICT_COUNT), "internal_error");
    assert_null(csb_limit_hit_name(CSB_HIT_COUNT));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_way_of_ending),
        cmocka_unit_test(test_the_childs_word_chooses_between_failures_only),
        cmocka_unit_test(test_every_word_has_a_name_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
