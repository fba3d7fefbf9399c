/* Theory of operation: sessions and branches of real children, in control groups of a folder that
 * only looks like one: mkdirat(2) puts the kernel's files into what is made there, unlinkat(2)
 * takes them out. Where a real one is delegated, tests/kernel/test_cgroup.py asks the kernel. */
#include "branch.h"

#include "clock.h"
#include "fault.h"
#include "fd.h"
#include "folder.h"
#include "launch.h"
#include "pool.h"
#include "raw.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* link: -Wl,--wrap=mkdirat,--wrap=unlinkat */
/* and what fault.c wraps: */
/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup */
/* link: -Wl,--wrap=open,--wrap=openat,--wrap=mkdir,--wrap=fstat,--wrap=fdopendir */
/* link: -Wl,--wrap=pipe2,--wrap=socketpair,--wrap=fcntl,--wrap=memfd_create,--wrap=pwrite */
/* link: -Wl,--wrap=clone,--wrap=mmap,--wrap=syscall,--wrap=send,--wrap=recv */
/* link: -Wl,--wrap=recvmsg,--wrap=read,--wrap=write,--wrap=pread,--wrap=poll,--wrap=ppoll */
/* link: -Wl,--wrap=sendmsg,--wrap=eventfd,--wrap=pthread_create */

enum { PATH_BYTES = 512, TEXT_BYTES = 64, MIB = 1 << 20, THREADS = 3 };

/* How a group that is made now behaves. */
enum behaviour {
    GOOD,
    TAKES_NOBODY, /* a write to cgroup.procs fails */
    LISTS_NOBODY, /* it is written, and nobody is there */
    CAN_NOT_BE_MADE
};

static struct {
    char *base;
    char *groups;
    struct csb_policy policy;
    struct csb_pool *pool;
    enum behaviour behaviour;
} fixture;

static const struct csb_limits limits = {.cpu_ns = 5 * CSB_NS_PER_S,
                                         .wall_ns = 30 * CSB_NS_PER_S,
                                         .startup_ns = 30 * CSB_NS_PER_S,
                                         .memory_bytes = UINT64_C(256) * MIB,
                                         .output_bytes = 100000,
                                         .file_bytes = MIB,
                                         .disk_bytes = MIB,
                                         .files = 100,
                                         .open_files = 64,
                                         .threads = THREADS,
                                         .stack_bytes = UINT64_C(8) * MIB};

static const char *const files[] = {"cgroup.procs", "memory.max", "memory.swap.max",
                                    "pids.max", "cgroup.kill"};

int __real_mkdirat(int folder, const char *name, mode_t mode);
int __wrap_mkdirat(int folder, const char *name, mode_t mode);
int __real_unlinkat(int folder, const char *name, int flags);
int __wrap_unlinkat(int folder, const char *name, int flags);

static bool
is_group(int folder, const char *name, char *path)
{
    struct stat one;
    struct stat other;
    (void)snprintf(path, PATH_BYTES, "%s/%s", fixture.groups, name);
    return fixture.groups != NULL && fstat(folder, &one) == 0 &&
           stat(fixture.groups, &other) == 0 && one.st_ino == other.st_ino &&
           one.st_dev == other.st_dev;
}

int
__wrap_mkdirat(int folder, const char *name, mode_t mode)
{
    char path[PATH_BYTES];
    char inner[PATH_BYTES + TEXT_BYTES];
    if (!is_group(folder, name, path)) {
        return __real_mkdirat(folder, name, mode);
    }
    if (fixture.behaviour == CAN_NOT_BE_MADE) {
        errno = EAGAIN; /* as with cgroup.max.descendants */
        return -1;
    }
    if (__real_mkdirat(folder, name, mode) != 0) {
        return -1;
    }
    for (size_t i = 0; i < CSB_ARRAY_LEN(files); i++) {
        write_file(below(path, files[i], inner, sizeof inner), "");
    }
    (void)below(path, files[0], inner, sizeof inner);
    if (fixture.behaviour != GOOD) {
        const char *device =
            fixture.behaviour == TAKES_NOBODY ? "/dev/full" : "/dev/null";
        assert_int_equal(unlink(inner), 0);
        assert_int_equal(symlink(device, inner), 0);
    }
    return 0;
}

