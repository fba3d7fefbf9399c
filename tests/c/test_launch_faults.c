/* Theory of operation: fault injection over a whole run. The linker puts a wrapper around
 * each function that can fail; the n-th call of one of them fails, for n = 1, 2, … until a
 * run passes without meeting it. After each: a clean error or a run that was confined, no
 * descriptor, no child, no folder left, and never an unconfined submission.
 *
 * The wrapped syscall(2) is also the child's between clone and exec, whose memory is ours:
 * so each step of csb_confine_early fails once as well. */
#include "launch.h"

#include "clock.h"
#include "fd.h"
#include "folder.h"
#include "syscalls.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup */
/* link: -Wl,--wrap=open,--wrap=openat,--wrap=mkdir,--wrap=fstat,--wrap=fdopendir */
/* link: -Wl,--wrap=pipe2,--wrap=socketpair,--wrap=fcntl,--wrap=memfd_create,--wrap=pwrite */
/* link: -Wl,--wrap=clone,--wrap=mmap,--wrap=syscall,--wrap=send,--wrap=recv */
/* link: -Wl,--wrap=recvmsg,--wrap=read,--wrap=write,--wrap=pread,--wrap=poll,--wrap=ppoll */

enum { LINE_BYTES = 8192, CALLS_MAX = 2000, RUN_S = 20 };

/* Shared with the vfork child, as all memory is. */
static struct {
    const char *target; /* NULL: nothing fails */
    unsigned long n;
    unsigned long seen;
    int err;
} fault;

static bool
strike(const char *name)
{
    if (fault.target == NULL || strcmp(fault.target, name) != 0 ||
        ++fault.seen != fault.n) {
        return false;
    }
    errno = fault.err;
    return true;
}

