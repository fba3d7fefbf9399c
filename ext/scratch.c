/* Theory of operation: runs in the caller, before a child exists (make, write) and after it
 * is dead (remove). What is removed was made by hostile code: no path of it is followed,
 * every step is relative to a descriptor with O_NOFOLLOW, and no depth, count or mode can
 * make it recurse or stop. Trees are flattened: a folder found inside a folder is renamed to
 * the top and emptied in its turn, so the deepest path ever used has two parts. */
#include "scratch.h"

#include "fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDER_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, RETRIES = 16 };

static int
scratch_error(struct csb_error *reterr, int err, const char *verb, const char *object)
{
    return csb_fail(reterr, CSB_STEP_SCRATCH, err, "%s %s: %s", verb, object,
                    strerror(err));
}

static int
give_away(int fd, uint32_t owner)
{
    return owner != 0 && fchown(fd, owner, owner) != 0 ? -errno : 0;
}

/* Open the folder that was just made and lock it, for as long as this process has it open:
 * a folder that is not locked is stale, and swept (sweep.c). Another process may sweep it in
 * between: then it is locked, or gone, and another must be made (-EAGAIN). */
static int
claim(struct csb_scratch *scratch)
{
    struct stat status;
    scratch->fd = openat(scratch->base_fd, scratch->name, FOLDER_FLAGS);
    if (scratch->fd < 0) {
        int err = errno;
        (void)unlinkat(scratch->base_fd, scratch->name, AT_REMOVEDIR); /* still empty */
        return err == ENOENT ? -EAGAIN : -err;
    }
    /* Where there are no locks (ENOLCK, EBADF) nobody sweeps either. */
    if (flock(scratch->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        csb_fd_close(&scratch->fd);
        return -EAGAIN;
    }
    if (give_away(scratch->fd, scratch->owner) < 0 ||
        fstat(scratch->fd, &status) != 0) {
        int err = errno;
        /* Still empty. csb_scratch_remove would not know it for ours. */
        (void)unlinkat(scratch->base_fd, scratch->name, AT_REMOVEDIR);
        return -err;
    }
    if (status.st_nlink == 0) {
        csb_fd_close(&scratch->fd);
        return -EAGAIN;
    }
    scratch->device = status.st_dev;
    scratch->inode = status.st_ino;
    return 0;
}

static int
make_one(struct csb_scratch *scratch, const char *base)
{
    uint64_t random = 0;
    int length;
    int result;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) {
        return -errno;
    }
    length = snprintf(scratch->path, sizeof scratch->path, "%s/%s%016llx", base,
                      CSB_SCRATCH_PREFIX, (unsigned long long)random);
    if (length < 0 || (size_t)length >= sizeof scratch->path) {
        return -ENAMETOOLONG;
    }
    if (mkdir(scratch->path, 0700) != 0) {
        return errno == EEXIST ? -EAGAIN : -errno;
    }
    scratch->name = strrchr(scratch->path, '/') + 1;
    result = claim(scratch);
    if (result < 0) {
        scratch->name = NULL;
    }
    return result;
}

int
csb_scratch_make(struct csb_scratch *scratch, const char *base, uint32_t owner,
                 struct csb_error *reterr)
{
    int result = -EAGAIN;
    *scratch =
        (struct csb_scratch){.base_fd = CSB_FD_NONE, .fd = CSB_FD_NONE, .owner = owner};
    scratch->base_fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (scratch->base_fd < 0) {
        return scratch_error(reterr, errno, "open", base);
    }
    for (int i = 0; i < RETRIES && result == -EAGAIN; i++) {
        result = make_one(scratch, base);
    }
    return result == 0 ? 0 : scratch_error(reterr, -result, "make a folder in", base);
}

/* Length of the first part of a name, 0 when the name is not acceptable there. */
static size_t
first_part(const char *name)
{
    size_t length = strcspn(name, "/");
    if (length > NAME_MAX || (length == 1 && name[0] == '.') ||
        (length == 2 && name[0] == '.' && name[1] == '.')) {
        return 0;
    }
    return length;
}

/* Step into a folder of the name, made when missing; closes *fd and replaces it. */
static int
enter(int *fd, const char *part, uint32_t owner)
{
    int next;
    if (mkdirat(*fd, part, 0700) != 0 && errno != EEXIST) {
        return -errno;
    }
    next = openat(*fd, part, FOLDER_FLAGS);
    if (next < 0) {
        return -errno;
    }
    csb_fd_close(fd);
    *fd = next;
    return give_away(next, owner);
}

