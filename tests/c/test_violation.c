/* Theory of operation: unit test of the words for denied calls: one row a call, and the
 * tables held against themselves and against the system call table. */
#include "violation.h"

#include "argument_names.h"
#include "syscalls.h"

#include <asm/ioctls.h>
#include <linux/futex.h>
#include <linux/prctl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cmocka.h>

enum { OWN = 4242 };

struct row {
    const char *call;
    uint64_t arguments[CSB_CALL_ARGUMENTS];
    const char *key;
    const char *text;
};

/* clang-format off */
static const struct row rows[] = {
    {"socket", {AF_INET, SOCK_STREAM}, "domain", "AF_INET"},
    {"socket", {AF_INET6}, "domain", "AF_INET6"},
    {"socket", {AF_INET | (UINT64_C(7) << 32)}, "domain", "AF_INET"},
    {"socket", {200}, "domain", "0xc8"},
    {"socketpair", {AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC}, "type", "SOCK_DGRAM"},
    {"socketpair", {AF_TIPC, SOCK_STREAM}, "domain", "AF_TIPC"},
    {"ioctl", {0, TIOCSTI}, "request", "TIOCSTI"},
    {"ioctl", {0, 0xFFFFFFFF00005412}, "request", "TIOCSTI"},
    {"ioctl", {0, 0xDEADBEEF}, "request", "0xdeadbeef"},
    {"prctl", {PR_SET_DUMPABLE, 1}, "option", "PR_SET_DUMPABLE"},
    {"prctl", {PR_SET_PDEATHSIG}, "option", "PR_SET_PDEATHSIG"},
    {"clone", {SIGCHLD | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID}, "flags", "new process"},
    {"clone", {CLONE_NEWUSER | CLONE_NEWNS | SIGCHLD}, "flags", "CLONE_NEWUSER|CLONE_NEWNS"},
    {"clone", {CLONE_VFORK | CLONE_VM | SIGCHLD}, "flags", "CLONE_VFORK|CLONE_VM"},
    {"clone", {UINT64_MAX}, "flags", "CLONE_NEWUSER|CLONE_NEWNS|CLONE_NEWPID|…"},
    {"unshare", {0}, "flags", "nothing"},
    {"kill", {OWN}, "target", "self"},
    {"kill", {1}, "target", "other"},
    {"kill", {0}, "target", "own group"},
    {"kill", {UINT32_MAX}, "target", "everybody"},
    {"kill", {(uint32_t)-77}, "target", "other group"},
    {"tgkill", {OWN + 1}, "target", "other"},
    {"tgkill", {0}, "target", "self"},
    {"prlimit64", {OWN}, "target", "self"},
    {"prlimit64", {OWN - 1}, "target", "other"},
    {"fcntl", {0, 8}, "command", "F_SETOWN"},
    {"futex", {0, FUTEX_LOCK_PI | FUTEX_PRIVATE_FLAG}, "operation", "FUTEX_LOCK_PI"},
    {"madvise", {0, 0, MADV_MERGEABLE}, "advice", "MADV_MERGEABLE"},
    {"mmap", {0, 1, 3, 0x122}, "flags", "MAP_GROWSDOWN"},
    {"mmap", {0, 1, 3, 0x40021}, "flags", "MAP_HUGETLB"},
    {"openat", {0, 0, 0x41}, "flags", "O_CREAT"},
    {"openat", {0, 0, 0x410000}, "flags", "O_TMPFILE"},
    {"clock_gettime", {(uint32_t)-100}, "clock", "other process"},
    {"clock_gettime", {99}, "clock", "machine"},
    {"sendto", {3, 0, 0, 0, 0x7FFF0000}, "address", "given"},
    {"getrusage", {UINT32_MAX}, "who", "RUSAGE_CHILDREN"},
    {"ptrace", {16}, "request", "PTRACE_ATTACH"},
    {"mount", {1, 2, 3}, NULL, ""},
    {"", {1, 2, 3}, NULL, ""},
};
/* clang-format on */

static void
test_each_call_in_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < CSB_ARRAY_LEN(rows); i++) {
        struct csb_wanted wanted;
        csb_wanted_of(rows[i].call, rows[i].arguments, OWN, &wanted);
        if (rows[i].key == NULL) {
            assert_null(wanted.key);
        } else {
            assert_string_equal(wanted.key, rows[i].key);
        }
        assert_string_equal(wanted.text, rows[i].text);
    }
}

static void
test_many_values_are_one_class(void **state)
{
    struct csb_wanted first;
    (void)state;
    csb_wanted_of("kill", (uint64_t[CSB_CALL_ARGUMENTS]){1}, OWN, &first);
    for (uint64_t pid = 2; pid < OWN; pid++) {
        struct csb_wanted next;
        csb_wanted_of("kill", (uint64_t[CSB_CALL_ARGUMENTS]){pid}, OWN, &next);
        assert_true(csb_wanted_same(&first, &next));
    }
}

static void
test_rows_are_sorted_and_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < csb_argument_row_count; i++) {
        const struct csb_argument_row *row = &csb_argument_rows[i];
        if (i > 0) {
            assert_true(strcmp(csb_argument_rows[i - 1].syscall, row->syscall) < 0);
        }
        assert_true(row->index < CSB_CALL_ARGUMENTS);
        assert_true(row->kind != CSB_ARGUMENT_FLAGS || row->none != NULL);
        assert_true((row->kind <= CSB_ARGUMENT_FLAGS) == (row->name_count > 0));
        for (size_t k = 0; k < row->name_count; k++) {
            assert_true(strlen(row->names[k].name) < CSB_WANTED_TEXT);
            for (size_t other = 0; other < k; other++) {
                assert_true(row->names[k].value != row->names[other].value);
            }
        }
    }
}

static const struct csb_argument_row *
row_of(const char *call)
{
    for (size_t i = 0; i < csb_argument_row_count; i++) {
        if (strcmp(csb_argument_rows[i].syscall, call) == 0) {
            return &csb_argument_rows[i];
        }
    }
    return NULL;
}

/* A call that is allowed for some values of an argument is told by that argument. sendmsg's
 * is the number of a descriptor. */
static void
test_every_checked_argument_has_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < csb_syscall_row_count; i++) {
        const struct csb_syscall_row *call = &csb_syscall_rows[i];
        const struct csb_argument_row *row = row_of(call->name);
        bool told = false;
        if (call->check_count == 0 || strcmp(call->name, "sendmsg") == 0) {
            continue;
        }
        assert_true(call->check_count <= CSB_CHECKS_MAX);
        for (unsigned k = 0; k < CSB_CHECKS_MAX && k < call->check_count && row != NULL;
             k++) {
            told = told || call->checks[k].index == row->index;
        }
        if (!told) {
            fail_msg("%s is checked by an argument without words", call->name);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_call_in_words),
        cmocka_unit_test(test_many_values_are_one_class),
        cmocka_unit_test(test_rows_are_sorted_and_whole),
        cmocka_unit_test(test_every_checked_argument_has_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
