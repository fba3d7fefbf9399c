/* Theory of operation: the ladder of Landlock ABIs without kernels that have them: the two
 * system calls are wrapped and their arguments looked at.
 *
 * The expected numbers are written down from the kernel's landlock.rst, not from the code. */
#include "landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

/* link: -Wl,--wrap=syscall */

enum { FAKE_RULESET = 1000, RULES_MAX = 16 };

static struct {
    bool on;
    uint64_t attr[3];
    size_t size;
    uint64_t rules[RULES_MAX];
    size_t rule_count;
    size_t fail_rule; /* 1-based; 0 = none */
} seen;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

long
__wrap_syscall(long number, ...)
{
    long a[6];
    va_list list;
    va_start(list, number);
    for (size_t i = 0; i < CSB_ARRAY_LEN(a); i++) {
        a[i] = va_arg(list, long);
    }
    va_end(list);
    if (seen.on && number == SYS_landlock_create_ruleset && a[0] != 0) {
        seen.size = (size_t)a[1];
        memcpy(seen.attr, (const void *)a[0], seen.size);
        return FAKE_RULESET;
    }
    if (seen.on && number == SYS_landlock_add_rule) {
        const struct landlock_path_beneath_attr *rule = (const void *)a[2];
        if (++seen.rule_count == seen.fail_rule) {
            errno = EINVAL;
            return -1;
        }
        seen.rules[seen.rule_count - 1] = rule->allowed_access;
        return 0;
    }
    return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static int
build(int abi, const struct csb_path_rule *rules, size_t count)
{
    struct csb_error error = {0};
    int fd = -2;
    int result;
    memset(&seen, 0, sizeof seen);
    seen.on = true;
    result = csb_landlock_build(rules, count, abi, &fd, &error);
    seen.on = false;
    assert_int_equal(result == 0 ? FAKE_RULESET : -1, fd);
    return result;
}

/* execute … make_sym are bits 0 to 12, refer 13, truncate 14, ioctl_dev 15. */
struct rung {
    uint64_t fs;
    uint64_t net;
    uint64_t scoped;
    size_t size;
};

static const struct rung rungs[] = {
    [1] = {0x1FFF, 0, 0, 8},  [2] = {0x3FFF, 0, 0, 8},  [3] = {0x7FFF, 0, 0, 8},
    [4] = {0x7FFF, 3, 0, 16}, [5] = {0xFFFF, 3, 0, 16}, [6] = {0xFFFF, 3, 3, 24},
    [7] = {0xFFFF, 3, 3, 24}, [8] = {0xFFFF, 3, 3, 24},
};

static void
test_each_abi_is_asked_for_what_it_knows(void **state)
{
    (void)state;
    for (int abi = 1; abi < (int)CSB_ARRAY_LEN(rungs); abi++) {
        const struct rung *rung = &rungs[abi];
        assert_int_equal(build(abi, NULL, 0), 0);
        if (seen.attr[0] != rung->fs || seen.attr[1] != rung->net ||
            seen.attr[2] != rung->scoped || seen.size != rung->size) {
            fail_msg("ABI %d: fs 0x%llx net %llu scoped %llu, %zu bytes", abi,
                     (unsigned long long)seen.attr[0], (unsigned long long)seen.attr[1],
                     (unsigned long long)seen.attr[2], seen.size);
        }
    }
}

/* The running kernel takes every rung up to its own, and refuses one that is too new. */
static void
test_this_kernel_takes_its_rungs(void **state)
{
    int abi = csb_landlock_abi();
    (void)state;
    if (abi == 0) {
        print_message("SKIPPED: this kernel has no Landlock\n");
        skip();
    }
    for (int rung = 1; rung <= abi; rung++) {
        struct csb_error error = {0};
        int fd = -1;
        assert_int_equal(csb_landlock_build(NULL, 0, rung, &fd, &error), 0);
        assert_int_equal(close(fd), 0);
    }
}

static void
test_what_is_lost_is_said(void **state)
{
    (void)state;
    assert_non_null(strstr(csb_landlock_lost(0), "not confined"));
    assert_string_equal(csb_landlock_lost(-1), csb_landlock_lost(0));
    for (int abi = 1; abi < 9; abi++) {
        const char *lost = csb_landlock_lost(abi);
        assert_int_equal(strstr(lost, "truncate") != NULL, abi < 3);
        assert_int_equal(strstr(lost, "TCP") != NULL, abi < 4);
        assert_int_equal(strstr(lost, "ioctl") != NULL, abi < 5);
        assert_int_equal(strstr(lost, "signals") != NULL, abi < 6);
    }
}

enum { READ = 0xC, WRITE = 0x61BE, READ_FILE = 0x4, EXECUTE = 0x1, WRITE_FILE = 0x2 };

static void
test_each_access_grants_little(void **state)
{
    static const struct {
        enum csb_path_access access;
        uint64_t folder;
        uint64_t file;
    } rows[] = {
        {CSB_PATH_READ, READ, READ_FILE},
        {CSB_PATH_LIST, 0x8, 0},
        {CSB_PATH_EXECUTE, READ_FILE | EXECUTE, READ_FILE | EXECUTE},
        {CSB_PATH_READ_EXECUTE, READ | EXECUTE, READ_FILE | EXECUTE},
        /* no make_char, make_sock, make_fifo, make_block, make_sym, execute, ioctl */
        {CSB_PATH_WRITE, WRITE, READ_FILE | WRITE_FILE | 0x4000},
        {CSB_PATH_DEVICE, READ_FILE | WRITE_FILE, READ_FILE | WRITE_FILE},
    };
    int folder = open("/", O_PATH | O_CLOEXEC);
    int file = open("/dev/null", O_PATH | O_CLOEXEC);
    (void)state;
    assert_true(folder >= 0 && file >= 0);
    for (size_t i = 0; i < CSB_ARRAY_LEN(rows); i++) {
        const struct csb_path_rule both[] = {{rows[i].access, folder, CSB_PATH_UNKNOWN},
                                             {rows[i].access, file, CSB_PATH_UNKNOWN}};
        size_t wanted = rows[i].file == 0 ? 1 : 2; /* a rule without a right is none */
        assert_int_equal(build(8, both, 2), 0);
        assert_int_equal(seen.rule_count, wanted);
        assert_int_equal(seen.rules[0], rows[i].folder);
        assert_int_equal(seen.rules[1], rows[i].file);
    }
    /* rights that the ABI does not know are not granted: EINVAL otherwise */
    assert_int_equal(
        build(1, (struct csb_path_rule[]){{CSB_PATH_WRITE, folder, CSB_PATH_UNKNOWN}},
              1),
        0);
    assert_int_equal(seen.rules[0], WRITE & 0x1FFF);
    assert_int_equal(close(folder) | close(file), 0);
}

static void
test_a_failed_rule_fails_the_whole_set(void **state)
{
    struct csb_error error = {0};
    int fd = 7;
    int folder = open("/", O_PATH | O_CLOEXEC);
    const struct csb_path_rule rules[] = {{CSB_PATH_READ, folder, CSB_PATH_UNKNOWN},
                                          {CSB_PATH_READ, folder, CSB_PATH_UNKNOWN}};
    (void)state;
    assert_true(folder >= 0);
    memset(&seen, 0, sizeof seen);
    seen.on = true;
    seen.fail_rule = 2;
    assert_int_equal(csb_landlock_build(rules, 2, 8, &fd, &error), -EINVAL);
    seen.on = false;
    assert_int_equal(fd, -1);
    assert_int_equal(error.step, CSB_STEP_LANDLOCK);
    assert_int_equal(close(folder), 0);
}

static void
test_a_closed_descriptor_is_an_error(void **state)
{
    const struct csb_path_rule rule = {CSB_PATH_READ, 9999, CSB_PATH_UNKNOWN};
    (void)state;
    assert_int_equal(build(8, &rule, 1), -EBADF);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_abi_is_asked_for_what_it_knows),
        cmocka_unit_test(test_this_kernel_takes_its_rungs),
        cmocka_unit_test(test_what_is_lost_is_said),
        cmocka_unit_test(test_each_access_grants_little),
        cmocka_unit_test(test_a_failed_rule_fails_the_whole_set),
        cmocka_unit_test(test_a_closed_descriptor_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
