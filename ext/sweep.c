/* Theory of operation: runs in a host's janitor when the host has ended, and in the caller when it
 * compiles a policy. A host that gets SIGKILL
 * can not remove its scratch folders; its end unlocks them. Whoever comes next removes what
 * has the name and the owner of a scratch folder and is not locked. A folder that another
 * process is just making is locked by one of the two first, and csb_scratch_make makes another
 * when it was not its own. What lies inside is hostile: removal is scratch.c's. */
#include "sweep.h"

#include "fd.h"
#include "scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    RANDOM_DIGITS = 16,
    FOLDER_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
};

static bool
has_the_name(const char *name)
{
    static const char prefix[] = CSB_SCRATCH_PREFIX;
    const size_t length = sizeof prefix - 1;
    return strncmp(name, prefix, length) == 0 &&
           strspn(name + length, "0123456789abcdef") == RANDOM_DIGITS &&
           name[length + RANDOM_DIGITS] == '\0';
}

/* Takes the folder when it is stale: locked by us, then removed. True: it is somebody's, who may
 * be about to end. */
static bool
remove_stale(int base_fd, const char *base, const char *name, uint32_t owner)
{
    struct csb_scratch scratch = {.base_fd = CSB_FD_NONE, .fd = CSB_FD_NONE};
    struct stat status;
    int length = snprintf(scratch.path, sizeof scratch.path, "%s/%s", base, name);
    scratch.fd = openat(base_fd, name, FOLDER_FLAGS);
    if (scratch.fd < 0 || length < 0 || (size_t)length >= sizeof scratch.path ||
        fstat(scratch.fd, &status) != 0 ||
        (status.st_uid != geteuid() && (owner == 0 || status.st_uid != owner))) {
        csb_fd_close(&scratch.fd);
        return false;
    }
    if (flock(scratch.fd, LOCK_EX | LOCK_NB) != 0) {
        csb_fd_close(&scratch.fd);
        return true;
    }
    scratch.base_fd = fcntl(base_fd, F_DUPFD_CLOEXEC, CSB_FD_MIN);
    scratch.device = status.st_dev;
    scratch.inode = status.st_ino;
    scratch.name = scratch.path + (length - (int)strlen(name));
    csb_scratch_remove(&scratch);
    return false;
}

size_t
csb_sweep(const char *base, uint32_t owner)
{
    int base_fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = base_fd < 0 ? NULL : fdopendir(base_fd);
    const struct dirent *entry;
    size_t kept = 0;
    if (listing == NULL) {
        csb_fd_close(&base_fd);
        return 0;
    }
    while ((entry = readdir(listing)) != NULL) {
        if (has_the_name(entry->d_name)) {
            kept += remove_stale(base_fd, base, entry->d_name, owner) ? 1 : 0;
        }
    }
    (void)closedir(listing);
    return kept;
}
