/* Theory of operation: runs in the caller. Asks the kernel with calls that have no effect:
 * a query, or arguments that can only fail, in a way that tells support from absence. */
#include "probe.h"

#include "landlock.h"
#include "raw.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/stat.h>

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

void
csb_probe(struct csb_probe *ret)
{
    long pidfd = csb_syscall(SYS_pidfd_open, getpid(), 0);
    *ret = (struct csb_probe){
        .landlock_abi = csb_landlock_abi(),
        .seccomp_filter = action_available(SECCOMP_RET_KILL_PROCESS),
        .seccomp_notify = action_available(SECCOMP_RET_USER_NOTIF),
        .pidfd = pidfd >= 0,
        /* an empty range is refused with EINVAL where the call exists */
        .close_range = csb_syscall(SYS_close_range, 1, 0, 0) == -EINVAL,
        .procfs = readable("/proc/self/statm"),
        .root = geteuid() == 0,
        .user_namespace = readable("/proc/self/ns/user"),
    };
    if (pidfd >= 0) {
        (void)close((int)pidfd);
    }
}
