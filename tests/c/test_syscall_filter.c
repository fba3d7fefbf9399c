/* Theory of operation: what the compiled filters answer, held with the simulator against
 * tables that were written by hand and know nothing of ext/syscalls.c: which numbers pass
 * with any argument, and for each checked call a value that passes and one that does not. */
#include "syscall_filter.h"

#include "syscalls.h"

#include <errno.h>
#include <linux/audit.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NUMBERS = 1024, PID = 4711 };

#define HIGH (UINT64_C(1) << 32)
#define ALLOW SECCOMP_RET_ALLOW
#define NOTIFY SECCOMP_RET_USER_NOTIF
#define KILL SECCOMP_RET_KILL_PROCESS
#define SAYS(err) (SECCOMP_RET_ERRNO | (err))
#define ALL_SETS (CSB_SET_BIT(CSB_SET_STARTUP) - 1)

static const char *const free_in_core =
    " brk close dup dup2 dup3 exit fstat getcpu getcwd getegid geteuid getgid"
    " getgroups getpgrp getpid getppid getrandom getresgid getresuid getrlimit gettid"
    " gettimeofday getuid lseek membarrier mincore mprotect mremap msync munmap"
    " nanosleep pause poll ppoll pread64 preadv preadv2 pselect6 pwrite64 pwritev"
    " pwritev2 read readv restart_syscall rseq rt_sigaction rt_sigpending rt_sigprocmask"
    " rt_sigreturn rt_sigsuspend rt_sigtimedwait sched_get_priority_max"
    " sched_get_priority_min sched_yield select set_robust_list sigaltstack sysinfo time"
    " times uname wait4 waitid write writev ";
static const char *const free_in_read_files =
    " access faccessat faccessat2 fadvise64 getdents64 lstat newfstatat"
    " readlink readlinkat stat statx ";
static const char *const free_in_write_files =
    " chdir copy_file_range fdatasync fsync ftruncate rmdir sendfile umask unlink unlinkat ";
static const char *const free_in_asyncio =
    " epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd2"
    " getpeername getsockname getsockopt pipe pipe2 shutdown ";
static const char *const free_in_timers = " alarm getitimer setitimer ";

/* With checks or an errno: each has rows in `probes`. */
static const char *const special =
    " chmod chown clock_getres clock_gettime clock_nanosleep clone clone3 close_range"
    " exit_group fallocate"
    " fchmod fchmodat fchmodat2 fchown fchownat fcntl futex get_mempolicy getpgid"
    " getrusage getsid ioctl kill lchown listxattr llistxattr lsetxattr madvise mbind mkdir"
    " mkdirat mmap open openat openat2 prctl prlimit64"
    " recvfrom rename renameat renameat2 sched_getaffinity sched_getparam sched_getscheduler sendmsg sendto"
    " setxattr socketpair tgkill utimensat ";

static bool
is_word(const char *words, const char *name)
{
    char padded[64];
    size_t length = strlen(name);
    if (length + 3 > sizeof padded) {
        return false;
    }
    padded[0] = padded[length + 1] = ' ';
    memcpy(padded + 1, name, length);
    padded[length + 2] = '\0';
    return strstr(words, padded) != NULL;
}

static bool
is_free(const char *name, uint32_t sets)
{
    return is_word(free_in_core, name) ||
           (sets & CSB_SET_BIT(CSB_SET_READ_FILES) &&
            is_word(free_in_read_files, name)) ||
           (sets & CSB_SET_BIT(CSB_SET_WRITE_FILES) &&
            is_word(free_in_write_files, name)) ||
           (sets & CSB_SET_BIT(CSB_SET_ASYNCIO) && is_word(free_in_asyncio, name)) ||
           (sets & CSB_SET_BIT(CSB_SET_TIMERS) && is_word(free_in_timers, name));
}

static struct csb_bpf
compiled(uint32_t sets, enum csb_filter_stage stage)
{
    struct csb_bpf program;
    struct csb_error error = {0};
    if (csb_seccomp_compile(sets, stage, &program, &error) != 0) {
        fail_msg("%s", error.message);
    }
    return program;
}

