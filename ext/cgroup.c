/* Theory of operation: runs in the caller. Trusts the kernel's files; a file that is missing
 * or says no is a reason, never an error. A leaf is named after its maker, so that one whose
 * maker was killed can be told from one that is about to be used. */
#include "cgroup.h"

#include "cgroup_place.h"
#include "fd.h"
#include "raw.h"
#include "trial.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PREFIX "csandbox-"

enum { TEXT_BYTES = 4096, STALE_S = 60, RACE_S = 2, REMOVE_TRIES = 9 };

void
csb_cgroup_init(struct csb_cgroup *cgroup)
{
    cgroup->fd = CSB_FD_NONE;
}

void
csb_cgroup_done(struct csb_cgroup *cgroup)
{
    csb_fd_close(&cgroup->fd);
}

void
csb_leaf_init(struct csb_leaf *leaf)
{
    *leaf = (struct csb_leaf){CSB_FD_NONE, CSB_FD_NONE, CSB_FD_NONE, ""};
}

static int
put(int folder, const char *name, const char *text)
{
    CSB_CLEANUP(csb_fd_close) int fd = openat(folder, name, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, text, strlen(text)) < 0) {
        return -errno;
    }
    return 0;
}

static int
put_number(int folder, const char *name, uint64_t number)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    return put(folder, name, text);
}

static bool
get(int folder, const char *name, char *text, size_t size)
{
    CSB_CLEANUP(csb_fd_close) int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, size - 1);
    text[length < 0 ? 0 : length] = '\0';
    return length >= 0;
}

/* Is a maker of that number alive? Its number may be another namespace's or used again, so
 * this is only asked together with an age. */
static bool
maker_lives(const char *name)
{
    long pid = strtol(name + strlen(PREFIX), NULL, 10);
    return pid > 0 && (kill((pid_t)pid, 0) == 0 || errno != ESRCH);
}

static bool
is_stale(int parent, const char *name)
{
    char path[300];
    char events[256];
    struct stat status;
    time_t age;
    (void)snprintf(path, sizeof path, "%s/cgroup.events", name);
    if (fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !get(parent, path, events, sizeof events) ||
        strstr(events, "populated 0") == NULL) {
        return false;
    }
    age = time(NULL) - status.st_mtime;
    return age >= STALE_S || (age >= RACE_S && !maker_lives(name));
}

/* Of one maker, whose end is known, or of all (0), who may just be about to use theirs. Returns how
 * many of the one are still in use. */
static size_t
sweep(int parent, pid_t maker)
{
    char prefix[sizeof PREFIX + 16] = PREFIX;
    size_t kept = 0;
    int own = fcntl(parent, F_DUPFD_CLOEXEC, 0);
    DIR *listing = own < 0 ? NULL : fdopendir(own);
    const struct dirent *entry;
    if (listing == NULL) {
        csb_fd_close(&own);
        return 0;
    }
    if (maker != 0) {
        (void)snprintf(prefix, sizeof prefix, PREFIX "%d-", (int)maker);
    }
    rewinddir(listing); /* the position is shared */
    while ((entry = readdir(listing)) != NULL) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
            (maker != 0 ? !maker_lives(entry->d_name)
                        : is_stale(parent, entry->d_name))) {
            kept += unlinkat(parent, entry->d_name, AT_REMOVEDIR) != 0 ? 1 : 0;
        }
    }
    (void)closedir(listing);
    return kept;
}

size_t
csb_cgroup_sweep_of(int folder_fd, pid_t maker)
{
    return sweep(folder_fd, maker);
}

uint64_t
csb_leaf_memory_max(uint64_t limit_bytes, uint64_t disk_bytes)
{
    enum { MIB = 1024 * 1024, HEADROOM_MIB = 64 };
    return limit_bytes + limit_bytes / 4 + disk_bytes + (uint64_t)HEADROOM_MIB * MIB;
}

static int
make(struct csb_leaf *leaf, int parent, uint64_t memory_bytes, uint64_t tasks)
{
    uint64_t random = 0;
    int result;
    csb_leaf_init(leaf);
    leaf->parent_fd = parent;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) {
        return -errno;
    }
    (void)snprintf(leaf->name, sizeof leaf->name, PREFIX "%d-%016llx", (int)getpid(),
                   (unsigned long long)random);
    if (mkdirat(parent, leaf->name, 0755) != 0) {
        result = -errno;
        leaf->name[0] = '\0';
        return result;
    }
    leaf->fd = openat(parent, leaf->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    result = leaf->fd < 0 ? -errno : put_number(leaf->fd, "memory.max", memory_bytes);
    if (result == 0) {
        result = put_number(leaf->fd, "pids.max", tasks);
    }
    if (result == 0) {
        /* no such file on a kernel without swap accounting */
        result = put(leaf->fd, "memory.swap.max", "0");
        result = result == -ENOENT ? 0 : result;
    }
    if (result == 0) {
        int fd = openat(leaf->fd, "cgroup.procs", O_RDWR | O_CLOEXEC);
        leaf->procs_fd = fd < 0 ? -errno : csb_fd_raise(fd);
        result = leaf->procs_fd < 0 ? leaf->procs_fd : 0;
    }
    if (result < 0) {
        csb_leaf_end(leaf);
    }
    return result;
}

