/* Theory of operation: runs in the caller. Reads /proc/self/cgroup and mountinfo, then looks
 * at folders. "Ours" is what we may write and, for root, who may write everything, what
 * systemd has marked as delegated (one writer for each cgroup is its rule and the kernel's). */
#include "cgroup_place.h"

#include "fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { LINE_BYTES = 4096 };

/* The line of the unified hierarchy, "0::/path". */
static bool
find_own(char *ret, size_t size)
{
    char line[LINE_BYTES];
    FILE *file = fopen("/proc/self/cgroup", "re");
    bool found = false;
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        char *newline = strchr(line, '\n');
        found = newline != NULL && strncmp(line, "0::/", 4) == 0 &&
                (size_t)(newline - line) - 3 < size;
        if (found) {
            *newline = '\0';
            memcpy(ret, line + 3, strlen(line + 3) + 1);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return found;
}

/* mountinfo: "id parent dev root mountpoint options … - cgroup2 source options". */
static bool
find_mount(char *ret_root, char *ret_mount, size_t size)
{
    char line[LINE_BYTES];
    FILE *file = fopen("/proc/self/mountinfo", "re");
    bool found = false;
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        char *fields[5] = {NULL};
        char *rest = line;
        found = strstr(line, " - cgroup2 ") != NULL;
        for (size_t i = 0; i < CSB_ARRAY_LEN(fields) && found; i++) {
            fields[i] = strsep(&rest, " ");
            found = rest != NULL;
        }
        found = found && strlen(fields[3]) < size && strlen(fields[4]) < size;
        if (found) {
            memcpy(ret_root, fields[3], strlen(fields[3]) + 1);
            memcpy(ret_mount, fields[4], strlen(fields[4]) + 1);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return found;
}

bool
csb_cgroup_place_first(struct csb_cgroup_place *place, char *why, size_t size)
{
    char root[256];
    char mount[256];
    const char *below = place->own;
    size_t root_length;
    memset(place, 0, sizeof *place);
    if (!find_own(place->own, sizeof place->own) ||
        !find_mount(root, mount, sizeof root)) {
        (void)snprintf(why, size, "no cgroup v2 hierarchy is mounted");
        return false;
    }
    /* A container's mount may begin at its own cgroup. */
    root_length = strcmp(root, "/") == 0 ? 0 : strlen(root);
    if (strncmp(place->own, root, root_length) != 0 ||
        strstr(place->own, "/..") != NULL) {
        (void)snprintf(why, size,
                       "the caller's cgroup %s is outside of what is mounted",
                       place->own);
        return false;
    }
    below += root_length;
    place->mount = strlen(mount);
    (void)snprintf(place->path, sizeof place->path, "%s%s", mount,
                   strcmp(below, "/") == 0 ? "" : below);
    return true;
}

static bool
has_words(int folder, const char *name)
{
    char text[256] = " ";
    CSB_CLEANUP(csb_fd_close) int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text + 1, sizeof text - 2);
    if (length <= 0) {
        return false;
    }
    text[length] = ' '; /* over the newline */
    text[length + 1] = '\0';
    return strstr(text, " memory ") != NULL && strstr(text, " pids ") != NULL;
}

static bool
is_ours(int folder)
{
    char value[8] = "";
    if (geteuid() != 0 || access("/run/systemd/system", F_OK) != 0) {
        return faccessat(folder, "cgroup.procs", W_OK, AT_EACCESS) == 0;
    }
    return (fgetxattr(folder, "trusted.delegate", value, sizeof value) > 0 ||
            fgetxattr(folder, "user.delegate", value, sizeof value) > 0) &&
           value[0] == '1';
}

/* The kernel refuses where processes are in the folder itself. */
static bool
offers_both(int folder)
{
    static const char both[] = "+memory +pids";
    if (has_words(folder, "cgroup.subtree_control")) {
        return true;
    }
    if (has_words(folder, "cgroup.controllers")) {
        CSB_CLEANUP(csb_fd_close)
        int fd = openat(folder, "cgroup.subtree_control", O_WRONLY | O_CLOEXEC);
        return fd >= 0 && write(fd, both, sizeof both - 1) > 0;
    }
    return false;
}

int
csb_cgroup_place_next(struct csb_cgroup_place *place)
{
    while (place->path[0] != '\0') {
        int fd = open(place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        char *slash = strrchr(place->path, '/');
        bool top = strlen(place->path) <= place->mount || slash == NULL;
        *(top ? place->path : slash) = '\0';
        if (fd >= 0 && is_ours(fd) && offers_both(fd)) {
            return fd;
        }
        csb_fd_close(&fd);
    }
    return -1;
}