/* The child's pid put in, as config.c does. */
static struct csb_bpf
narrow(uint32_t sets, enum csb_filter_stage stage)
{
    struct csb_bpf program = compiled(sets, stage);
    unsigned places = csb_bpf_patch_equal(&program, (uint32_t)CSB_OWN_PID, PID);
    /* what is inherited by a branch must not name its original */
    assert_true(stage == CSB_FILTER_NARROW_BRANCH ? places == 0 : places > 0);
    return program;
}

static uint32_t
answer(const struct csb_bpf *program, int number, const uint64_t args[6])
{
    struct seccomp_data call = {.nr = number, .arch = csb_seccomp_arch()};
    memcpy(call.args, args, sizeof call.args);
    return csb_bpf_run(program, &call);
}

/* Every number that there could be: free ones pass with any argument, all that no table of
 * this test names are refused. */
static void
scan(uint32_t sets, enum csb_filter_stage stage, uint32_t refusal)
{
    static const uint64_t arguments[][6] = {
        {0, 0, 0, 0, 0, 0},
        {PID, 1, 2, 3, 4, 5},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}};
    struct csb_bpf program = narrow(sets, stage);
    for (int number = 0; number < NUMBERS; number++) {
        char *name = csb_seccomp_name(number);
        for (size_t k = 0; k < CSB_ARRAY_LEN(arguments); k++) {
            uint32_t got = answer(&program, number, arguments[k]);
            uint32_t wanted =
                name != NULL && is_free(name, sets) ? (uint32_t)ALLOW : refusal;
            if ((name == NULL || !is_word(special, name)) && got != wanted) {
                fail_msg("%s (%d), arguments %zu, sets 0x%x: 0x%x, wanted 0x%x",
                         name == NULL ? "no name" : name, number, k, sets, got, wanted);
            }
        }
        free(name);
    }
    csb_bpf_done(&program);
}

static void
test_what_is_in_no_table_is_refused(void **state)
{
    (void)state;
    for (unsigned set = 0; set < CSB_SET_STARTUP; set++) {
        uint32_t sets = CSB_SET_BIT(CSB_SET_CORE) | CSB_SET_BIT(set);
        scan(sets, CSB_FILTER_NARROW, NOTIFY);
        scan(sets, CSB_FILTER_NARROW_SILENT, SAYS(EPERM));
    }
    scan(ALL_SETS, CSB_FILTER_NARROW, NOTIFY);
    scan(ALL_SETS, CSB_FILTER_NARROW_SILENT, SAYS(EPERM));
    scan(ALL_SETS, CSB_FILTER_NARROW_BRANCH, NOTIFY);
    /* start-up is not a set that can be asked for */
    scan(CSB_SET_BIT(CSB_SET_CORE) | CSB_SET_BIT(CSB_SET_STARTUP), CSB_FILTER_NARROW,
         NOTIFY);
}

struct probe {
    const char *name;
    uint64_t args[6];
    uint32_t wanted; /* of the narrow filter with all sets */
};

#define NEVER_MAPPED 0x40100 /* MAP_GROWSDOWN, MAP_HUGETLB */
#define THREAD_BITS 0x50F00  /* VM FS FILES SIGHAND THREAD SYSVSEM */