int
csb_leaf_make(struct csb_leaf *leaf, const struct csb_cgroup *cgroup,
              uint64_t memory_bytes, uint64_t tasks, struct csb_error *reterr)
{
    int result = make(leaf, cgroup->fd, memory_bytes, tasks);
    return result == 0 ? 0
                       : csb_fail(reterr, CSB_STEP_CGROUP, -result,
                                  "make a control group: %s", strerror(-result));
}

int
csb_leaf_take(const struct csb_leaf *leaf, pid_t pid)
{
    char text[16];
    int length = snprintf(text, sizeof text, "%d", (int)pid);
    return write(leaf->procs_fd, text, (size_t)length) < 0 ? -errno : 0;
}

bool
csb_leaf_holds(const struct csb_leaf *leaf, pid_t pid)
{
    char text[TEXT_BYTES];
    const char *at = text;
    if (leaf->procs_fd < 0 || !get(leaf->fd, "cgroup.procs", text, sizeof text)) {
        return false;
    }
    while (*at != '\0') {
        char *end;
        long listed = strtol(at, &end, 10);
        if (listed == pid) {
            return true;
        }
        at = *end == '\0' ? end : end + 1;
    }
    return false;
}

bool
csb_leaf_out_of_memory(const struct csb_leaf *leaf)
{
    char text[TEXT_BYTES];
    const char *line;
    if (leaf->fd < 0 || !get(leaf->fd, "memory.events", text, sizeof text)) {
        return false;
    }
    line = strstr(text, "oom_kill ");
    return line != NULL && strtoul(line + strlen("oom_kill "), NULL, 10) > 0;
}

void
csb_leaf_end(struct csb_leaf *leaf)
{
    struct timespec pause = {0, 1000000};
    if (leaf->name[0] != '\0') {
        bool busy =
            unlinkat(leaf->parent_fd, leaf->name, AT_REMOVEDIR) != 0 && errno == EBUSY;
        /* Somebody is in it: only a child that was given up, since the filter knows no fork.
         * What can not be removed now is stale for the next policy. */
        if (busy && leaf->fd >= 0) {
            (void)put(leaf->fd, "cgroup.kill", "1"); /* Linux 5.14 */
        }
        for (int i = 0; i < REMOVE_TRIES && busy; i++) {
            (void)nanosleep(&pause, NULL);
            pause.tv_nsec *= 2; /* half a second in all, on a slow machine */
            busy = unlinkat(leaf->parent_fd, leaf->name, AT_REMOVEDIR) != 0 &&
                   errno == EBUSY;
        }
    }
    csb_fd_close(&leaf->fd);
    csb_fd_close(&leaf->procs_fd);
    csb_leaf_init(leaf);
}

static int
enter_leaf(void *argument)
{
    const struct csb_leaf *leaf = argument;
    long result = csb_syscall(SYS_write, leaf->procs_fd, "0", 1);
    (void)csb_syscall(SYS_exit_group, result < 0 ? -result : 0);
    __builtin_unreachable();
}

/* Can a child of ours be put into a leaf of this folder? */
static int
try_folder(int parent)
{
    struct csb_leaf leaf;
    int result = make(&leaf, parent, csb_leaf_memory_max(0, 0), 8);
    if (result == 0) {
        result = csb_trial_run(enter_leaf, &leaf);
        csb_leaf_end(&leaf);
    }
    return result;
}

bool
csb_cgroup_find(struct csb_cgroup *cgroup, char *why, size_t size)
{
    struct csb_cgroup_place place;
    int fd;
    if (!csb_cgroup_place_first(&place, why, size)) {
        return false;
    }
    while ((fd = csb_cgroup_place_next(&place)) >= 0) {
        int result;
        (void)sweep(fd, 0);
        result = try_folder(fd);
        if (result == 0) {
            cgroup->fd = csb_fd_raise(fd);
            if (cgroup->fd < 0) {
                (void)snprintf(why, size, "no descriptor is left");
            }
            return cgroup->fd >= 0;
        }
        (void)close(fd);
    }
    (void)snprintf(why, size,
                   "no delegated cgroup with memory and pids at or above %s (systemd: "
                   "Delegate=yes, DelegateSubgroup=)",
                   place.own);
    return false;
}
