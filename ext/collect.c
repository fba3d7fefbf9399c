/* Theory of operation: runs in the caller when the child is dead, before its scratch folder
 * is removed. The names and what is behind them are hostile. Each step opens one name below
 * an open folder with O_NOFOLLOW, so nothing outside can be reached whatever the names are
 * (what openat2's RESOLVE_BENEATH and NO_SYMLINKS give for whole paths). A thing is looked at
 * before it is opened, since opening a device can act, and again afterwards. */
#include "collect.h"

#include "fd.h"
#include "pattern.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PATH_BYTES = (CSB_COLLECT_DEPTH_MAX + 1) * (NAME_MAX + 1),
    FILE_FLAGS = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
    FOLDER_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
};

static const char too_much[] = "more than may be collected in sum";
static const char no_memory[] = "no memory to hold it";

struct walk {
    struct csb_collection *collection;
    char path[PATH_BYTES]; /* of the entry that is looked at */
};

static void
item_done(struct csb_collected *item)
{
    free(item->name);
    free(item->bytes);
}

void
csb_collection_done(struct csb_collection *collection)
{
    for (size_t i = 0; i < collection->count; i++) {
        item_done(&collection->items[i]);
    }
    free(collection->items);
    collection->items = NULL;
    collection->count = 0;
}

/* Takes `item->bytes`. Without memory for the entry it is only counted. */
static void
add(struct walk *walk, struct csb_collected item)
{
    struct csb_collection *collection = walk->collection;
    struct csb_collected *grown = NULL;
    size_t skipped = collection->count - collection->taken;
    if (item.skipped == NULL || skipped < CSB_COLLECT_SKIPPED_MAX) {
        item.name = strdup(walk->path);
        grown = item.name == NULL ? NULL
                                  : realloc(collection->items,
                                            (collection->count + 1) * sizeof *grown);
    }
    if (grown == NULL) {
        item_done(&item);
        collection->unnamed++;
        return;
    }
    collection->items = grown;
    collection->items[collection->count++] = item;
    if (item.skipped == NULL) {
        collection->taken++;
        collection->taken_bytes += item.count;
    }
}

static void
skip(struct walk *walk, const char *reason)
{
    add(walk, (struct csb_collected){.skipped = reason});
}

static const char *
odd_kind(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
        return NULL;
    case S_IFLNK:
        return "a symbolic link";
    case S_IFIFO:
        return "a FIFO";
    case S_IFSOCK:
        return "a socket";
    default:
        return "a device";
    }
}

/* The program may have left it without a right to read; the folder is ours. */
static int
open_entry(int folder, const char *name, int flags)
{
    int fd = openat(folder, name, flags);
    if (fd < 0 && errno == EACCES &&
        fchmodat(folder, name, 0700, AT_SYMLINK_NOFOLLOW) == 0) {
        fd = openat(folder, name, flags);
    }
    return fd;
}

/* Its size when opened; a file that shrinks meanwhile ends earlier. */
static const char *
read_whole(int fd, size_t size, struct csb_collected *ret)
{
    ret->bytes = malloc(size + 1);
    if (ret->bytes == NULL) {
        return no_memory;
    }
    while (ret->count < size) {
        ssize_t got = read(fd, ret->bytes + ret->count, size - ret->count);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return "it could not be read";
        }
        if (got == 0) {
            break;
        }
        ret->count += (size_t)got;
    }
    return NULL;
}

static void
take_file(struct walk *walk, int folder, const char *name)
{
    const struct csb_collection *collection = walk->collection;
    CSB_CLEANUP(csb_fd_close) int fd = CSB_FD_NONE;
    struct csb_collected item = {.skipped = NULL};
    uint64_t room = CSB_COLLECT_BYTES_MAX - collection->taken_bytes;
    struct stat status;
    if (collection->taken == CSB_COLLECT_FILES_MAX) {
        skip(walk, "more files than may be collected");
        return;
    }
    fd = open_entry(folder, name, FILE_FLAGS);
    if (fd < 0 || fstat(fd, &status) != 0) {
        skip(walk, "it could not be opened");
        return;
    }
    item.skipped = odd_kind(status.st_mode);
    if (item.skipped == NULL && (uint64_t)status.st_size > room) {
        item.skipped = too_much;
    }
    if (item.skipped == NULL) {
        item.skipped = read_whole(fd, (size_t)status.st_size, &item);
    }
    if (item.skipped != NULL) {
        free(item.bytes);
        item.bytes = NULL;
        item.count = 0;
    }
    add(walk, item);
}