/* clang-format off */
static const struct probe probes[] = {
    {"exit_group", {0}, NOTIFY}, {"exit_group", {1}, NOTIFY},
    {"clone3", {1, 88}, SAYS(ENOSYS)}, {"openat2", {0}, SAYS(ENOSYS)},
    {"mbind", {0}, SAYS(ENOSYS)}, {"get_mempolicy", {0}, SAYS(ENOSYS)},
    {"chmod", {1, 0777}, SAYS(0)}, {"fchmod", {1, 0777}, SAYS(0)}, {"fchmodat", {1, 2, 3}, SAYS(0)},
    {"chown", {1, 2, 3}, SAYS(0)}, {"fchown", {1, 2, 3}, SAYS(0)}, {"lchown", {1}, SAYS(0)},
    {"fchownat", {1}, SAYS(0)},
    {"setxattr", {1}, SAYS(ENOTSUP)}, {"lsetxattr", {1}, SAYS(ENOTSUP)}, {"fsetxattr", {1}, NOTIFY},
    /* watched: the supervisor sees a thread first, and a process is refused by it too */
    {"clone", {THREAD_BITS}, NOTIFY}, {"clone", {17}, NOTIFY}, {"clone", {0}, NOTIFY},
    {"clone", {THREAD_BITS | 0x10000000}, NOTIFY},
    {"kill", {PID, 9}, ALLOW}, {"kill", {PID + 1, 9}, NOTIFY}, {"kill", {0, 9}, NOTIFY},
    {"kill", {1, 0}, NOTIFY}, {"kill", {UINT64_MAX, 9}, NOTIFY}, {"kill", {0xFFFFFFFF, 9}, NOTIFY},
    {"kill", {PID | HIGH, 9}, NOTIFY}, {"kill", {CSB_OWN_PID, 9}, NOTIFY},
    {"kill", {UINT64_MAX - PID + 1, 9}, NOTIFY},
    {"tgkill", {PID, 1, 9}, ALLOW}, {"tgkill", {PID + 1, 1, 9}, NOTIFY}, {"tgkill", {CSB_OWN_PID}, NOTIFY},
    {"sched_getaffinity", {0}, ALLOW}, {"sched_getaffinity", {PID}, ALLOW}, {"sched_getaffinity", {1}, NOTIFY},
    {"sched_getparam", {0}, ALLOW}, {"sched_getparam", {PID}, NOTIFY},
    {"sched_getscheduler", {0}, ALLOW}, {"sched_getscheduler", {1}, NOTIFY},
    {"prlimit64", {0, 7, 0, 1}, ALLOW}, {"prlimit64", {1, 7, 0, 1}, NOTIFY},
    {"prlimit64", {PID, 7, 0, 1}, NOTIFY}, {"prlimit64", {HIGH, 7, 0, 1}, NOTIFY},
    {"getpgid", {0}, ALLOW}, {"getpgid", {1}, NOTIFY}, {"getsid", {0}, ALLOW}, {"getsid", {1}, NOTIFY},
    {"getrusage", {0}, ALLOW}, {"getrusage", {1}, ALLOW}, {"getrusage", {UINT64_MAX}, NOTIFY},
    {"getrusage", {0xFFFFFFFF}, NOTIFY}, {"getrusage", {HIGH}, NOTIFY},
    {"clock_gettime", {0}, ALLOW}, {"clock_gettime", {1}, ALLOW}, {"clock_gettime", {15}, ALLOW},
    {"clock_gettime", {16}, NOTIFY}, {"clock_gettime", {(uint64_t)-4242 * 8 + 6}, NOTIFY},
    {"clock_gettime", {0xFFFFFFFE}, NOTIFY}, {"clock_gettime", {HIGH}, NOTIFY},
    {"clock_getres", {1}, ALLOW}, {"clock_getres", {0xFFFFFFFA}, NOTIFY},
    {"clock_nanosleep", {1, 0, 1, 0}, ALLOW}, {"clock_nanosleep", {0xFFFFFFFA}, NOTIFY},
    {"fcntl", {1, 0}, ALLOW}, {"fcntl", {1, 1030}, ALLOW}, {"fcntl", {1, 1}, ALLOW}, {"fcntl", {1, 2, 1}, ALLOW},
    {"fcntl", {1, 3}, ALLOW}, {"fcntl", {1, 4, 0x800}, ALLOW}, {"fcntl", {1, 5}, NOTIFY},
    {"fcntl", {1, 6}, NOTIFY}, {"fcntl", {1, 7}, NOTIFY}, {"fcntl", {1, 8, 1}, NOTIFY}, {"fcntl", {1, 10}, NOTIFY},
    {"fcntl", {1, 15}, NOTIFY}, {"fcntl", {1, 1024}, NOTIFY}, {"fcntl", {1, 1026}, NOTIFY},
    {"fcntl", {1, 1031, 1 << 20}, NOTIFY}, {"fcntl", {1, 1033}, NOTIFY}, {"fcntl", {1, 3 | HIGH}, NOTIFY},
    {"ioctl", {0, 0x5401}, ALLOW}, {"ioctl", {0, 0x5413}, ALLOW}, {"ioctl", {0, 0x541B}, ALLOW},
    {"ioctl", {0, 0x5421}, ALLOW}, {"ioctl", {0, 0x5450}, ALLOW}, {"ioctl", {0, 0x5451}, ALLOW},
    {"ioctl", {0, 0x5412}, NOTIFY}, {"ioctl", {0, 0x5412 | HIGH}, NOTIFY}, {"ioctl", {0, 0x541C}, NOTIFY},
    {"ioctl", {0, 0x5402}, NOTIFY}, {"ioctl", {0, 0x540E}, NOTIFY}, {"ioctl", {0, 0x5452}, NOTIFY},
    {"ioctl", {0, 0x8901}, NOTIFY}, {"ioctl", {0, 0xC0502100}, NOTIFY}, {"ioctl", {0, 0x5401 | HIGH}, NOTIFY},
    {"futex", {1, 0}, ALLOW}, {"futex", {1, 0x80}, ALLOW}, {"futex", {1, 1}, ALLOW}, {"futex", {1, 0x81}, ALLOW},
    {"futex", {1, 0x189}, ALLOW}, {"futex", {1, 9}, ALLOW}, {"futex", {1, 10}, ALLOW}, {"futex", {1, 3}, ALLOW},
    {"futex", {1, 4}, ALLOW}, {"futex", {1, 5}, ALLOW}, {"futex", {1, 2}, NOTIFY}, {"futex", {1, 6}, NOTIFY},
    {"futex", {1, 0x86}, NOTIFY}, {"futex", {1, 7}, NOTIFY}, {"futex", {1, 8}, NOTIFY}, {"futex", {1, 11}, NOTIFY},
    {"futex", {1, 12}, NOTIFY}, {"futex", {1, 13}, NOTIFY}, {"futex", {1, HIGH}, NOTIFY},
    {"madvise", {0, 1, 4}, ALLOW}, {"madvise", {0, 1, 8}, ALLOW}, {"madvise", {0, 1, 14}, ALLOW},
    {"madvise", {0, 1, 15}, ALLOW}, {"madvise", {0, 1, 16}, ALLOW}, {"madvise", {0, 1, 9}, NOTIFY},
    {"madvise", {0, 1, 10}, NOTIFY}, {"madvise", {0, 1, 12}, NOTIFY}, {"madvise", {0, 1, 17}, NOTIFY},
    {"madvise", {0, 1, 18}, NOTIFY}, {"madvise", {0, 1, 21}, NOTIFY}, {"madvise", {0, 1, 100}, NOTIFY},
    {"madvise", {0, 1, 101}, NOTIFY}, {"madvise", {0, 1, 4 | HIGH}, NOTIFY},
    /* shared (1, also within 3 = MAP_SHARED_VALIDATE) and anonymous (0x20) together are watched */
    {"mmap", {0, 1, 3, 0x22}, ALLOW}, {"mmap", {0, 1, 3, 0x02}, ALLOW}, {"mmap", {0, 1, 3, 0x01}, ALLOW},
    {"mmap", {0, 1, 3, 0x21}, NOTIFY}, {"mmap", {0, 1, 3, 0x23}, NOTIFY}, {"mmap", {0, 1, 3, 0x8021}, NOTIFY},
    {"mmap", {0, 1, 3, 0x21 | HIGH}, NOTIFY}, {"mmap", {0, 1, 3, 0x4022}, ALLOW},
    /* MAP_GROWSDOWN 0x100, MAP_HUGETLB 0x40000 with a size above them */
    {"mmap", {0, 1, 3, 0x122}, NOTIFY}, {"mmap", {0, 1, 3, 0x102}, NOTIFY}, {"mmap", {0, 1, 3, 0x40022}, NOTIFY},
    {"mmap", {0, 1, 3, 0x40021}, NOTIFY}, {"mmap", {0, 1, 3, 0x7C040021}, NOTIFY}, {"mmap", {0, 1, 3, 0x101}, NOTIFY},
    /* O_CREAT 0100, O_TMPFILE 020000000 (and O_DIRECTORY 0200000): new files are counted */
    {"openat", {3, 1, 0}, ALLOW}, {"openat", {3, 1, 02200000}, ALLOW}, {"openat", {3, 1, 0101}, NOTIFY},
    {"openat", {3, 1, 020200002}, NOTIFY}, {"openat", {3, 1, 0102 | HIGH}, NOTIFY}, {"open", {1, 0}, ALLOW},
    {"open", {1, 0101}, NOTIFY}, {"open", {1, 020200002}, NOTIFY}, {"mkdir", {1, 0700}, NOTIFY},
    {"rename", {1, 2}, NOTIFY}, {"renameat", {3, 1, 3, 2}, NOTIFY}, {"renameat2", {3, 1, 3, 2, 2}, NOTIFY},
    {"fallocate", {3, 0, 0, 1}, NOTIFY}, {"fallocate", {3, 3, 0, 1}, NOTIFY},
    {"close_range", {3, 9, 0}, ALLOW}, {"close_range", {3, UINT32_MAX, 4}, ALLOW},
    {"close_range", {3, 9, 2}, NOTIFY}, {"close_range", {3, 9, 6}, NOTIFY},
    {"mkdirat", {3, 1, 0700}, NOTIFY}, {"utimensat", {3, 1, 0}, NOTIFY}, {"utimensat", {3, 1, 1}, NOTIFY},
    {"prctl", {15}, ALLOW}, {"prctl", {16}, ALLOW}, {"prctl", {1, 0}, NOTIFY}, {"prctl", {4, 1}, NOTIFY},
    {"prctl", {8}, NOTIFY}, {"prctl", {22}, NOTIFY}, {"prctl", {23}, NOTIFY}, {"prctl", {24}, NOTIFY},
    {"prctl", {35}, NOTIFY}, {"prctl", {36}, NOTIFY}, {"prctl", {38}, NOTIFY}, {"prctl", {47}, NOTIFY},
    {"prctl", {62}, NOTIFY}, {"prctl", {65}, NOTIFY}, {"prctl", {0x59616D61}, NOTIFY}, {"prctl", {15 | HIGH}, NOTIFY},
    {"socketpair", {1, 1}, ALLOW}, {"socketpair", {1, 1 | 02000000 | 04000}, ALLOW}, {"socketpair", {1, 2}, NOTIFY},
    {"socketpair", {1, 5}, NOTIFY}, {"socketpair", {1, 3}, NOTIFY}, {"socketpair", {2, 1}, NOTIFY},
    {"socketpair", {16, 1}, NOTIFY}, {"socketpair", {1 | HIGH, 1}, NOTIFY}, {"socketpair", {1, 1 | HIGH}, NOTIFY},
    {"sendto", {5, 1, 1, 0, 0, 0}, ALLOW}, {"sendto", {5, 1, 1, 0, 1, 16}, NOTIFY}, {"sendto", {5, 1, 1, 0, HIGH, 16}, NOTIFY},
    {"recvfrom", {5, 1, 1, 0, 0, 0}, ALLOW}, {"recvfrom", {5, 1, 1, 0, 1, 1}, NOTIFY},
    {"sendmsg", {3, 1}, ALLOW}, {"sendmsg", {4, 1}, NOTIFY}, {"sendmsg", {3 | HIGH, 1}, NOTIFY},
    {"socket", {1, 1}, NOTIFY}, {"socket", {2, 1}, NOTIFY}, {"socket", {10, 2}, NOTIFY}, {"socket", {16, 3}, NOTIFY},
};
/* clang-format on */

