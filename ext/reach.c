/* Theory of operation: runs in the caller, when it is root. Decides nothing: policy.c keeps
 * the uid and says so in `isolation` when something is out of reach. */
#include "reach.h"

#include "raw.h"

#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4096 };

static bool
allows(const char *path, mode_t bits, char *ret_obstacle, size_t size)
{
    struct stat status;
    if (stat(path, &status) != 0 || (status.st_mode & bits) == bits) {
        return true;
    }
    (void)snprintf(ret_obstacle, size, "%s", path);
    return false;
}

bool
csb_reachable_by_others(const char *path, char *ret_obstacle, size_t size)
{
    char prefix[PATH_BYTES];
    size_t length = strlen(path);
    struct stat status;
    mode_t last = S_IROTH;
    if (length >= sizeof prefix) {
        (void)snprintf(ret_obstacle, size, "%s", path);
        return false;
    }
    for (size_t i = 1; i < length; i++) {
        if (path[i] == '/') {
            memcpy(prefix, path, i);
            prefix[i] = '\0';
            if (!allows(prefix, S_IXOTH, ret_obstacle, size)) {
                return false;
            }
        }
    }
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        last = S_IROTH | S_IXOTH;
    }
    return allows(path, last, ret_obstacle, size);
}

/* A line is "first-inside first-outside count". */
static bool
line_maps(const char *line, uint32_t id)
{
    char *rest;
    unsigned long first = strtoul(line, &rest, 10);
    unsigned long count;
    (void)strtoul(rest, &rest, 10);
    count = strtoul(rest, NULL, 10);
    return id >= first && id - first < count;
}

static bool
is_mapped(const char *map, uint32_t id)
{
    char line[128];
    FILE *file = fopen(map, "re");
    bool found = file == NULL; /* no user namespaces: every id exists */
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        found = found || line_maps(line, id);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return found;
}

/* A container's root may be without them; chown is for the scratch folder. */
static bool
may_change_ids(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {{0}};
    const uint32_t needed = UINT32_C(1) << CAP_SETUID | UINT32_C(1) << CAP_SETGID |
                            UINT32_C(1) << CAP_CHOWN;
    return csb_syscall(SYS_capget, &header, sets) == 0 &&
           (sets[0].effective & needed) == needed;
}

bool
csb_uid_can_be_taken(uint32_t uid)
{
    char word[16] = "allow";
    FILE *file = fopen("/proc/self/setgroups", "re");
    if (file != NULL) {
        if (fgets(word, sizeof word, file) == NULL) {
            word[0] = '\0';
        }
        (void)fclose(file);
    }
    return may_change_ids() && strncmp(word, "allow", 5) == 0 &&
           is_mapped("/proc/self/uid_map", uid) && is_mapped("/proc/self/gid_map", uid);
}
