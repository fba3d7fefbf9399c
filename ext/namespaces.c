/* Theory of operation: runs in the caller, once a policy. A helper is cloned into a new user
 * and network namespace and only waits; the caller, which has the right to, writes its maps,
 * opens both namespaces and kills it. A second child, in shared memory as a real one, tries
 * what every child will do. Both make raw system calls only. */
#include "namespaces.h"

#include "confine.h"
#include "fd.h"
#include "raw.h"
#include "trial.h"

#include <fcntl.h>
#include <linux/prctl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAP_BYTES = 4000 /* the kernel takes less than a page */ };

struct trial {
    const struct csb_namespaces *namespaces;
    pid_t caller;
};

void
csb_namespaces_init(struct csb_namespaces *namespaces)
{
    *namespaces =
        (struct csb_namespaces){.user_fd = CSB_FD_NONE, .net_fd = CSB_FD_NONE};
}

void
csb_namespaces_done(struct csb_namespaces *namespaces)
{
    csb_fd_close(&namespaces->user_fd);
    csb_fd_close(&namespaces->net_fd);
    csb_namespaces_init(namespaces);
}

static int
wait_to_be_killed(void *argument)
{
    const struct trial *trial = argument;
    (void)csb_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    while (csb_syscall(SYS_getppid) == trial->caller || trial->caller == 0) {
        (void)csb_syscall(SYS_pause);
    }
    (void)csb_syscall(SYS_exit_group, 0);
    __builtin_unreachable();
}

static int
try_to_enter(void *argument)
{
    const struct trial *trial = argument;
    struct csb_failure failure = {CSB_STEP_NONE, 0};
    int result = csb_confine_namespaces(trial->namespaces, &failure);
    (void)csb_syscall(SYS_exit_group, result == 0 ? 0 : failure.err);
    __builtin_unreachable();
}

/* The number in a one-line file of /proc/sys, or -1. */
static long
switch_value(const char *path)
{
    char text[32] = "";
    CSB_CLEANUP(csb_fd_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, text, sizeof text - 1) <= 0) {
        return -1;
    }
    return strtol(text, NULL, 10);
}

/* From an errno and the switches that cause it to words. */
static void
explain(int err, const char *doing, char *why, size_t size)
{
    static const struct {
        const char *path;
        long refusing;
        const char *words;
    } switches[] = {
        {"/proc/sys/kernel/unprivileged_userns_clone", 0,
         "kernel.unprivileged_userns_clone=0"},
        {"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 1,
         "kernel.apparmor_restrict_unprivileged_userns=1"},
        {"/proc/sys/user/max_user_namespaces", 0, "user.max_user_namespaces=0"},
        {"/proc/sys/user/max_net_namespaces", 0, "user.max_net_namespaces=0"},
        {"/proc/sys/user/max_ipc_namespaces", 0, "user.max_ipc_namespaces=0"},
    };
    bool refused = err == EPERM || err == EACCES || err == ENOSPC;
    for (size_t i = 0; i < CSB_ARRAY_LEN(switches) && refused; i++) {
        if (switch_value(switches[i].path) == switches[i].refusing) {
            (void)snprintf(why, size, "%s", switches[i].words);
            return;
        }
    }
    (void)snprintf(why, size, "%s: %s%s", doing, strerror(err),
                   err == EPERM
                       ? " (a container's filter, a security module, or chroot)"
                   : err == ENOSPC ? " (a limit in /proc/sys/user)"
                   : err == EINVAL ? " (not built into this kernel)"
                                   : "");
}

static int
write_file(pid_t helper, const char *name, const char *text)
{
    char path[64];
    CSB_CLEANUP(csb_fd_close) int fd = CSB_FD_NONE;
    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)helper, name);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, text, strlen(text)) < 0) {
        return -errno;
    }
    return 0;
}

