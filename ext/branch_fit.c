/* Theory of operation: runs in the caller's supervisor loop. /proc/PID/fd may not be listed by
 * an unprivileged caller, since the child is not dumpable; its size is their number since Linux
 * 6.2. What can not be seen is taken for unfit. */
#include "branch_fit.h"

#include "fd.h"
#include "plan.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OWN_FDS = CSB_CHANNEL_FD + 1, STAT_BYTES = 512, STATUS_BYTES = 32 * 1024 };

/* -1: not to be seen. */
static long
open_descriptors(const struct csb_procfs *procfs)
{
    struct stat status;
    int folder;
    DIR *listing;
    long count = 0;
    const struct dirent *entry;
    if (procfs->folder < 0 || fstatat(procfs->folder, "fd", &status, 0) != 0) {
        return -1;
    }
    if (status.st_size > 0) {
        return (long)status.st_size;
    }
    folder = openat(procfs->folder, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    listing = folder < 0 ? NULL : fdopendir(folder);
    if (listing == NULL) {
        csb_fd_close(&folder);
        return -1;
    }
    while ((entry = readdir(listing)) != NULL) {
        count += entry->d_name[0] != '.';
    }
    (void)closedir(listing);
    return count;
}

bool
csb_branch_fit(const struct csb_procfs *procfs, char *why, size_t size)
{
    const uint32_t threads = csb_procfs_threads(procfs);
    const long fds = open_descriptors(procfs);
    why[0] = '\0';
    if (threads == UINT32_MAX || fds < 0) {
        (void)snprintf(
            why, size,
            "this machine does not show how many threads and open files it has "
            "(Linux 6.2 is needed, or root)");
    } else if (threads != 1) {
        (void)snprintf(
            why, size,
            "it has %lu threads, and only one of them would live on in a branch: "
            "end or join the others",
            (unsigned long)threads);
    } else if (fds != OWN_FDS) {
        (void)snprintf(
            why, size,
            "it has %ld open files (or pipes, sockets) of its own, which a branch "
            "would share with it: close them",
            fds - OWN_FDS);
    }
    return why[0] == '\0';
}

static bool
read_status(const struct csb_procfs *procfs, char *text, size_t size)
{
    ssize_t length;
    int fd = procfs->folder < 0
                 ? CSB_FD_NONE
                 : openat(procfs->folder, "status", O_RDONLY | O_CLOEXEC);
    length = fd < 0 ? 0 : read(fd, text, size - 1);
    csb_fd_close(&fd);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* The value of "\nName:", up to the end of its line; length 0 when the kernel has none. */
static const char *
value_of(const char *status, const char *name, size_t *ret_length)
{
    const char *line = strstr(status, name);
    *ret_length = line == NULL ? 0 : strcspn(line + 1, "\n");
    return line == NULL ? "" : line + 1;
}

bool
csb_branch_alike(const struct csb_procfs *one, const struct csb_procfs *other)
{
    /* A name can not hold a line feed as it stands there, so none of these can be forged. */
    static const char *const names[] = {
        "\nUid:",        "\nGid:",     "\nGroups:",         "\nCapInh:",
        "\nCapPrm:",     "\nCapEff:",  "\nCapBnd:",         "\nCapAmb:",
        "\nNoNewPrivs:", "\nSeccomp:", "\nSeccomp_filters:"};
    char first[STATUS_BYTES];
    char second[STATUS_BYTES];
    if (!read_status(one, first, sizeof first) ||
        !read_status(other, second, sizeof second)) {
        return false;
    }
    for (size_t i = 0; i < CSB_ARRAY_LEN(names); i++) {
        size_t length;
        size_t other_length;
        const char *value = value_of(first, names[i], &length);
        const char *same = value_of(second, names[i], &other_length);
        if (length != other_length || memcmp(value, same, length) != 0) {
            return false;
        }
    }
    return true;
}

/* "pid (name) state parent group …"; the name may hold anything. */
bool
csb_kin_of(pid_t pid, struct csb_kin *ret)
{
    char text[STAT_BYTES];
    char path[64];
    char *at;
    ssize_t length;
    int fd;
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    length = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    csb_fd_close(&fd);
    text[length > 0 ? length : 0] = '\0';
    at = strrchr(text, ')');
    if (at == NULL || strlen(at) < 4) {
        return false;
    }
    ret->parent = (pid_t)strtol(at + 4, &at, 10);
    ret->group = (pid_t)strtol(at, NULL, 10);
    return ret->parent > 0 && ret->group > 0;
}
