/* Theory of operation: runs in the caller. The coarse rule of a path is its parent folder,
 * unless scratch folders are made somewhere below that parent: then it is the path itself.
 * So no coarse rule ever reaches another run's scratch folder, which is what this layer is
 * there to hold. */
#include "path_rules.h"

#include "fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void
csb_path_rules_init(struct csb_path_rules *rules)
{
    *rules = (struct csb_path_rules){.fine_ruleset = CSB_FD_NONE};
}

static void
close_all(struct csb_path_rule *rules, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        csb_fd_close(&rules[i].fd);
    }
    free(rules);
}

static void
forget_fine(struct csb_path_rules *rules)
{
    for (size_t i = 0; i < rules->fine_count; i++) {
        free(rules->fine[i].path);
    }
    free(rules->fine);
    rules->fine = NULL;
    rules->fine_count = 0;
}

void
csb_path_rules_done(struct csb_path_rules *rules)
{
    forget_fine(rules);
    close_all(rules->coarse, rules->coarse_count);
    csb_strings_done(&rules->coarse_paths);
    csb_fd_close(&rules->fine_ruleset);
    csb_path_rules_init(rules);
}

/* Is `path` the folder `above`, or below it? */
static bool
is_within(const char *path, const char *above)
{
    size_t length = strlen(above);
    return strncmp(path, above, length) == 0 &&
           (path[length] == '\0' || path[length] == '/');
}

/* Append a rule for an open path; takes the descriptor. One entry more than needed is
 * kept, for the scratch rule of a run. */
static int
append(struct csb_path_rule **rules, size_t *count, enum csb_path_access access, int fd)
{
    struct csb_path_rule *grown;
    fd = csb_fd_raise(fd);
    if (fd < 0) {
        return fd;
    }
    grown = realloc(*rules, (*count + 2) * sizeof *grown);
    if (grown == NULL) {
        csb_fd_close(&fd);
        return -ENOMEM;
    }
    grown[(*count)++] = (struct csb_path_rule){access, fd, csb_landlock_kind(fd)};
    *rules = grown;
    return 0;
}

static int
append_fine(struct csb_path_rules *rules, enum csb_path_access access, const char *path)
{
    struct csb_fine_rule *grown =
        realloc(rules->fine, (rules->fine_count + 1) * sizeof *grown);
    char *copy;
    if (grown == NULL) {
        return -ENOMEM;
    }
    rules->fine = grown;
    copy = strdup(path);
    if (copy == NULL) {
        return -ENOMEM;
    }
    grown[rules->fine_count++] = (struct csb_fine_rule){access, copy};
    return 0;
}

static int
keep_error(struct csb_error *reterr, int err)
{
    return csb_fail(reterr, err == ENOMEM ? CSB_STEP_MEMORY : CSB_STEP_LANDLOCK, err,
                    "keep a file rule: %s", strerror(err));
}

/* What the coarse layer grants for a path: the parent in `folder`, or the path itself. Below
 * the scratch folders' folder the fine layer grants everything, so there the coarse one
 * must be exact. */
static const char *
coarse_path(const char *path, const char *scratch_base, char folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    size_t length = (size_t)(slash - path);
    if (length == 0 || length >= PATH_MAX || is_within(path, scratch_base)) {
        return path;
    }
    memcpy(folder, path, length);
    folder[length] = '\0';
    return is_within(scratch_base, folder) ? path : folder;
}

static int
add_coarse(struct csb_path_rules *rules, enum csb_path_access access, const char *path)
{
    int fd;
    int result;
    /* A device needs its write right in both layers; everything else is only read. */
    bool device = access == CSB_PATH_DEVICE;
    for (size_t i = 0; i < rules->coarse_paths.count && !device; i++) {
        if (is_within(path, rules->coarse_paths.items[i])) {
            return 0;
        }
    }
    fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    result = append(&rules->coarse, &rules->coarse_count,
                    device ? CSB_PATH_DEVICE : CSB_PATH_READ_EXECUTE, fd);
    if (result == 0 && !device) {
        result = csb_strings_add(&rules->coarse_paths, path);
    }
    return result;
}

/* "/etc/.." is "/". */
static bool
has_parent_part(const char *path)
{
    size_t length = strlen(path);
    return strstr(path, "/../") != NULL ||
           (length >= 3 && strcmp(path + length - 3, "/..") == 0);
}

