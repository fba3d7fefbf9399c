/* Theory of operation: runs in the caller's supervisor loop. The names come from the kernel:
 * /proc/PID/fd/N and /proc/PID/maps give the path that a file had, with " (deleted)" after it.
 * All threads have one table of descriptors (no thread may leave it, see syscalls.c), so that
 * of any living thread is the process's; the first thread may have left by exit(2). */
#include "deleted_files.h"

#include "fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STAT_UNIT = 512, FILES_MAX = 1 << 16 };

struct held {
    uint64_t inode;
    uint64_t bytes;
};

struct list {
    struct held *items;
    size_t count;
};

static void
list_done(struct list *list)
{
    free(list->items);
}

/* What there is no memory for is not counted at this look. */
static void
add(struct list *list, uint64_t inode, uint64_t bytes)
{
    struct held *grown;
    if (list->count == FILES_MAX) {
        return;
    }
    grown = list->count & (list->count - 1)
                ? list->items
                : realloc(list->items,
                          (list->count == 0 ? 1 : list->count * 2) * sizeof *grown);
    if (grown != NULL) {
        list->items = grown;
        list->items[list->count++] = (struct held){inode, bytes};
    }
}

static bool
was_deleted(const char *path, size_t length, const char *name)
{
    static const char mark[] = " (deleted)";
    const size_t mark_length = sizeof mark - 1;
    return length > mark_length && strstr(path, name) != NULL &&
           memcmp(path + length - mark_length, mark, mark_length) == 0;
}

static size_t
add_open(struct list *list, int thread, const char *name)
{
    int folder = openat(thread, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = folder < 0 ? NULL : fdopendir(folder);
    const struct dirent *entry;
    size_t seen = 0;
    if (listing == NULL) {
        csb_fd_close(&folder);
        return 0;
    }
    while ((entry = readdir(listing)) != NULL) {
        char path[PATH_MAX + 16];
        struct stat status;
        ssize_t length;
        bool ours;
        if (entry->d_name[0] == '.') {
            continue;
        }
        length = readlinkat(folder, entry->d_name, path, sizeof path - 1);
        if (length < 0 && errno != ENAMETOOLONG) {
            continue;
        }
        seen++;
        path[length < 0 ? 0 : length] = '\0';
        /* Only in the run's own folder can a path be made that is too long to be told. */
        ours = length < 0 || was_deleted(path, (size_t)length, name);
        if (ours && fstatat(folder, entry->d_name, &status, 0) == 0 &&
            S_ISREG(status.st_mode)) {
            add(list, status.st_ino, (uint64_t)status.st_blocks * STAT_UNIT);
        }
    }
    (void)closedir(listing);
    return seen;
}

/* Of a line "start-end rights offset device inode   path". */
static bool
read_inode(const char *line, uint64_t *ret)
{
    const char *at = line;
    char *end;
    for (int field = 0; field < 4; field++) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    *ret = strtoull(at, &end, 10);
    return end != at;
}

static size_t
add_mapped(struct list *list, int thread, const char *name, uint64_t file_bytes)
{
    int fd = openat(thread, "maps", O_RDONLY | O_CLOEXEC);
    FILE *maps = fd < 0 ? NULL : fdopen(fd, "r");
    char *line = NULL;
    size_t room = 0;
    size_t seen = 0;
    ssize_t length;
    if (maps == NULL) {
        csb_fd_close(&fd);
        return 0;
    }
    while ((length = getline(&line, &room, maps)) > 0) {
        uint64_t inode = 0;
        seen++;
        if (line[length - 1] == '\n') {
            line[--length] = '\0';
        }
        if (was_deleted(line, (size_t)length, name) && read_inode(line, &inode)) {
            add(list, inode, file_bytes);
        }
    }
    free(line);
    (void)fclose(maps);
    return seen;
}

static int
by_inode(const void *one, const void *other)
{
    const struct held *a = one;
    const struct held *b = other;
    if (a->inode != b->inode) {
        return a->inode < b->inode ? -1 : 1;
    }
    return a->bytes < b->bytes ? -1 : a->bytes > b->bytes;
}

/* Each file once: a file that is open has its real size, which is the smaller number. */
static uint64_t
sum(struct list *list)
{
    uint64_t bytes = 0;
    if (list->count > 1) {
        qsort(list->items, list->count, sizeof *list->items, by_inode);
    }
    for (size_t i = 0; i < list->count; i++) {
        if (i == 0 || list->items[i].inode != list->items[i - 1].inode) {
            bytes += list->items[i].bytes;
        }
    }
    return bytes;
}

uint64_t
csb_deleted_bytes(const struct csb_procfs *procfs, const char *name,
                  uint64_t file_bytes)
{
    CSB_CLEANUP(list_done) struct list list = {NULL, 0};
    int tasks = procfs->folder < 0 ? CSB_FD_NONE
                                   : openat(procfs->folder, "task",
                                            O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = tasks < 0 ? NULL : fdopendir(tasks);
    const struct dirent *entry;
    size_t open_seen = 0;
    size_t maps_seen = 0;
    if (listing == NULL) {
        csb_fd_close(&tasks);
        return 0;
    }
    while ((maps_seen == 0 || open_seen == 0) && (entry = readdir(listing)) != NULL) {
        CSB_CLEANUP(csb_fd_close)
        int thread = entry->d_name[0] == '.' ? CSB_FD_NONE
                                             : openat(tasks, entry->d_name,
                                                      O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (thread >= 0 && open_seen == 0) {
            open_seen = add_open(&list, thread, name);
        }
        if (thread >= 0 && maps_seen == 0) {
            maps_seen = add_mapped(&list, thread, name, file_bytes);
        }
    }
    (void)closedir(listing);
    return sum(&list);
}
