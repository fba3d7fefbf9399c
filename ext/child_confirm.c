/* Theory of operation: runs in the child between the last layer and the READY record. Each
 * answer is the kernel's: a bit is set only when the thing itself was seen. The supervisor
 * refuses to send the submission when a required bit is missing. */
#include "child_confirm.h"

#include "feature.h"
#include "namespaces.h"
#include "plan.h"
#include "raw.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/prctl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>

#ifndef PR_GET_MDWE
#define PR_GET_MDWE 66
#endif

enum { FDS_LOOKED_AT = 256, LAST_CAPABILITY = 63 };

static uint32_t
bit_if(bool seen, enum csb_feature feature)
{
    return seen ? CSB_FEATURE_BIT(feature) : 0;
}

static bool
fds_closed_one_by_one(void)
{
    for (int fd = CSB_CHANNEL_FD + 1; fd < FDS_LOOKED_AT; fd++) {
        if (csb_syscall(SYS_fcntl, fd, F_GETFD) >= 0) {
            return false;
        }
    }
    return true;
}

/* One call for all: poll(2) says POLLNVAL of a descriptor that is not open. It takes no more
 * of them than RLIMIT_NOFILE. */
static bool
fds_closed(void)
{
    struct pollfd fds[FDS_LOOKED_AT];
    const struct timespec at_once = {0, 0};
    const size_t count = FDS_LOOKED_AT - CSB_CHANNEL_FD - 1;
    for (size_t i = 0; i < count; i++) {
        fds[i] = (struct pollfd){CSB_CHANNEL_FD + 1 + (int)i, 0, 0};
    }
    if (csb_syscall(SYS_ppoll, fds, count, &at_once, 0, 0) < 0) {
        return fds_closed_one_by_one();
    }
    for (size_t i = 0; i < count; i++) {
        if (fds[i].revents != POLLNVAL) {
            return false;
        }
    }
    return true;
}

static bool
rlimits_hold(const struct csb_rlimit *rlimits, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t now[2];
        if (csb_syscall(SYS_prlimit64, 0, rlimits[i].resource, 0, now) < 0 ||
            now[0] != rlimits[i].value || now[1] != rlimits[i].value) {
            return false;
        }
    }
    return count > 0;
}

static bool
session_is_own(void)
{
    int signal = 0;
    return csb_syscall(SYS_getsid, 0) == csb_syscall(SYS_getpid) &&
           csb_syscall(SYS_prctl, PR_GET_PDEATHSIG, &signal, 0, 0, 0) == 0 &&
           signal != 0;
}

/* The root folder is readable by everybody, so only Landlock can be what refuses it. */
static bool
files_confined(void)
{
    long fd =
        csb_syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)csb_syscall(SYS_close, fd);
    }
    return fd == -EACCES;
}

/* Landlock refuses opening, not stat(2). Every one must be another than the caller's. */
static bool
namespaces_are_own(const struct csb_wire_config *config)
{
    for (unsigned i = 0; i < CSB_NAMESPACE_COUNT; i++) {
        struct stat status;
        if (config->outside[i] == 0 ||
            stat(csb_namespace_path((enum csb_namespace)i), &status) != 0 ||
            status.st_ino == config->outside[i]) {
            return false;
        }
    }
    return true;
}

uint32_t
csb_confirm_rlimits(const struct csb_rlimit *rlimits, uint32_t rlimit_count)
{
    return bit_if(rlimits_hold(rlimits, rlimit_count), CSB_FEATURE_RLIMITS);
}

uint32_t
csb_confirm_namespaces(const struct csb_wire_config *config)
{
    return bit_if(namespaces_are_own(config), CSB_FEATURE_NAMESPACES);
}

uint32_t
csb_confirm_before(const struct csb_wire_config *config,
                   const struct csb_rlimit *rlimits)
{
    uint32_t mask = bit_if(fds_closed(), CSB_FEATURE_FDS);
    mask |= bit_if(csb_syscall(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1,
                   CSB_FEATURE_NO_NEW_PRIVS);
    mask |= bit_if(session_is_own(), CSB_FEATURE_SESSION);
    return mask | csb_confirm_rlimits(rlimits, config->rlimit_count);
}

static bool
privileges_gone(uint32_t uid)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    unsigned id[3] = {0, 0, 0};
    memset(sets, 0xFF, sizeof sets);
    if (csb_syscall(SYS_capget, &header, sets) != 0) {
        return false;
    }
    for (size_t i = 0; i < CSB_ARRAY_LEN(sets); i++) {
        if (sets[i].effective | sets[i].permitted | sets[i].inheritable) {
            return false;
        }
    }
    if (csb_syscall(SYS_getresuid, &id[0], &id[1], &id[2]) != 0) {
        return false;
    }
    return uid == 0 || (id[0] == uid && id[1] == uid && id[2] == uid);
}

static bool
memory_is_write_or_execute(void)
{
    return csb_syscall(SYS_prctl, PR_GET_MDWE, 0, 0, 0, 0) > 0;
}

uint32_t
csb_confirm_dropped(uint32_t uid)
{
    return bit_if(privileges_gone(uid), CSB_FEATURE_PRIVILEGES) |
           bit_if(files_confined(), CSB_FEATURE_LANDLOCK) |
           bit_if(memory_is_write_or_execute(), CSB_FEATURE_MDWE);
}

/* The narrow filter pretends that fchmod succeeds; without it, descriptor -1 is EBADF. */
static bool
filter_holds(void)
{
    return csb_syscall(SYS_fchmod, -1, 0) == 0;
}

uint32_t
csb_confirm_filter(int listener)
{
    return bit_if(filter_holds(), CSB_FEATURE_SECCOMP) |
           bit_if(listener >= 0, CSB_FEATURE_SECCOMP_NOTIFY);
}