static void
test_arguments_decide(void **state)
{
    struct csb_bpf loud = narrow(ALL_SETS, CSB_FILTER_NARROW);
    struct csb_bpf silent = narrow(ALL_SETS, CSB_FILTER_NARROW_SILENT);
    (void)state;
    for (size_t i = 0; i < CSB_ARRAY_LEN(probes); i++) {
        const struct probe *probe = &probes[i];
        int number = csb_seccomp_number(probe->name);
        uint32_t got;
        if (number < 0) {
            continue;
        }
        got = answer(&loud, number, probe->args);
        if (got != probe->wanted) {
            fail_msg("%s(0x%llx, 0x%llx, 0x%llx …): 0x%x, wanted 0x%x", probe->name,
                     (unsigned long long)probe->args[0],
                     (unsigned long long)probe->args[1],
                     (unsigned long long)probe->args[2], got, probe->wanted);
        }
        got = answer(&silent, number, probe->args);
        if (probe->wanted != NOTIFY) {
            assert_int_equal(got, probe->wanted);
        } else if (got == ALLOW) {
            /* nobody watches: only the end, memory, files and a true thread pass */
            assert_true(
                strncmp(probe->name, "open", 4) == 0 ||
                strncmp(probe->name, "mkdir", 5) == 0 ||
                strncmp(probe->name, "rename", 6) == 0 ||
                strcmp(probe->name, "fallocate") == 0 ||
                strcmp(probe->name, "exit_group") == 0 ||
                (strcmp(probe->name, "mmap") == 0 &&
                 (probe->args[3] & (NEVER_MAPPED | 0x21)) == 0x21) ||
                (strcmp(probe->name, "clone") == 0 && probe->args[0] == THREAD_BITS));
        } else {
            assert_int_equal(got, SAYS(EPERM));
        }
    }
    csb_bpf_done(&loud);
    csb_bpf_done(&silent);
}