int
csb_path_rules_add(struct csb_path_rules *rules, enum csb_path_access access,
                   const char *path, const char *scratch_base, struct csb_error *reterr)
{
    char folder[PATH_MAX];
    const char *coarse;
    int result;
    int fd;
    if (path[0] != '/' || strspn(path, "/.") == strlen(path) || has_parent_part(path) ||
        is_within(scratch_base, path)) {
        return csb_fail(
            reterr, CSB_STEP_ARGUMENT, EINVAL,
            "path '%s': give an absolute path without '..', not '/' and none "
            "that holds the scratch folders (%s)",
            path, scratch_base);
    }
    fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)) {
        result = errno;
        return csb_fail(reterr, CSB_STEP_LANDLOCK, result, "open %s: %s", path,
                        strerror(result));
    }
    if (fd < 0) {
        return 0; /* not there: nothing to grant */
    }
    (void)close(fd); /* it was only asked whether it is there */
    coarse = access == CSB_PATH_DEVICE ? path : coarse_path(path, scratch_base, folder);
    result = append_fine(rules, access, path);
    if (result == 0) {
        result = add_coarse(rules, access, coarse);
    }
    return result == 0 ? 0 : keep_error(reterr, -result);
}

/* A ruleset that is lost here must be an error: a negative number in a plan would mean that
 * no ruleset is wanted. */
static int
raise_ruleset(int *fd, struct csb_error *reterr)
{
    int raised = csb_fd_raise(*fd);
    *fd = raised < 0 ? CSB_FD_NONE : raised;
    return raised >= 0 ? 0
                       : csb_fail(reterr, CSB_STEP_LANDLOCK, -raised,
                                  "keep the file rules: %s", strerror(-raised));
}

/* One that is gone since it was added grants nothing. */
static int
grant_path(int ruleset, const struct csb_fine_rule *rule, int abi)
{
    int fd = open(rule->path, O_PATH | O_CLOEXEC);
    int result;
    if (fd < 0) {
        return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
    }
    result = csb_landlock_grant(
        ruleset, &(struct csb_path_rule){rule->access, fd, CSB_PATH_UNKNOWN}, abi);
    (void)close(fd);
    return result;
}

int
csb_path_rules_seal(struct csb_path_rules *rules, const char *scratch_base,
                    bool scratch_writable, int abi, struct csb_error *reterr)
{
    int result = append_fine(rules, scratch_writable ? CSB_PATH_WRITE : CSB_PATH_READ,
                             scratch_base);
    CSB_CLEANUP(csb_fd_close)
    int base = open(scratch_base, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (base < 0) {
        result = errno;
        return csb_fail(reterr, CSB_STEP_SCRATCH, result, "open %s: %s", scratch_base,
                        strerror(result));
    }
    if (result == 0) {
        rules->fine_ruleset = csb_landlock_begin(abi);
        result = rules->fine_ruleset < 0 ? rules->fine_ruleset : 0;
    }
    for (size_t i = 0; i < rules->fine_count && result == 0; i++) {
        result = grant_path(rules->fine_ruleset, &rules->fine[i], abi);
    }
    forget_fine(rules);
    if (result < 0) {
        csb_fd_close(&rules->fine_ruleset);
        rules->fine_ruleset = CSB_FD_NONE;
        return csb_fail(reterr, CSB_STEP_LANDLOCK, -result, "make the file rules: %s",
                        strerror(-result));
    }
    return raise_ruleset(&rules->fine_ruleset, reterr);
}

int
csb_path_rules_for_run(const struct csb_path_rules *rules, int scratch_fd,
                       bool scratch_writable, int abi, int *ret_fd,
                       struct csb_error *reterr)
{
    struct csb_path_rule *all = malloc((rules->coarse_count + 1) * sizeof *all);
    int result;
    *ret_fd = CSB_FD_NONE;
    if (all == NULL) {
        return csb_fail(reterr, CSB_STEP_MEMORY, ENOMEM, "no memory for file rules");
    }
    if (rules->coarse_count > 0) {
        memcpy(all, rules->coarse, rules->coarse_count * sizeof *all);
    }
    all[rules->coarse_count] = (struct csb_path_rule){
        scratch_writable ? CSB_PATH_WRITE : CSB_PATH_READ, scratch_fd, CSB_PATH_FOLDER};
    result = csb_landlock_build(all, rules->coarse_count + 1, abi, ret_fd, reterr);
    free(all);
    return result == 0 ? raise_ruleset(ret_fd, reterr) : result;
}
