/* Theory of operation: runs in the caller's supervisor loop, beside a child that may do
 * anything to the folder meanwhile except make, link or rename something in it. Sizes are
 * allocated blocks, so sparse files cost what they cost. Every step is relative to an open
 * folder and follows no link; what the child closed to reading is opened up, it is ours. */
#include "disk.h"

#include "clock.h"
#include "deleted_files.h"
#include "fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define BLOCK UINT64_C(4096)
/* Faster than memory is written to; fallocate(2), which is faster, is counted at once. */
#define BYTES_PER_NS UINT64_C(8)
#define SHORTEST_PAUSE_NS (2 * CSB_NS_PER_MS)
#define LONGEST_PAUSE_NS (160 * CSB_NS_PER_MS)

enum {
    STAT_UNIT = 512,
    COST_FACTOR = 10, /* looking takes at most a tenth of a core */
    FOLDER_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
};

struct sum {
    uint64_t bytes;
    uint64_t allowed;
};

bool
csb_disk_in_question(const struct csb_disk *disk)
{
    uint64_t count = disk->files_made == NULL
                         ? UINT32_MAX
                         : (uint64_t)disk->given + *disk->files_made;
    uint64_t each =
        disk->file_bytes < UINT64_MAX - BLOCK ? disk->file_bytes + BLOCK : UINT64_MAX;
    return disk->folder >= 0 && count > 0 && each > disk->allowed / count;
}

static int
open_folder(int parent, const char *name)
{
    int fd = openat(parent, name, FOLDER_FLAGS);
    if (fd < 0 && errno == EACCES &&
        fchmodat(parent, name, 0700, AT_SYMLINK_NOFOLLOW) == 0) {
        fd = openat(parent, name, FOLDER_FLAGS);
    }
    return fd;
}

/* Takes *fd. As deep as DEPTH_MAX. */
static void
add_folder(struct sum *sum, int *fd, unsigned depth)
{
    const struct dirent *entry;
    const int folder = *fd; /* open as long as the listing is */
    DIR *listing = fdopendir(folder);
    if (listing == NULL) {
        csb_fd_close(fd);
        return;
    }
    while (sum->bytes <= sum->allowed && (entry = readdir(listing)) != NULL) {
        struct stat status;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
            continue;
        }
        sum->bytes += (uint64_t)status.st_blocks * STAT_UNIT;
        if (S_ISDIR(status.st_mode)) {
            int inner = open_folder(folder, entry->d_name);
            if (depth + 1 == CSB_DISK_DEPTH_MAX) {
                csb_fd_close(&inner);
                sum->bytes = UINT64_MAX;
            } else if (inner >= 0) {
                add_folder(sum, &inner, depth + 1);
            }
        }
    }
    (void)closedir(listing);
}

static void
schedule(struct csb_disk *disk, int64_t now_ns, int64_t cost_ns)
{
    uint64_t room =
        disk->allowed > disk->seen_bytes ? disk->allowed - disk->seen_bytes : 0;
    int64_t pause = room / BYTES_PER_NS < (uint64_t)LONGEST_PAUSE_NS
                        ? (int64_t)(room / BYTES_PER_NS)
                        : LONGEST_PAUSE_NS;
    if (pause < SHORTEST_PAUSE_NS) {
        pause = SHORTEST_PAUSE_NS;
    }
    if (pause < cost_ns * COST_FACTOR) {
        pause = cost_ns * COST_FACTOR;
    }
    disk->next_ns = now_ns + pause;
}

bool
csb_disk_passed(struct csb_disk *disk, const struct csb_procfs *procfs, int64_t now_ns)
{
    struct sum sum = {.allowed = disk->allowed};
    int64_t end_ns;
    int own;
    if (now_ns < disk->next_ns || !csb_disk_in_question(disk)) {
        return false;
    }
    own = openat(disk->folder, ".", FOLDER_FLAGS);
    if (own >= 0) {
        add_folder(&sum, &own, 0);
    }
    if (sum.bytes <= sum.allowed) {
        sum.bytes += csb_deleted_bytes(procfs, disk->name, disk->file_bytes);
    }
    disk->seen_bytes = sum.bytes;
    end_ns = csb_clock_now_ns();
    schedule(disk, end_ns, end_ns - now_ns);
    return sum.bytes > disk->allowed;
}