/* A process that may be branched: nothing passes that is not the same for all that inherit it. */
static void
test_filter_of_families_names_no_process(void **state)
{
    struct csb_bpf loud = narrow(ALL_SETS, CSB_FILTER_NARROW);
    struct csb_bpf shared = narrow(ALL_SETS, CSB_FILTER_NARROW_BRANCH);
    (void)state;
    for (size_t i = 0; i < CSB_ARRAY_LEN(probes); i++) {
        const struct probe *probe = &probes[i];
        const int number = csb_seccomp_number(probe->name);
        const bool own =
            (strcmp(probe->name, "kill") == 0 || strcmp(probe->name, "tgkill") == 0 ||
             strcmp(probe->name, "sched_getaffinity") == 0) &&
            probe->args[0] == PID;
        /* shared, of a file */
        const bool maps_file = strcmp(probe->name, "mmap") == 0 &&
                               (probe->args[3] & (NEVER_MAPPED | 0x21)) == 0x01;
        if (number >= 0) {
            assert_int_equal(answer(&shared, number, probe->args),
                             own || maps_file ? (uint32_t)NOTIFY
                                              : answer(&loud, number, probe->args));
        }
    }
    csb_bpf_done(&loud);
    csb_bpf_done(&shared);
}

/* Without a listener to count, the flags alone must keep clone to threads. */
static void
test_silent_filter_lets_clone_make_threads_only(void **state)
{
    struct csb_bpf silent = narrow(ALL_SETS, CSB_FILTER_NARROW_SILENT);
    int number = csb_seccomp_number("clone");
    (void)state;
    for (unsigned bit = 0; bit < 64; bit++) {
        const uint64_t harmless = 0x80000 | 0x100000 | 0x200000 | 0x1000000 | 0x400000;
        uint64_t flag = UINT64_C(1) << bit;
        uint32_t got = answer(&silent, number, (uint64_t[6]){THREAD_BITS ^ flag});
        assert_int_equal(got, flag & harmless ? ALLOW : SAYS(EPERM));
    }
    csb_bpf_done(&silent);
}

