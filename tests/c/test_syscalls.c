/* Theory of operation: the system call table as data. What a reviewer would check by eye:
 * sorted, a reason on each row, names that exist, nothing of the never-list. */
#include "syscalls.h"

#include "syscall_filter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static bool
is_listed(const char *name, const char *const *list)
{
    while (*list != NULL && strcmp(*list, name) != 0) {
        list++;
    }
    return *list != NULL;
}

static void
test_rows_are_sorted_and_no_two_are_the_same(void **state)
{
    (void)state;
    for (size_t i = 1; i < csb_syscall_row_count; i++) {
        const struct csb_syscall_row *row = &csb_syscall_rows[i];
        const struct csb_syscall_row *before = row - 1;
        if (strcmp(before->name, row->name) > 0) {
            fail_msg("%s stands before %s", before->name, row->name);
        }
        for (size_t j = 0; j < i; j++) {
            const struct csb_syscall_row *other = &csb_syscall_rows[j];
            if (strcmp(other->name, row->name) == 0 && other->sets == row->sets &&
                memcmp(other->checks, row->checks, sizeof row->checks) == 0) {
                fail_msg("two equal rows for %s", row->name);
            }
        }
    }
}

static void
test_every_row_says_why(void **state)
{
    (void)state;
    for (size_t i = 0; i < csb_syscall_row_count; i++) {
        const struct csb_syscall_row *row = &csb_syscall_rows[i];
        if (row->why == NULL || strlen(row->why) < 5) {
            fail_msg("%s has no reason", row->name);
        }
        assert_true(row->sets != 0);
        assert_true(row->sets < CSB_SET_BIT(CSB_SET_COUNT));
        assert_true(row->check_count <= CSB_CHECKS_MAX);
        assert_true(row->action != CSB_ACTION_ALLOW || row->err == 0);
    }
}

/* A bit of the value outside the mask could never match: a row that allows nothing. */
static void
test_every_check_can_be_met_and_looks_at_the_upper_half(void **state)
{
    (void)state;
    for (size_t i = 0; i < csb_syscall_row_count; i++) {
        const struct csb_syscall_row *row = &csb_syscall_rows[i];
        for (unsigned k = 0; k < row->check_count; k++) {
            const struct csb_argument_check *check = &row->checks[k];
            assert_true(check->index < 6);
            assert_int_equal(check->value & ~check->mask, 0);
            /* of these flags two bits decide; the kernel does not look at the upper half */
            if (strcmp(row->name, "mmap") != 0 && strcmp(row->name, "open") != 0 &&
                strcmp(row->name, "openat") != 0) {
                assert_int_equal(check->mask >> 32, UINT32_MAX);
            }
        }
    }
}

/* Names that this machine or its libseccomp (2.5.4 is the oldest supported) does not have. */
static const char *const may_be_unknown[] = {"fchmodat2", "futex_waitv", NULL};

static void
test_names_are_known(void **state)
{
    (void)state;
    for (size_t i = 0; i < csb_syscall_row_count; i++) {
        const char *name = csb_syscall_rows[i].name;
        if (csb_seccomp_number(name) < 0 && !is_listed(name, may_be_unknown)) {
#ifdef __x86_64__
            fail_msg("no system call is called %s", name);
#endif
        }
    }
}

static void
test_never_list_is_sorted_and_real(void **state)
{
    (void)state;
    for (size_t i = 0; i < csb_syscalls_never_count; i++) {
        if (i > 0 && strcmp(csb_syscalls_never[i - 1], csb_syscalls_never[i]) >= 0) {
            fail_msg("%s is out of order", csb_syscalls_never[i]);
        }
#ifdef __x86_64__
        if (csb_seccomp_number(csb_syscalls_never[i]) < 0) {
            fail_msg("no system call is called %s", csb_syscalls_never[i]);
        }
#endif
    }
}

static void
test_no_row_is_on_the_never_list(void **state)
{
    (void)state;
    for (size_t i = 0; i < csb_syscall_row_count; i++) {
        for (size_t j = 0; j < csb_syscalls_never_count; j++) {
            if (strcmp(csb_syscall_rows[i].name, csb_syscalls_never[j]) == 0) {
                fail_msg("%s is allowed by a row", csb_syscalls_never[j]);
            }
        }
    }
}

/* Written down a second time, by hand: families no one may drop from the table's own list.
 * setresuid and their like are start-up rows, so they are not in it. */
