/* Theory of operation: in C tests alone. The wrappers count calls from every thread. */
#include "fault.h"

#include "folder.h"
#include "remover.h"
#include "syscalls.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { LINE_BYTES = 8192 };

struct fault fault;

void
fault_set(const char *target, unsigned long n, int err)
{
    fault = (struct fault){.n = n, .err = err};
    __atomic_store_n(&fault.target, target, __ATOMIC_RELEASE);
}

unsigned long
fault_clear(void)
{
    __atomic_store_n(&fault.target, NULL, __ATOMIC_RELEASE);
    return __atomic_load_n(&fault.seen, __ATOMIC_ACQUIRE);
}

static bool
strike(const char *name)
{
    const char *target = __atomic_load_n(&fault.target, __ATOMIC_ACQUIRE);
    if (target == NULL || strcmp(target, name) != 0 ||
        __atomic_add_fetch(&fault.seen, 1, __ATOMIC_ACQ_REL) != fault.n) {
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
WRAP(ssize_t, -1, sendmsg, (int fd, const struct msghdr *message, int flags),
     (fd, message, flags))
WRAP(int, -1, eventfd, (unsigned count, int flags), (count, flags))
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

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*body)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*body)(void *), void *argument);

int
__wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                      void *(*body)(void *), void *argument)
{
    return strike("pthread_create")
               ? EAGAIN
               : __real_pthread_create(thread, attributes, body, argument);
}

const char *const fault_targets[] = {
    "malloc",       "calloc",  "realloc",   "strdup",        "open",       "openat",
    "mkdir",        "fstat",   "fdopendir", "pipe2",         "socketpair", "fcntl",
    "memfd_create", "pwrite",  "clone",     "mmap",          "syscall",    "send",
    "recv",         "recvmsg", "read",      "write",         "pread",      "poll",
    "ppoll",        "sendmsg", "eventfd",   "pthread_create"};

const size_t fault_target_count = CSB_ARRAY_LEN(fault_targets);

const char fault_program[] =
    "import socket\n"
    "def tries(what):\n"
    "    try: what()\n"
    "    except OSError: return 'refused'\n"
    "    return 'UNCONFINED'\n"
    "print(tries(lambda: open('/etc/passwd')), tries(lambda: socket.socket()),\n"
    "      tries(lambda: open('/proc/self/environ')), flush=True)\n";

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

int
fault_policy_make(struct csb_policy *policy, char **ret_base)
{
    struct csb_error error = {0};
    char line[LINE_BYTES];
    pid_t child;
    int status = 0;
    FILE *lines = policy_lines(&child);
    assert_non_null(lines);
    *ret_base = folder_make();
    csb_policy_init(policy);
    policy->scratch_base = strdup(*ret_base);
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
    policy->remover = csb_remover_new();
    return 0;
}

void
fault_policy_done(struct csb_policy *policy, char *base)
{
    csb_remover_drop(policy->remover);
    csb_policy_done(policy);
    folder_remove(base);
}

bool
fault_nothing_left(const char *base, int descriptors)
{
    for (int i = 0; i < 300; i++) {
        if (waitid(P_ALL, 0, &(siginfo_t){0}, WEXITED | WNOHANG | WNOWAIT) < 0 &&
            errno == ECHILD && folder_count("/proc/self/fd") == descriptors &&
            folder_count(base) == 0) {
            return true;
        }
        (void)usleep(10000); /* a child that was handed to the reaper thread */
    }
    return false;
}