static void
check_entries(const struct csb_bpf *program)
{
#ifdef __x86_64__
    for (int number = 0; number < NUMBERS; number++) {
        const struct seccomp_data x32 = {.nr = number | 0x40000000,
                                         .arch = AUDIT_ARCH_X86_64};
        const struct seccomp_data i386 = {.nr = number, .arch = AUDIT_ARCH_I386};
        assert_int_equal(csb_bpf_run(program, &x32), KILL);
        assert_int_equal(csb_bpf_run(program, &i386), KILL);
    }
#endif
    for (unsigned bit = 0; bit < 32; bit++) {
        const struct seccomp_data foreign = {
            .nr = 0, .arch = csb_seccomp_arch() ^ UINT32_C(1) << bit};
        assert_int_equal(csb_bpf_run(program, &foreign), KILL);
    }
    assert_int_equal(csb_bpf_run(program, &(struct seccomp_data){.arch = 0}), KILL);
}

static void
test_other_entries_end_the_process(void **state)
{
    struct csb_bpf wide = compiled(0, CSB_FILTER_WIDE);
    struct csb_bpf loud = narrow(ALL_SETS, CSB_FILTER_NARROW);
    struct csb_bpf silent = narrow(ALL_SETS, CSB_FILTER_NARROW_SILENT);
    (void)state;
    check_entries(&wide);
    check_entries(&loud);
    check_entries(&silent);
    csb_bpf_done(&wide);
    csb_bpf_done(&loud);
    csb_bpf_done(&silent);
}