/* Every id that exists out here under the same number, or nothing when they do not fit. */
static void
whole_map(const char *own, char *ret, size_t size)
{
    unsigned inside;
    unsigned outside;
    unsigned count;
    size_t used = 0;
    FILE *file = fopen(own, "re");
    char line[128];
    ret[0] = '\0';
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *rest;
        int length;
        inside = (unsigned)strtoul(line, &rest, 10);
        outside = (unsigned)strtoul(rest, &rest, 10);
        count = (unsigned)strtoul(rest, NULL, 10);
        (void)outside; /* the number in a namespace above: of no use here */
        length = snprintf(ret + used, size - used, "%u %u %u\n", inside, inside, count);
        if (length < 0 || (size_t)length >= size - used) {
            ret[0] = '\0';
            break;
        }
        used += (size_t)length;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
}

/* Who may map all ids keeps the right to call setgroups, with which the child gives its
 * groups up; who may not must deny it first (user_namespaces(7)). */
static int
write_maps(pid_t helper, bool all_ids)
{
    char users[MAP_BYTES];
    char groups[MAP_BYTES];
    int result;
    whole_map("/proc/self/uid_map", users, sizeof users);
    whole_map("/proc/self/gid_map", groups, sizeof groups);
    result = geteuid() == 0 ? write_file(helper, "gid_map", groups) : -EPERM;
    if (result == 0) {
        result = write_file(helper, "uid_map", users);
        return result;
    }
    if (all_ids) {
        return result;
    }
    (void)snprintf(users, sizeof users, "%u %u 1\n", geteuid(), geteuid());
    (void)snprintf(groups, sizeof groups, "%u %u 1\n", getegid(), getegid());
    result = write_file(helper, "setgroups", "deny");
    if (result == 0) {
        result = write_file(helper, "gid_map", groups);
    }
    return result == 0 ? write_file(helper, "uid_map", users) : result;
}

static int
open_of(pid_t helper, const char *name)
{
    char path[64];
    int fd;
    (void)snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)helper, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -errno : csb_fd_raise(fd);
}

static int
make_shared(struct csb_namespaces *namespaces, bool all_ids, char *why, size_t size)
{
    unsigned char *stack = csb_trial_stack_new();
    struct trial trial = {namespaces, (pid_t)csb_syscall(SYS_getpid)};
    pid_t helper = stack == NULL ? -ENOMEM
                                 : csb_trial_clone(wait_to_be_killed, &trial, stack,
                                                   CLONE_NEWUSER | CLONE_NEWNET);
    int result = helper < 0 ? helper : write_maps(helper, all_ids);
    if (result == 0) {
        namespaces->user_fd = open_of(helper, "user");
        namespaces->net_fd = open_of(helper, "net");
        result = namespaces->user_fd < 0  ? namespaces->user_fd
                 : namespaces->net_fd < 0 ? namespaces->net_fd
                                          : 0;
    }
    if (helper > 0) {
        (void)kill(helper, SIGKILL);
        (void)csb_trial_wait(helper); /* killed, so it has no exit status */
    }
    csb_trial_stack_free(stack);
    if (result < 0) {
        if (helper > 0 && result == -EPERM && geteuid() == 0) {
            (void)snprintf(
                why, size,
                "this root is without CAP_SETFCAP, CAP_SETUID or CAP_SETGID, "
                "which mapping its ids needs");
            return result;
        }
        explain(-result,
                helper < 0 ? "make a user and a network namespace"
                           : "map the ids of a user namespace",
                why, size);
    }
    return result;
}

bool
csb_namespaces_open(struct csb_namespaces *namespaces, bool all_ids, char *why,
                    size_t size)
{
    struct trial trial = {namespaces, 0};
    int result = make_shared(namespaces, all_ids, why, size);
    if (result == 0) {
        result = csb_trial_run(try_to_enter, &trial);
        if (result < 0) {
            explain(-result, "enter namespaces", why, size);
        }
    }
    if (result < 0) {
        csb_namespaces_done(namespaces);
    }
    return result == 0;
}

bool
csb_namespaces_own(uint64_t ret[CSB_NAMESPACE_COUNT])
{
    for (unsigned i = 0; i < CSB_NAMESPACE_COUNT; i++) {
        struct stat status;
        if (stat(csb_namespace_path((enum csb_namespace)i), &status) != 0) {
            return false;
        }
        ret[i] = status.st_ino;
    }
    return true;
}