int
__wrap_unlinkat(int folder, const char *name, int flags)
{
    char path[PATH_BYTES];
    char inner[PATH_BYTES + TEXT_BYTES];
    if (flags == AT_REMOVEDIR && is_group(folder, name, path)) {
        for (size_t i = 0; i < CSB_ARRAY_LEN(files); i++) {
            (void)unlink(below(path, files[i], inner, sizeof inner));
        }
    }
    return __real_unlinkat(folder, name, flags);
}

static int
set_up(void **state)
{
    static const struct csb_strings none;
    const struct csb_pool_options options = {.workers = 1,
                                             .spares = 1,
                                             .preload = &none,
                                             .renew_runs = 1000,
                                             .renew_ns = 600 * CSB_NS_PER_S,
                                             .startup_ns = 30 * CSB_NS_PER_S};
    struct csb_error error = {0};
    (void)state;
    fixture.behaviour = GOOD;
    if (fault_policy_make(&fixture.policy, &fixture.base) < 0) {
        return -1;
    }
    fixture.groups = folder_make();
    fixture.policy.cgroup.fd =
        csb_fd_raise(open(fixture.groups, O_DIRECTORY | O_CLOEXEC));
    assert_true(fixture.policy.cgroup.fd >= 0);
    return csb_pool_open(&fixture.policy, &options, &fixture.pool, &error);
}

static int
tear_down(void **state)
{
    char *groups = fixture.groups;
    (void)state;
    csb_pool_close(fixture.pool, false);
    fault_policy_done(&fixture.policy, fixture.base);
    fixture.groups = NULL;
    folder_remove(groups);
    return 0;
}

/* A session or a branch. */
struct one {
    struct csb_run *run;
    struct csb_kit kit;
};

static struct csb_request
request_of(const struct csb_bytes *call)
{
    static const struct csb_strings none;
    static const char source[] = "def answer(call): return call\n";
    return (struct csb_request){
        .job = {.limits = &limits,
                .source = {(const unsigned char *)source, sizeof source - 1},
                .cancel_fd = CSB_FD_NONE,
                .mode = CSB_MODE_SESSION,
                .calls = call,
                .call_count = call == NULL ? 0 : 1,
                .call_kind = CSB_FRAME_CALL,
                .reply_bytes = 10000},
        .file_name = "program.py",
        .arguments = &none,
        .environment = &none,
        .prelude = ""};
}

static void
begin(struct one *ret)
{
    const struct csb_request request = request_of(NULL);
    struct csb_report report;
    struct csb_error error = {0};
    int result = csb_pool_open_session(fixture.pool, &request, &ret->run, &ret->kit,
                                       &report, &error);
    csb_report_done(&report);
    if (result < 0 || ret->run == NULL) {
        fail_msg("no session: %s", error.message);
    }
}

/* Whether it lives, and in *ret_confirmed what is known to be enforced. */
static bool
ask(struct one *one, uint32_t *ret_confirmed)
{
    static const struct csb_bytes call = {(const unsigned char *)"?", 1};
    const struct csb_request request = request_of(&call);
    struct csb_job job = csb_request_job(&request, &fixture.policy);
    struct csb_error error = {0};
    struct csb_report report;
    bool lives;
    assert_int_equal(csb_family_enter(one->kit.member, NULL, NULL, &error), 0);
    lives = csb_run_exchange(one->run, &job, &report);
    csb_family_exit(one->kit.member);
    *ret_confirmed = report.confirmed;
    csb_report_done(&report);
    return lives;
}

static int
branch(struct one *of, struct one *ret, struct csb_error *reterr)
{
    bool lives;
    int result;
    csb_kit_init(&ret->kit);
    assert_int_equal(csb_family_enter(of->kit.member, NULL, NULL, reterr), 0);
    result = csb_branch(of->run, &of->kit, &fixture.policy, &limits, &ret->run,
                        &ret->kit, &lives, reterr);
    csb_family_exit(of->kit.member);
    assert_true(lives);
    return result;
}

static void
end(struct one *one)
{
    csb_run_close(one->run);
    csb_kit_done(&one->kit, 0);
}

static const char *
said(const struct one *one, const char *file, char *text)
{
    int fd = openat(one->kit.leaf.fd, file, O_RDONLY | O_CLOEXEC);
    ssize_t length = read(fd, text, TEXT_BYTES - 1);
    csb_fd_close(&fd);
    text[length < 0 ? 0 : length] = '\0';
    return text;
}

static const uint32_t group_bit = CSB_FEATURE_BIT(CSB_FEATURE_CGROUP);