/* The wide filter is in force while our own code starts; what it does not list is ENOSYS
 * (TRACE without a tracer), which must rank below the narrow one's NOTIFY. */
static void
test_wide_filter(void **state)
{
    static const char *const passes[] = {"execve",    "prctl",     "seccomp", "capset",
                                         "setresuid", "setgroups", "openat",  "clone"};
    struct csb_bpf wide = compiled(0, CSB_FILTER_WIDE);
    const uint64_t none[6] = {0};
    (void)state;
    for (size_t i = 0; i < CSB_ARRAY_LEN(passes); i++) {
        assert_int_equal(answer(&wide, csb_seccomp_number(passes[i]), none), ALLOW);
    }
    assert_int_equal(answer(&wide, csb_seccomp_number("clone3"), none), SAYS(ENOSYS));
    for (size_t i = 0; i < csb_syscalls_never_count; i++) {
        int number = csb_seccomp_number(csb_syscalls_never[i]);
        if (number >= 0) {
            assert_int_equal(answer(&wide, number, none) & SECCOMP_RET_ACTION_FULL,
                             SECCOMP_RET_TRACE);
        }
    }
    /* a canary answer of the narrow filter must come from the narrow filter */
    assert_int_equal(answer(&wide, csb_seccomp_number("fchmod"), none), ALLOW);
    csb_bpf_done(&wide);
}

/* An arbitrary pid, each bit of it, and no neighbour. */
static void
test_every_pid_can_be_patched_in(void **state)
{
    int number = csb_seccomp_number("kill");
    (void)state;
    for (unsigned bit = 0; bit < 22; bit++) {
        struct csb_bpf program = compiled(ALL_SETS, CSB_FILTER_NARROW);
        uint32_t pid = UINT32_C(1) << bit;
        assert_true(csb_bpf_patch_equal(&program, (uint32_t)CSB_OWN_PID, pid) > 0);
        assert_int_equal(answer(&program, number, (uint64_t[6]){pid, 9}), ALLOW);
        assert_int_equal(answer(&program, number, (uint64_t[6]){pid + 1, 9}), NOTIFY);
        assert_int_equal(answer(&program, number, (uint64_t[6]){pid - 1, 9}), NOTIFY);
        assert_int_equal(answer(&program, number, (uint64_t[6]){CSB_OWN_PID, 9}),
                         NOTIFY);
        csb_bpf_done(&program);
    }
}

static void
test_names_and_numbers_agree(void **state)
{
    char *name = csb_seccomp_name(csb_seccomp_number("openat"));
    (void)state;
    assert_string_equal(name, "openat");
    free(name);
    assert_int_equal(csb_seccomp_number("no_such_call"), -1);
    assert_null(csb_seccomp_name(1023));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_in_no_table_is_refused),
        cmocka_unit_test(test_arguments_decide),
        cmocka_unit_test(test_filter_of_families_names_no_process),
        cmocka_unit_test(test_silent_filter_lets_clone_make_threads_only),
        cmocka_unit_test(test_other_entries_end_the_process),
        cmocka_unit_test(test_wide_filter),
        cmocka_unit_test(test_every_pid_can_be_patched_in),
        cmocka_unit_test(test_names_and_numbers_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
