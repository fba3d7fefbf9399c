/* Theory of operation: runs in the caller, on a folder that nobody changes meanwhile. Every
 * step is relative to an open folder and follows no link; depth, number and size are bounded
 * before anything is copied. */
#include "folder_copy.h"

#include "disk.h"
#include "fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CHUNK = 256 * 1024,
    FOLDER_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
    FILE_FLAGS = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
    MODES = 07777,
};

struct level {
    DIR *from;
    int to;
    struct stat status; /* of `from`: what the copy is to look like in the end */
};

struct copy {
    struct level levels[CSB_DISK_DEPTH_MAX];
    size_t depth;
    uint64_t bytes_left;
    uint32_t entries_left;
    uint32_t owner;
    unsigned char *chunk;
};

static int
finish(int fd, const struct stat *status, uint32_t owner)
{
    const struct timespec times[2] = {status->st_atim, status->st_mtim};
    if ((owner != 0 && fchown(fd, owner, owner) != 0) ||
        fchmod(fd, status->st_mode & MODES) != 0 || futimens(fd, times) != 0) {
        return -errno;
    }
    return 0;
}

/* A descriptor or -errno. */
static int
open_in(int folder, const char *name, int flags)
{
    int fd = openat(folder, name, flags);
    return fd < 0 ? -errno : fd;
}

/* What was made closed to reading is opened for a moment: it is ours. */
static int
open_closed(int folder, const char *name, int flags, mode_t mode)
{
    int fd = open_in(folder, name, flags);
    if (fd != -EACCES) {
        return fd;
    }
    if (fchmodat(folder, name, 0700, 0) != 0) {
        return -errno;
    }
    fd = open_in(folder, name, flags);
    if (fchmodat(folder, name, mode & MODES, 0) != 0) {
        const int err = errno;
        csb_fd_close(&fd);
        return -err;
    }
    return fd;
}

static int
copy_range(struct copy *copy, int from, int to, off_t at, off_t end)
{
    while (at < end) {
        const off_t left = end - at;
        ssize_t count =
            pread(from, copy->chunk, left < CHUNK ? (size_t)left : CHUNK, at);
        if (count <= 0) {
            return count == 0 ? 0 : -errno;
        }
        if ((uint64_t)count > copy->bytes_left) {
            return -EDQUOT;
        }
        copy->bytes_left -= (uint64_t)count;
        for (ssize_t done = 0; done < count;) {
            ssize_t put =
                pwrite(to, copy->chunk + done, (size_t)(count - done), at + done);
            if (put < 0) {
                return -errno;
            }
            done += put;
        }
        at += count;
    }
    return 0;
}

static int
copy_content(struct copy *copy, int from, int to, off_t size)
{
    off_t at = 0;
    int result = ftruncate(to, size) == 0 ? 0 : -errno;
    while (result == 0 && at < size) {
        off_t begin = lseek(from, at, SEEK_DATA);
        off_t end = begin < 0 ? -1 : lseek(from, begin, SEEK_HOLE);
        if (begin < 0 && errno == ENXIO) {
            break; /* a hole until the end */
        }
        if (begin < 0 || end < 0) {
            begin = at; /* a file system that knows no holes */
            end = size;
        }
        result = copy_range(copy, from, to, begin, end < size ? end : size);
        at = end;
    }
    return result;
}

static int
copy_file(struct copy *copy, int from_folder, int to_folder, const char *name,
          const struct stat *status)
{
    CSB_CLEANUP(csb_fd_close)
    int from = open_closed(from_folder, name, FILE_FLAGS, status->st_mode);
    CSB_CLEANUP(csb_fd_close)
    int to = CSB_FD_NONE;
    int result;
    if (from < 0) {
        return from;
    }
    to = openat(to_folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                0600);
    if (to < 0) {
        return -errno;
    }
    result = copy_content(copy, from, to, status->st_size);
    return result == 0 ? finish(to, status, copy->owner) : result;
}

/* Takes both; either may be an -errno. */
static int
push(struct copy *copy, int from, int to, const struct stat *status)
{
    int result = from < 0 ? from : to < 0 ? to : 0;
    DIR *listing = NULL;
    if (result == 0 && copy->depth == CSB_DISK_DEPTH_MAX) {
        result = -EDQUOT;
    }
    if (result == 0) {
        listing = fdopendir(from);
        result = listing == NULL ? -errno : 0;
    }
    if (listing == NULL) {
        csb_fd_close(&from);
        csb_fd_close(&to);
        return result;
    }
    copy->levels[copy->depth++] = (struct level){listing, to, *status};
    return 0;
}

static int
enter(struct copy *copy, int from_folder, int to_folder, const char *name,
      const struct stat *status)
{
    if (mkdirat(to_folder, name, 0700) != 0) {
        return -errno;
    }
    return push(copy, open_closed(from_folder, name, FOLDER_FLAGS, status->st_mode),
                open_in(to_folder, name, FOLDER_FLAGS), status);
}

static int
copy_entry(struct copy *copy, const char *name)
{
    const struct level *level = &copy->levels[copy->depth - 1];
    const int from = dirfd(level->from);
    struct stat status;
    if (from < 0 || fstatat(from, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
        return -errno;
    }
    if (copy->entries_left-- == 0) {
        copy->entries_left = 0;
        return -EDQUOT;
    }
    if (S_ISDIR(status.st_mode)) {
        return enter(copy, from, level->to, name, &status);
    }
    /* No call that makes anything else is allowed to a child. */
    return S_ISREG(status.st_mode) ? copy_file(copy, from, level->to, name, &status)
                                   : -EINVAL;
}

/* The times of a folder are right when the last entry was made in it. */
static int
pop(struct copy *copy)
{
    struct level *level = &copy->levels[--copy->depth];
    int result = finish(level->to, &level->status, copy->owner);
    (void)closedir(level->from);
    csb_fd_close(&level->to);
    return result;
}

static int
walk(struct copy *copy)
{
    int result = 0;
    while (copy->depth > 0) {
        const struct dirent *entry = NULL;
        if (result == 0) {
            entry = readdir(copy->levels[copy->depth - 1].from);
        }
        if (entry == NULL) {
            int popped = pop(copy);
            result = result == 0 ? popped : result;
        } else if (strcmp(entry->d_name, ".") != 0 &&
                   strcmp(entry->d_name, "..") != 0) {
            result = copy_entry(copy, entry->d_name);
        }
    }
    return result;
}

int
csb_folder_copy(int from, int to, const struct csb_copy_bounds *bounds,
                struct csb_error *reterr)
{
    struct copy *copy = calloc(1, sizeof *copy);
    struct stat status;
    int result = -ENOMEM;
    if (copy != NULL) {
        copy->bytes_left = bounds->bytes;
        copy->entries_left = bounds->entries;
        copy->owner = bounds->owner;
        copy->chunk = malloc(CHUNK);
    }
    if (copy != NULL && copy->chunk != NULL) {
        result = fstat(from, &status) != 0
                     ? -errno
                     : push(copy, open_in(from, ".", FOLDER_FLAGS),
                            open_in(to, ".", FOLDER_FLAGS), &status);
    }
    if (result == 0) {
        result = walk(copy);
    }
    if (copy != NULL) {
        free(copy->chunk);
    }
    free(copy);
    return result == 0
               ? 0
               : csb_fail(reterr, CSB_STEP_SCRATCH, -result,
                          "copy the session's working folder: %s", strerror(-result));
}