static const char *const families[] = {
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "process_mrelease",
    "kcmp",
    "pidfd_open",
    "pidfd_getfd",
    "pidfd_send_signal",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "io_setup",
    "userfaultfd",
    "bpf",
    "perf_event_open",
    "add_key",
    "request_key",
    "keyctl",
    "mount",
    "umount2",
    "pivot_root",
    "open_tree",
    "move_mount",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    "chroot",
    "setns",
    "unshare",
    "execveat",
    "memfd_create",
    "memfd_secret",
    "kexec_load",
    "kexec_file_load",
    "init_module",
    "finit_module",
    "delete_module",
    "shmget",
    "shmat",
    "msgget",
    "semget",
    "mq_open",
    "socket",
    "bind",
    "connect",
    "listen",
    "accept",
    "accept4",
    "fork",
    "vfork",
    "personality",
    "modify_ldt",
    "open_by_handle_at",
    "name_to_handle_at",
    "rt_sigqueueinfo",
    "rt_tgsigqueueinfo",
    "tkill",
    "sched_setaffinity",
    "setpriority",
    "setrlimit",
    "symlink",
    "symlinkat",
    "link",
    "linkat",
    "mknod",
    "mknodat",
    "setsid",
    "setpgid",
    "splice",
    "vmsplice",
    "tee",
    "reboot",
    "swapon",
    "acct",
    "syslog",
    "iopl",
    "ioperm",
    "fanotify_init",
    "inotify_init1",
    "timerfd_create",
    "signalfd4",
    "quotactl",
    "mlock",
    "mlockall",
    "landlock_add_rule",
    "adjtimex",
    "clock_adjtime",
    "clock_settime",
    "fanotify_mark",
    "inotify_add_watch",
    "inotify_rm_watch",
    "io_cancel",
    "io_destroy",
    "io_getevents",
    "io_pgetevents",
    "io_submit",
    "landlock_create_ruleset",
    "landlock_restrict_self",
    "mq_getsetattr",
    "mq_notify",
    "mq_timedreceive",
    "mq_timedsend",
    "mq_unlink",
    "msgctl",
    "msgrcv",
    "msgsnd",
    "pkey_free",
    "pkey_mprotect",
    "recvmmsg",
    "recvmsg",
    "semctl",
    "semop",
    "semtimedop",
    "sendmmsg",
    "setfsgid",
    "shmctl",
    "shmdt",
    "signalfd",
    "timer_create",
    "timerfd_settime",
};

static void
test_dangerous_families_are_on_the_never_list(void **state)
{
    (void)state;
    for (size_t i = 0; i < CSB_ARRAY_LEN(families); i++) {
        size_t at = 0;
        while (at < csb_syscalls_never_count &&
               strcmp(families[i], csb_syscalls_never[at]) != 0) {
            at++;
        }
        if (at == csb_syscalls_never_count) {
            fail_msg("%s is missing on the never-list", families[i]);
        }
    }
}

/* A reviewer has to agree to each name that only start-up may use: the list, by hand. */
static void
test_startup_rows_are_these(void **state)
{
    static const char *const expected[] = {
        "arch_prctl", "capget",    "capset",    "clone3",        "execve",
        "prctl",      "seccomp",   "setgroups", "set_mempolicy", "set_tid_address",
        "setresgid",  "setresuid", NULL};
    (void)state;
    for (size_t i = 0; i < csb_syscall_row_count; i++) {
        const struct csb_syscall_row *row = &csb_syscall_rows[i];
        if (row->sets & CSB_SET_BIT(CSB_SET_STARTUP) &&
            !is_listed(row->name, expected)) {
            fail_msg("%s is a new start-up row", row->name);
        }
    }
}

static void
test_sets_have_names_and_startup_has_no_public_one(void **state)
{
    (void)state;
    for (int set = 0; set < CSB_SET_STARTUP; set++) {
        const char *name = csb_syscall_set_name((enum csb_syscall_set)set);
        assert_int_equal(csb_syscall_set_lookup(name), set);
    }
    assert_int_equal(csb_syscall_set_lookup("startup"), CSB_SET_COUNT);
    assert_int_equal(csb_syscall_set_lookup(""), CSB_SET_COUNT);
    assert_string_equal(csb_syscall_set_name(CSB_SET_COUNT), "unknown");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_sorted_and_no_two_are_the_same),
        cmocka_unit_test(test_every_row_says_why),
        cmocka_unit_test(test_every_check_can_be_met_and_looks_at_the_upper_half),
        cmocka_unit_test(test_names_are_known),
        cmocka_unit_test(test_never_list_is_sorted_and_real),
        cmocka_unit_test(test_no_row_is_on_the_never_list),
        cmocka_unit_test(test_dangerous_families_are_on_the_never_list),
        cmocka_unit_test(test_startup_rows_are_these),
        cmocka_unit_test(test_sets_have_names_and_startup_has_no_public_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