static unsigned
wanted(const struct walk *walk)
{
    const struct csb_strings *patterns = walk->collection->patterns;
    unsigned found = 0;
    for (size_t i = 0; i < patterns->count; i++) {
        found |= csb_pattern_match(patterns->items[i], walk->path);
    }
    return found;
}

/* A name that would do harm in a terminal or a listing, or is no text. */
static bool
presentable(const char *name)
{
    const unsigned char *at = (const unsigned char *)name;
    while (*at != '\0') {
        size_t more = *at >= 0xF0 ? 3 : *at >= 0xE0 ? 2 : *at >= 0xC2 ? 1 : 0;
        if (*at < ' ' || *at == 0x7F || (*at >= 0x80 && *at < 0xC2) || *at > 0xF4 ||
            (*at == 0xC2 && at[1] < 0xA0)) {
            return false;
        }
        for (at++; more > 0; more--, at++) {
            if ((*at & 0xC0) != 0x80) {
                return false;
            }
        }
    }
    return true;
}

static void walk_folder(struct walk *walk, int *fd, size_t length, unsigned depth);

static void
look_at(struct walk *walk, int folder, const char *name, size_t length, unsigned depth)
{
    struct stat status;
    unsigned found = wanted(walk);
    if (found == 0 || fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
        return;
    }
    if (S_ISDIR(status.st_mode)) {
        int inner = CSB_FD_NONE;
        if (!(found & CSB_PATTERN_REACHES)) {
            return; /* a folder is no file: a pattern that names it means nothing */
        }
        inner = depth + 1 < CSB_COLLECT_DEPTH_MAX
                    ? open_entry(folder, name, FOLDER_FLAGS)
                    : CSB_FD_NONE;
        if (inner < 0) {
            skip(walk, depth + 1 < CSB_COLLECT_DEPTH_MAX
                           ? "a folder that could not be opened"
                           : "a folder deeper than is looked into");
            return;
        }
        walk_folder(walk, &inner, length, depth + 1);
    } else if (found & CSB_PATTERN_MATCHES) {
        const char *odd = odd_kind(status.st_mode);
        if (odd == NULL && !presentable(walk->path)) {
            odd = "its name has control characters or is not UTF-8";
        }
        if (odd != NULL) {
            skip(walk, odd);
        } else {
            take_file(walk, folder, name);
        }
    }
}

static int
by_name(const void *one, const void *other)
{
    return strcmp(*(char *const *)one, *(char *const *)other);
}

/* The names in a folder, as many as may still be looked at. */
static void
read_names(struct walk *walk, DIR *listing, struct csb_strings *ret)
{
    struct csb_collection *collection = walk->collection;
    const struct dirent *entry;
    while ((entry = readdir(listing)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        if (collection->entries == CSB_COLLECT_ENTRIES_MAX ||
            csb_strings_add(ret, entry->d_name) < 0) {
            collection->cut_short = true;
            return;
        }
        collection->entries++;
    }
}

/* Takes *fd. `length`: of the folder's path in walk->path. As deep as DEPTH_MAX. */
static void
walk_folder(struct walk *walk, int *fd, size_t length, unsigned depth)
{
    CSB_CLEANUP(csb_strings_done) struct csb_strings names = {NULL, 0};
    const int folder = *fd; /* open as long as the listing is */
    DIR *listing = fdopendir(folder);
    if (listing == NULL) {
        csb_fd_close(fd);
        skip(walk, no_memory);
        return;
    }
    rewinddir(listing);
    read_names(walk, listing, &names);
    if (names.count > 1) {
        qsort(names.items, names.count, sizeof *names.items, by_name);
    }
    for (size_t i = 0; i < names.count; i++) {
        int added = snprintf(walk->path + length, sizeof walk->path - length, "%s%s",
                             length > 0 ? "/" : "", names.items[i]);
        if (added > 0 && (size_t)added < sizeof walk->path - length) {
            look_at(walk, folder, names.items[i], length + (size_t)added, depth);
        }
    }
    walk->path[length] = '\0';
    (void)closedir(listing);
}

void
csb_collect(struct csb_collection *collection, int folder)
{
    struct walk walk;
    int own;
    if (collection->patterns == NULL || collection->patterns->count == 0 ||
        folder < 0) {
        return;
    }
    walk.collection = collection;
    walk.path[0] = '\0';
    own = openat(folder, ".", FOLDER_FLAGS); /* a position of its own */
    if (own < 0) {
        collection->cut_short = true;
        return;
    }
    walk_folder(&walk, &own, 0, 0);
}