static void
assert_own_group(struct one *one)
{
    char text[TEXT_BYTES];
    char wanted[TEXT_BYTES];
    uint32_t confirmed;
    (void)snprintf(wanted, sizeof wanted, "%d", (int)csb_run_pid(one->run));
    assert_string_equal(said(one, "cgroup.procs", text), wanted);
    (void)snprintf(wanted, sizeof wanted, "%llu",
                   (unsigned long long)csb_leaf_memory_max(limits.memory_bytes,
                                                           limits.disk_bytes));
    assert_string_equal(said(one, "memory.max", text), wanted);
    assert_string_equal(said(one, "memory.swap.max", text), "0");
    /* one more: a branch is born in the group of its original */
    (void)snprintf(wanted, sizeof wanted, "%d", THREADS + 1);
    assert_string_equal(said(one, "pids.max", text), wanted);
    assert_true(ask(one, &confirmed));
    assert_int_equal(confirmed & group_bit, group_bit);
}

static void
test_a_branch_has_a_group_of_its_own(void **state)
{
    struct csb_error error = {0};
    struct one origin;
    struct one first;
    struct one second;
    (void)state;
    begin(&origin);
    assert_int_equal(folder_count(fixture.groups), 1);
    assert_int_equal(branch(&origin, &first, &error), 0);
    assert_int_equal(branch(&first, &second, &error), 0);
    assert_int_equal(folder_count(fixture.groups), 3);
    assert_string_not_equal(origin.kit.leaf.name, first.kit.leaf.name);
    assert_own_group(&origin);
    assert_own_group(&first);
    assert_own_group(&second);
    end(&first);
    assert_int_equal(folder_count(fixture.groups), 2);
    end(&origin);
    end(&second);
    assert_int_equal(folder_count(fixture.groups), 0);
}

/* The original's group is no substitute: its limits would be those of two processes. */
static void
test_without_one_there_is_no_branch(void **state)
{
    static const enum behaviour bad[] = {TAKES_NOBODY, LISTS_NOBODY, CAN_NOT_BE_MADE};
    struct one origin;
    (void)state;
    begin(&origin);
    for (size_t i = 0; i < CSB_ARRAY_LEN(bad); i++) {
        struct csb_error error = {0};
        struct one none;
        uint32_t confirmed;
        fixture.behaviour = bad[i];
        assert_int_equal(branch(&origin, &none, &error), -EIO);
        assert_non_null(strstr(error.message, "control group"));
        assert_null(none.run);
        assert_int_equal(folder_count(fixture.groups), 1);
        fixture.behaviour = GOOD;
        assert_true(ask(&origin, &confirmed)); /* it lives on, where it was */
        assert_int_equal(confirmed & group_bit, group_bit);
    }
    end(&origin);
    assert_int_equal(folder_count(fixture.groups), 0);
}

static void
test_a_policy_that_requires_one_says_why_it_can_not_be_made(void **state)
{
    struct csb_error error = {0};
    struct one origin;
    struct one none;
    (void)state;
    begin(&origin);
    fixture.policy.required |= group_bit;
    fixture.behaviour = CAN_NOT_BE_MADE;
    assert_int_equal(branch(&origin, &none, &error), -EAGAIN);
    assert_int_equal(error.step, CSB_STEP_CGROUP);
    fixture.policy.required &= ~group_bit;
    end(&origin);
}

/* A session that never had one is branched without one, and nothing says otherwise. */
static void
test_an_original_without_one_is_branched_without_one(void **state)
{
    struct csb_error error = {0};
    struct one origin;
    struct one copy;
    uint32_t confirmed;
    (void)state;
    fixture.behaviour = CAN_NOT_BE_MADE;
    begin(&origin);
    assert_int_equal(branch(&origin, &copy, &error), 0);
    assert_true(ask(&copy, &confirmed));
    assert_int_equal(confirmed & group_bit, 0);
    assert_true(ask(&origin, &confirmed));
    assert_int_equal(confirmed & group_bit, 0);
    end(&copy);
    end(&origin);
}

#define WITH_POOL(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_POOL(test_a_branch_has_a_group_of_its_own),
        WITH_POOL(test_without_one_there_is_no_branch),
        WITH_POOL(test_a_policy_that_requires_one_says_why_it_can_not_be_made),
        WITH_POOL(test_an_original_without_one_is_branched_without_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