#define WRAP(type, failure, name, parameters, arguments)                               \
    type __real_##name parameters;                                                     \
    type __wrap_##name parameters;                                                     \
    type __wrap_##name parameters                                                      \
    {                                                                                  \
        return strike(#name) ? (failure) : __real_##name arguments;                    \
    }

WRAP(void *, NULL, malloc, (size_t size), (size))
WRAP(void *, NULL, calloc, (size_t count, size_t size), (count, size))
WRAP(void *, NULL, realloc, (void *old, size_t size), (old, size))
WRAP(char *, NULL, strdup, (const char *text), (text))
WRAP(int, -1, open, (const char *path, int flags, mode_t mode), (path, flags, mode))
WRAP(int, -1, openat, (int at, const char *path, int flags, mode_t mode),
     (at, path, flags, mode))
WRAP(int, -1, mkdir, (const char *path, mode_t mode), (path, mode))
WRAP(int, -1, fstat, (int fd, struct stat *status), (fd, status))
WRAP(DIR *, NULL, fdopendir, (int fd), (fd))
WRAP(int, -1, pipe2, (int *pair, int flags), (pair, flags))
WRAP(int, -1, socketpair, (int family, int type, int protocol, int *pair),
     (family, type, protocol, pair))
WRAP(int, -1, fcntl, (int fd, int command, long argument), (fd, command, argument))
WRAP(int, -1, memfd_create, (const char *name, unsigned flags), (name, flags))
WRAP(ssize_t, -1, pwrite, (int fd, const void *from, size_t count, off_t at),
     (fd, from, count, at))
WRAP(void *, MAP_FAILED, mmap,
     (void *at, size_t size, int protection, int flags, int fd, off_t offset),
     (at, size, protection, flags, fd, offset))
WRAP(ssize_t, -1, send, (int fd, const void *bytes, size_t count, int flags),
     (fd, bytes, count, flags))
WRAP(ssize_t, -1, recv, (int fd, void *bytes, size_t count, int flags),
     (fd, bytes, count, flags))
WRAP(ssize_t, -1, recvmsg, (int fd, struct msghdr *message, int flags),
     (fd, message, flags))
WRAP(ssize_t, -1, read, (int fd, void *bytes, size_t count), (fd, bytes, count))
WRAP(ssize_t, -1, write, (int fd, const void *bytes, size_t count), (fd, bytes, count))
WRAP(ssize_t, -1, pread, (int fd, void *bytes, size_t count, off_t at),
     (fd, bytes, count, at))
WRAP(int, -1, poll, (struct pollfd * polls, nfds_t count, int wait),
     (polls, count, wait))
WRAP(int, -1, ppoll,
     (struct pollfd * polls, nfds_t count, const struct timespec *wait,
      const sigset_t *mask),
     (polls, count, wait, mask))
WRAP(long, -1, syscall, (long number, long a, long b, long c, long d, long e, long f),
     (number, a, b, c, d, e, f))

int __real_clone(int (*body)(void *), void *stack, int flags, void *argument,
                 int *pidfd);
int __wrap_clone(int (*body)(void *), void *stack, int flags, void *argument,
                 int *pidfd);

int
__wrap_clone(int (*body)(void *), void *stack, int flags, void *argument, int *pidfd)
{
    return strike("clone") ? -1 : __real_clone(body, stack, flags, argument, pidfd);
}

static const char *const targets[] = {
    "malloc", "calloc",    "realloc", "strdup",     "open",  "openat",       "mkdir",
    "fstat",  "fdopendir", "pipe2",   "socketpair", "fcntl", "memfd_create", "pwrite",
    "clone",  "mmap",      "syscall", "send",       "recv",  "recvmsg",      "read",
    "write",  "pread",     "poll",    "ppoll"};

/* Says what it could do. A file of the host and a socket: one for each of the two layers
 * that a lost error could leave out. */
static const char program[] =
    "import socket\n"
    "def tries(what):\n"
    "    try: what()\n"
    "    except OSError: return 'refused'\n"
    "    return 'UNCONFINED'\n"
    "print(tries(lambda: open('/etc/passwd')), tries(lambda: socket.socket()),\n"
    "      tries(lambda: open('/proc/self/environ')), flush=True)\n";

static struct {
    char *base;
    struct csb_policy policy;
} fixture;

static void
take_line(struct csb_policy *policy, char *line)
{
    static const struct {
        const char *key;
        enum csb_path_access access;
    } rules[] = {{"read", CSB_PATH_READ},
                 {"list", CSB_PATH_LIST},
                 {"execute", CSB_PATH_EXECUTE}};
    char *value = strchr(line, ' ');
    char *end;
    struct csb_error error = {0};
    assert_non_null(value);
    *value++ = '\0';
    end = strchr(value, '\n');
    if (end != NULL) {
        *end = '\0';
    }
    if (strcmp(line, "python") == 0) {
        policy->python = strdup(value);
    } else if (strcmp(line, "child_module") == 0) {
        policy->child_module = strdup(value);
    } else if (strcmp(line, "module_path") == 0) {
        assert_int_equal(csb_strings_add(&policy->module_path, value), 0);
    }
    for (size_t i = 0; i < CSB_ARRAY_LEN(rules); i++) {
        if (strcmp(line, rules[i].key) == 0 &&
            csb_path_rules_add(&policy->paths, rules[i].access, value,
                               policy->scratch_base, &error) != 0) {
            fail_msg("%s", error.message);
        }
    }
}

/* Lines of the policy, printed by a Python of its own; no shell. */
static FILE *
policy_lines(pid_t *ret_child)
{
    const char *python =
        access(".venv/bin/python", X_OK) == 0 ? ".venv/bin/python" : "python3";
    int pair[2];
    assert_int_equal(pipe2(pair, 0), 0);
    *ret_child = fork();
    assert_true(*ret_child >= 0);
    if (*ret_child == 0) {
        if (dup2(pair[1], STDOUT_FILENO) >= 0 && setenv("PYTHONPATH", ".", 1) == 0) {
            (void)execlp(python, python, "tests/c/print_policy.py", (char *)NULL);
        }
        _exit(127);
    }
    assert_int_equal(close(pair[1]), 0);
    return fdopen(pair[0], "r");
}

static int
set_up(void **state)
{
    struct csb_policy *policy = &fixture.policy;
    struct csb_error error = {0};
    char line[LINE_BYTES];
    pid_t child;
    int status = 0;
    FILE *lines = policy_lines(&child);
    (void)state;
    assert_non_null(lines);
    fixture.base = folder_make();
    csb_policy_init(policy);
    policy->scratch_base = strdup(fixture.base);
    policy->scratch_writable = true;
    policy->uid = 60700;
    policy->required = CSB_FEATURE_ALL;
    policy->sets = CSB_SET_BIT(CSB_SET_CORE) | CSB_SET_BIT(CSB_SET_READ_FILES);
    while (fgets(line, sizeof line, lines) != NULL) {
        take_line(policy, line);
    }
    assert_int_equal(fclose(lines), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    if (csb_policy_compile(policy, &error) != 0) {
        print_message("SKIPPED: %s can not be enforced here\n", error.message);
        return -1;
    }
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    csb_policy_done(&fixture.policy);
    folder_remove(fixture.base);
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
    const struct csb_bytes source = {(const unsigned char *)program,
                                     sizeof program - 1};
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
    fault.target = NULL;
    if (ret->result == 0 && csb_capture_kept(&report.output) < sizeof ret->output) {
        csb_capture_copy(&report.output, (unsigned char *)ret->output);
        ret->outcome = csb_classify(&report.facts, &limits);
    }
    csb_report_done(&report);
}

static bool
nothing_left(int descriptors)
{
    for (int i = 0; i < 300; i++) {
        if (waitid(P_ALL, 0, &(siginfo_t){0}, WEXITED | WNOHANG | WNOWAIT) < 0 &&
            errno == ECHILD && folder_count("/proc/self/fd") == descriptors &&
            folder_count(fixture.base) == 0) {
            return true;
        }
        (void)usleep(10000); /* a child that was handed to the reaper thread */
    }
    return false;
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
    if (!nothing_left(descriptors)) {
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
        fault.target = target;
        fault.n = n;
        fault.seen = 0;
        fault.err = err;
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
    for (size_t i = 0; i < CSB_ARRAY_LEN(targets); i++) {
        unsigned long count = fail_each_call(targets[i], ENOMEM);
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
