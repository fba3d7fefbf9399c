/* Theory of operation: runs in the caller. /proc/PID is opened once, while the process is
 * ours and can not have been replaced by another of the same number; everything is then
 * read relative to that descriptor (proc(5)). */
#include "procfs.h"

#include "fd.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Supplementary groups stand before the figures, up to eleven characters each. */
enum { STATUS_BYTES = 32 * 1024 };

void
csb_procfs_open(struct csb_procfs *procfs, pid_t pid)
{
    char path[32];
    *procfs = (struct csb_procfs){CSB_FD_NONE, CSB_FD_NONE};
    (void)snprintf(path, sizeof path, "/proc/%d", (int)pid);
    procfs->folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (procfs->folder >= 0) {
        procfs->status = openat(procfs->folder, "status", O_RDONLY | O_CLOEXEC);
    }
}

void
csb_procfs_close(struct csb_procfs *procfs)
{
    csb_fd_close(&procfs->folder);
    csb_fd_close(&procfs->status);
}

static ssize_t
read_text(int folder, const char *name, char *text, size_t size)
{
    CSB_CLEANUP(csb_fd_close)
    int fd = folder < 0 ? CSB_FD_NONE : openat(folder, name, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, size - 1);
    if (length > 0) {
        text[length] = '\0';
    }
    return length;
}

/* A process whose first thread has left by exit(2) while others run reads as empty: its
 * figures are then those of any thread that lives. */
static bool
read_of_living_thread(const struct csb_procfs *procfs, const char *file, char *text,
                      size_t size, const char *wanted)
{
    int tasks = procfs->folder < 0 ? CSB_FD_NONE
                                   : openat(procfs->folder, "task",
                                            O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = tasks < 0 ? NULL : fdopendir(tasks);
    const struct dirent *entry;
    bool found = false;
    if (listing == NULL) {
        csb_fd_close(&tasks);
        return false;
    }
    while (!found && (entry = readdir(listing)) != NULL) {
        char name[sizeof entry->d_name + 16];
        (void)snprintf(name, sizeof name, "%s/%s", entry->d_name, file);
        found = entry->d_name[0] != '.' &&
                read_text(dirfd(listing), name, text, size) > 0 &&
                (wanted == NULL ? strncmp(text, "0 ", 2) != 0
                                : strstr(text, wanted) != NULL);
    }
    (void)closedir(listing);
    return found;
}

uint64_t
csb_procfs_resident_bytes(const struct csb_procfs *procfs)
{
    char text[128];
    char *end;
    if (procfs->folder < 0 ||
        read_text(procfs->folder, "statm", text, sizeof text) <= 0) {
        return 0;
    }
    if (strncmp(text, "0 ", 2) == 0 &&
        !read_of_living_thread(procfs, "statm", text, sizeof text, NULL)) {
        return 0;
    }
    (void)strtoull(text, &end, 10);
    return strtoull(end, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* "VmHWM:\t   12345 kB" → bytes; 0 when the line is missing. */
static uint64_t
field_bytes(const char *status, const char *name)
{
    const char *line = strstr(status, name);
    return line == NULL ? 0 : strtoull(line + strlen(name), NULL, 10) * 1024;
}

bool
csb_procfs_memory(const struct csb_procfs *procfs, struct csb_memory *ret)
{
    static const char peak[] = "\nVmHWM:";
    char text[STATUS_BYTES];
    ssize_t length =
        procfs->status < 0 ? -1 : pread(procfs->status, text, sizeof text - 1, 0);
    *ret = (struct csb_memory){0};
    if (length <= 0) {
        return false;
    }
    text[length] = '\0';
    if (strstr(text, peak) == NULL &&
        !read_of_living_thread(procfs, "status", text, sizeof text, peak)) {
        return false;
    }
    ret->peak_bytes = field_bytes(text, peak);
    ret->private_bytes = field_bytes(text, "\nRssAnon:") +
                         field_bytes(text, "\nRssShmem:") +
                         field_bytes(text, "\nVmSwap:") + field_bytes(text, "\nVmPTE:");
    ret->shared_bytes = field_bytes(text, "\nRssShmem:");
    ret->data_bytes = field_bytes(text, "\nVmData:");
    return ret->peak_bytes != 0;
}

uint32_t
csb_procfs_threads(const struct csb_procfs *procfs)
{
    struct stat status;
    if (procfs->folder < 0 || fstatat(procfs->folder, "task", &status, 0) != 0 ||
        status.st_nlink < 2) {
        return UINT32_MAX;
    }
    /* One link for each thread, "." and "..": cheaper than listing the folder. */
    return (uint32_t)(status.st_nlink - 2);
}

bool
csb_procfs_has_thread(const struct csb_procfs *procfs, pid_t thread)
{
    char path[32];
    (void)snprintf(path, sizeof path, "task/%d", (int)thread);
    return procfs->folder >= 0 && faccessat(procfs->folder, path, F_OK, 0) == 0;
}
