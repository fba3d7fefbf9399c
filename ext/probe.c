/* Theory of operation: runs in the caller. Asks the kernel with calls that have no effect:
 * a query, or arguments that can only fail, in a way that tells support from absence. */
#include "probe.h"

#include "landlock.h"
#include "namespaces.h"
#include "raw.h"
#include "trial.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <sys/stat.h>

#ifndef PR_GET_MDWE
#define PR_GET_MDWE 66
#endif
#ifndef SECCOMP_FILTER_FLAG_NEW_LISTENER
#define SECCOMP_FILTER_FLAG_NEW_LISTENER (1UL << 3)
#endif

static bool
action_available(uint32_t action)
{
    return csb_syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

static bool
readable(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0;
}

/* In a child that shares our memory and is over before we go on: only there a listener can
 * be asked for without taking it. It lets every call through. */
static int
try_listener(void *unused)
{
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog filter = {1, &allow};
    long result = csb_syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    (void)unused;
    if (result == 0) {
        result = csb_syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                             SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
    }
    (void)csb_syscall(SYS_exit_group, result < 0 ? -result : 0);
    __builtin_unreachable();
}

bool
csb_probe_namespaces(char *why, size_t size)
{
    struct csb_namespaces tried;
    bool available;
    csb_namespaces_init(&tried);
    available = csb_namespaces_open(&tried, geteuid() == 0, why, size);
    csb_namespaces_done(&tried);
    return available;
}

void
csb_probe(struct csb_probe *ret)
{
    long pidfd = csb_syscall(SYS_pidfd_open, getpid(), 0);
    *ret = (struct csb_probe){
        .landlock_abi = csb_landlock_abi(),
        .seccomp_filter = action_available(SECCOMP_RET_KILL_PROCESS),
        .seccomp_notify =
            action_available(SECCOMP_RET_USER_NOTIF) &&
            /* EBUSY when a filter with a listener is already on us: a container
             * manager's, or our own around a nested csandbox */
            csb_trial_run(try_listener, NULL) == 0,
        .pidfd = pidfd >= 0,
        /* an empty range is refused with EINVAL where the call exists */
        .close_range = csb_syscall(SYS_close_range, 1, 0, 0) == -EINVAL,
        .procfs = readable("/proc/self/statm"),
        .root = geteuid() == 0,
        .mdwe = csb_syscall(SYS_prctl, PR_GET_MDWE, 0, 0, 0, 0) >= 0,
    };
    if (pidfd >= 0) {
        (void)close((int)pidfd);
    }
}