int
csb_scratch_write(struct csb_scratch *scratch, const char *name, const void *bytes,
                  size_t count, struct csb_error *reterr)
{
    CSB_CLEANUP(csb_fd_close) int folder = fcntl(scratch->fd, F_DUPFD_CLOEXEC, 0);
    CSB_CLEANUP(csb_fd_close) int file = CSB_FD_NONE;
    const char *rest = name;
    int result = folder < 0 ? -errno : 0;
    for (int depth = 0; result == 0; depth++) {
        char part[NAME_MAX + 1];
        size_t length = first_part(rest);
        if (length == 0 || depth == CSB_SCRATCH_DEPTH_MAX) {
            return csb_fail(reterr, CSB_STEP_ARGUMENT, EINVAL,
                            "file name '%s': not a relative path without '.' and '..'",
                            name);
        }
        if (rest[length] == '\0') {
            break;
        }
        memcpy(part, rest, length);
        part[length] = '\0';
        result = enter(&folder, part, scratch->owner);
        rest += length + 1;
    }
    if (result == 0) {
        file = openat(folder, rest,
                      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        result = file < 0 ? -errno : give_away(file, scratch->owner);
    }
    if (result == 0) {
        result = csb_fd_write_all(file, bytes, count);
    }
    return result < 0 ? scratch_error(reterr, -result, "write", name) : 0;
}

/* Folders that were moved to the top: how many, under a name that hostile code could not
 * have guessed and taken. */
struct moved {
    uint64_t seed;
    uint64_t count;
};

/* Make a folder one that can be entered and moved. A failure shows in the next step. */
static void
open_up(int folder, const char *name)
{
    if (fchmodat(folder, name, 0700, AT_SYMLINK_NOFOLLOW) != 0) {
        errno = 0;
    }
}

/* Remove one entry of a folder, or move it to the top when it is a folder with something
 * in it. Moving needs write permission on the moved folder itself (rename(2)). */
static void
remove_entry(int folder, const char *name, int top, struct moved *moved)
{
    char target[64];
    if (unlinkat(folder, name, 0) == 0 || unlinkat(folder, name, AT_REMOVEDIR) == 0 ||
        folder == top) {
        return;
    }
    open_up(folder, name);
    (void)snprintf(target, sizeof target, ".gone-%016llx-%llu",
                   (unsigned long long)moved->seed, (unsigned long long)moved->count);
    if (renameat(folder, name, top, target) == 0) {
        moved->count++;
    }
}

/* Remove what is in an open folder. Returns how many entries were seen. */
static size_t
empty(int fd, int top, struct moved *moved)
{
    size_t seen = 0;
    const struct dirent *entry;
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    DIR *listing = own < 0 ? NULL : fdopendir(own);
    if (listing == NULL) {
        csb_fd_close(&own);
        return 0;
    }
    rewinddir(listing); /* the position is shared with fd */
    while ((entry = readdir(listing)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        seen++;
        if (fd == top) {
            CSB_CLEANUP(csb_fd_close) int inner = CSB_FD_NONE;
            open_up(top, entry->d_name);
            inner = openat(top, entry->d_name, FOLDER_FLAGS);
            if (inner >= 0) {
                (void)empty(inner, top, moved);
            }
        }
        remove_entry(fd, entry->d_name, top, moved);
    }
    (void)closedir(listing);
    return seen;
}

static bool
is_the_same(const struct csb_scratch *scratch)
{
    struct stat status;
    return scratch->fd >= 0 && scratch->name != NULL &&
           fstat(scratch->fd, &status) == 0 && status.st_dev == scratch->device &&
           status.st_ino == scratch->inode &&
           fstatat(scratch->base_fd, scratch->name, &status, AT_SYMLINK_NOFOLLOW) ==
               0 &&
           status.st_dev == scratch->device && status.st_ino == scratch->inode;
}

/* Until a pass finds nothing; a pass that removes nothing can not help further. */
static void
empty_repeatedly(struct csb_scratch *scratch)
{
    struct moved moved = {0, 0};
    size_t before = SIZE_MAX;
    (void)fchmod(scratch->fd,
                 0700); /* the home of a family (family.h) is closed to writing */
    if (getrandom(&moved.seed, sizeof moved.seed, 0) != (ssize_t)sizeof moved.seed) {
        moved.seed = (uint64_t)(uintptr_t)scratch->name; /* as good as no guess */
    }
    for (;;) {
        uint64_t moved_before = moved.count;
        size_t seen = empty(scratch->fd, scratch->fd, &moved);
        if (seen == 0 || (seen >= before && moved.count == moved_before)) {
            break;
        }
        before = seen;
    }
}

void
csb_scratch_remove(struct csb_scratch *scratch)
{
    if (is_the_same(scratch) &&
        unlinkat(scratch->base_fd, scratch->name, AT_REMOVEDIR) != 0) {
        empty_repeatedly(scratch);
        (void)unlinkat(scratch->base_fd, scratch->name, AT_REMOVEDIR);
    }
    csb_fd_close(&scratch->fd);
    csb_fd_close(&scratch->base_fd);
    scratch->name = NULL;
}

void
csb_scratch_move(struct csb_scratch *to, struct csb_scratch *from)
{
    *to = *from;
    if (from->name != NULL) {
        /* it points into the struct that was copied */
        to->name = to->path + (from->name - from->path);
    }
    from->fd = from->base_fd = CSB_FD_NONE;
    from->name = NULL;
}
