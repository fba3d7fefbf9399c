/* Theory of operation: runs in the caller. Opens nothing itself: the rules carry O_PATH
 * descriptors. Everything that a kernel of the given ABI can deny is handled (denied by
 * default); the rules then grant little. The numbers below are the kernel's ABI; they are
 * spelled out because the headers of Debian 12 end at ABI 3. See landlock(7). */
#include "landlock.h"

#include <errno.h>
#include <linux/landlock.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FS_EXECUTE (UINT64_C(1) << 0)
#define FS_WRITE_FILE (UINT64_C(1) << 1)
#define FS_READ_FILE (UINT64_C(1) << 2)
#define FS_READ_DIR (UINT64_C(1) << 3)
#define FS_REMOVE_DIR (UINT64_C(1) << 4)
#define FS_REMOVE_FILE (UINT64_C(1) << 5)
#define FS_MAKE_DIR (UINT64_C(1) << 7)
#define FS_MAKE_REG (UINT64_C(1) << 8)
#define FS_ABI_1 ((UINT64_C(1) << 13) - 1)
#define FS_REFER (UINT64_C(1) << 13)     /* ABI 2: rename and link between folders */
#define FS_TRUNCATE (UINT64_C(1) << 14)  /* ABI 3 */
#define FS_IOCTL_DEV (UINT64_C(1) << 15) /* ABI 5 */
#define NET_TCP UINT64_C(3)              /* ABI 4: bind and connect */
#define SCOPE_ALL UINT64_C(3)            /* ABI 6: abstract unix sockets, signals */

/* Rights that mean something for a file that is not a folder; any other is EINVAL. */
#define FS_FILE (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)

/* struct landlock_ruleset_attr as of ABI 6; older kernels take a prefix of it. */
struct ruleset_attr {
    uint64_t handled_access_fs;
    uint64_t handled_access_net;
    uint64_t scoped;
};

int
csb_landlock_abi(void)
{
    long abi =
        syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return abi > 0 ? (int)abi : 0;
}

const char *
csb_landlock_lost(int abi)
{
    static const char *const lost[] = {
        "all of it: files are not confined",
        "truncate() by path, TCP, device ioctl, abstract sockets, signals (seccomp denies "
        "each)",
        "truncate() by path, TCP, device ioctl, abstract sockets, signals (seccomp denies "
        "each)",
        "TCP, device ioctl, abstract sockets, signals (seccomp denies each)",
        "device ioctl, abstract sockets, signals (seccomp denies each)",
        "abstract sockets, signals (seccomp denies each)",
    };
    if (abi < 0) {
        abi = 0;
    }
    return (size_t)abi < CSB_ARRAY_LEN(lost) ? lost[abi] : "";
}

/* What this ABI can handle, newest first; each rung takes away what is missing below it. */
static struct ruleset_attr
handled(int abi, size_t *ret_size)
{
    struct ruleset_attr attr = {
        .handled_access_fs = FS_ABI_1 | FS_REFER | FS_TRUNCATE | FS_IOCTL_DEV,
        .handled_access_net = NET_TCP,
        .scoped = SCOPE_ALL,
    };
    *ret_size = sizeof attr;
    switch (abi) {
    case 1:
        attr.handled_access_fs &= ~FS_REFER;
        __attribute__((fallthrough));
    case 2:
        attr.handled_access_fs &= ~FS_TRUNCATE;
        __attribute__((fallthrough));
    case 3:
        attr.handled_access_net = 0;
        *ret_size = offsetof(struct ruleset_attr, handled_access_net);
        __attribute__((fallthrough));
    case 4:
        attr.handled_access_fs &= ~FS_IOCTL_DEV;
        __attribute__((fallthrough));
    case 5:
        attr.scoped = 0;
        if (abi > 3) {
            *ret_size = offsetof(struct ruleset_attr, scoped);
        }
        break;
    default:
        break;
    }
    return attr;
}

static uint64_t
rights(enum csb_path_access access)
{
    switch (access) {
    case CSB_PATH_READ:
        return FS_READ_FILE | FS_READ_DIR;
    case CSB_PATH_LIST:
        return FS_READ_DIR;
    case CSB_PATH_READ_EXECUTE:
        return FS_READ_FILE | FS_READ_DIR | FS_EXECUTE;
    case CSB_PATH_EXECUTE:
        return FS_READ_FILE | FS_EXECUTE;
    case CSB_PATH_WRITE:
        return FS_READ_FILE | FS_READ_DIR | FS_WRITE_FILE | FS_TRUNCATE |
               FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_DIR | FS_MAKE_REG | FS_REFER;
    case CSB_PATH_DEVICE:
        return FS_READ_FILE | FS_WRITE_FILE;
    }
    return 0;
}

enum csb_path_kind
csb_landlock_kind(int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0) {
        return CSB_PATH_UNKNOWN;
    }
    return S_ISDIR(status.st_mode) ? CSB_PATH_FOLDER : CSB_PATH_FILE;
}

static int
add_rule(int ruleset, const struct csb_path_rule *rule, uint64_t handled_fs)
{
    struct landlock_path_beneath_attr beneath = {.parent_fd = rule->fd};
    uint64_t allowed = rights(rule->access) & handled_fs;
    const enum csb_path_kind kind =
        rule->kind == CSB_PATH_UNKNOWN ? csb_landlock_kind(rule->fd) : rule->kind;
    if (kind == CSB_PATH_UNKNOWN) {
        return -errno;
    }
    if (kind == CSB_PATH_FILE) {
        allowed &= FS_FILE;
    }
    if (allowed == 0) {
        return 0;
    }
    beneath.allowed_access = allowed;
    if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath,
                0) != 0) {
        return -errno;
    }
    return 0;
}

int
csb_landlock_begin(int abi)
{
    size_t size;
    struct ruleset_attr attr = handled(abi, &size);
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
    return ruleset < 0 ? -errno : ruleset;
}

int
csb_landlock_grant(int ruleset_fd, const struct csb_path_rule *rule, int abi)
{
    size_t size;
    return add_rule(ruleset_fd, rule, handled(abi, &size).handled_access_fs);
}

int
csb_landlock_build(const struct csb_path_rule *rules, size_t count, int abi,
                   int *ret_fd, struct csb_error *reterr)
{
    int ruleset = csb_landlock_begin(abi);
    int result = ruleset < 0 ? ruleset : 0;
    *ret_fd = -1;
    for (size_t i = 0; i < count && result == 0; i++) {
        result = csb_landlock_grant(ruleset, &rules[i], abi);
    }
    if (result < 0) {
        if (ruleset >= 0) {
            (void)close(ruleset);
        }
        return csb_fail(reterr, CSB_STEP_LANDLOCK, -result, "make the file rules: %s",
                        strerror(-result));
    }
    *ret_fd = ruleset;
    return 0;
}
