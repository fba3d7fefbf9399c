/* Theory of operation: runs in the caller. One place makes and one place releases what a run
 * needs outside its child, so that each exit leaves nothing behind. */
#include "kit.h"

#include "fd.h"
#include "input.h"
#include "path_rules.h"

#include <string.h>

enum {
    FILES_REMOVED_AT_ONCE = 200,
    ROUNDING_BYTES = 64 * 1024, /* a file and its folders, beyond its content */
};

void
csb_kit_init(struct csb_kit *kit)
{
    memset(kit, 0, sizeof *kit);
    kit->scratch.fd = kit->scratch.base_fd = CSB_FD_NONE;
    kit->input_fd = kit->ruleset_fd = CSB_FD_NONE;
    csb_leaf_init(&kit->leaf);
    for (size_t i = 0; i < CSB_ARRAY_LEN(kit->child_fds); i++) {
        kit->child_fds[i] = CSB_FD_NONE;
    }
}

static int
make_ends(struct csb_kit *kit, struct csb_ends *ends, struct csb_error *reterr)
{
    int *const ours[] = {NULL, &ends->stdout_fd, &ends->stderr_fd, &ends->channel_fd};
    int result = csb_input_make(&kit->input_fd, &kit->child_fds[CSB_KIT_STDIN], reterr);
    for (size_t i = CSB_KIT_STDOUT; i < CSB_KIT_FDS && result == 0; i++) {
        int pair[2];
        result = i == CSB_KIT_CHANNEL ? csb_fd_socketpair(pair, reterr)
                                      : csb_fd_pipe(pair, reterr);
        if (result < 0) {
            return result;
        }
        *ours[i] = pair[0];
        kit->child_fds[i] = pair[1];
        result = csb_fd_nonblocking(pair[0]);
        if (result < 0) {
            return csb_fail(reterr, CSB_STEP_PIPE, -result, "make a pipe non-blocking");
        }
    }
    return result;
}

static uint32_t
owner_of(const struct csb_policy *policy)
{
    return policy->root ? policy->uid : 0;
}

static int
make_folder(struct csb_kit *kit, const struct csb_policy *policy,
            struct csb_ends *ret_ends, struct csb_error *reterr)
{
    int result = kit->scratch.fd >= 0
                     ? 0
                     : csb_scratch_make(&kit->scratch, policy->scratch_base,
                                        owner_of(policy), reterr);
    kit->remover = policy->remover;
    return result == 0 ? make_ends(kit, ret_ends, reterr) : result;
}

static int
make_rules(struct csb_kit *kit, const struct csb_policy *policy, int folder,
           struct csb_error *reterr)
{
    return policy->landlock_abi == 0
               ? 0
               : csb_path_rules_for_run(&policy->paths, folder,
                                        policy->scratch_writable, policy->landlock_abi,
                                        &kit->ruleset_fd, reterr);
}

int
csb_kit_make(struct csb_kit *kit, const struct csb_policy *policy,
             struct csb_ends *ret_ends, struct csb_error *reterr)
{
    int result = make_folder(kit, policy, ret_ends, reterr);
    return result == 0 ? make_rules(kit, policy, kit->scratch.fd, reterr) : result;
}

int
csb_kit_make_first(struct csb_kit *kit, const struct csb_policy *policy,
                   struct csb_ends *ret_ends, struct csb_error *reterr)
{
    int home;
    int result = make_folder(kit, policy, ret_ends, reterr);
    if (result == 0) {
        result = csb_family_make(&kit->scratch, policy->scratch_base, owner_of(policy),
                                 &kit->member, reterr);
    }
    if (result == 0) {
        (void)csb_member_home(kit->member, &home);
        result = make_rules(kit, policy, home, reterr);
    }
    return result;
}

int
csb_kit_make_branch(struct csb_kit *kit, const struct csb_kit *of,
                    const struct csb_policy *policy, struct csb_ends *ret_ends,
                    struct csb_error *reterr)
{
    int result = make_folder(kit, policy, ret_ends, reterr);
    if (result == 0) {
        result = csb_family_join(of->member, &kit->scratch, &kit->member, reterr);
    }
    if (result == 0) {
        result = csb_input_fill(kit->input_fd, NULL, 0, reterr); /* nothing to read */
        csb_fd_close(&kit->input_fd);
        kit->given = of->given;
        kit->given_bytes = of->given_bytes;
    }
    return result;
}

const char *
csb_kit_path(const struct csb_kit *kit)
{
    return kit->member == NULL ? kit->scratch.path : csb_member_path(kit->member);
}

void
csb_kit_move(struct csb_kit *to, struct csb_kit *from)
{
    *to = *from;
    csb_scratch_move(&to->scratch, &from->scratch);
    csb_kit_init(from);
}

int
csb_kit_fill(struct csb_kit *kit, const struct csb_bytes *input,
             const struct csb_file *files, size_t file_count, struct csb_error *reterr)
{
    int result = csb_input_fill(kit->input_fd, input->bytes, input->count, reterr);
    csb_fd_close(&kit->input_fd);
    kit->given = file_count;
    kit->given_bytes = 0;
    for (size_t i = 0; i < file_count && result == 0; i++) {
        kit->given_bytes += files[i].content.count + ROUNDING_BYTES;
        result = csb_scratch_write(&kit->scratch, files[i].name, files[i].content.bytes,
                                   files[i].content.count, reterr);
    }
    return result;
}

int
csb_kit_make_leaf(struct csb_kit *kit, const struct csb_policy *policy,
                  const struct csb_limits *limits, struct csb_error *reterr)
{
    int result;
    /* A branch is born in its original's, and taken out at once. */
    if (policy->cgroup.fd < 0) {
        return 0;
    }
    result =
        csb_leaf_make(&kit->leaf, &policy->cgroup,
                      csb_leaf_memory_max(limits->memory_bytes, limits->disk_bytes),
                      limits->threads + (kit->member == NULL ? 0 : 1), reterr);
    /* Without one the run goes on unless it must have it; `isolation` says so. */
    return policy->required & CSB_FEATURE_BIT(CSB_FEATURE_CGROUP) ? result : 0;
}

void
csb_kit_blame_memory(struct csb_kit *kit, struct csb_facts *facts)
{
    if (facts->stop == CSB_STOP_NONE && csb_leaf_out_of_memory(&kit->leaf)) {
        facts->stop = CSB_STOP_MEMORY;
    }
}

struct csb_disk
csb_kit_disk(const struct csb_kit *kit, const struct csb_limits *limits)
{
    int home;
    struct csb_disk disk = {.folder = kit->scratch.fd,
                            .name = kit->member == NULL
                                        ? kit->scratch.name
                                        : csb_member_home(kit->member, &home),
                            .allowed = limits->disk_bytes + kit->given_bytes,
                            .file_bytes = limits->file_bytes,
                            .given = (uint32_t)kit->given};
    return disk;
}

void
csb_kit_close_child_fds(struct csb_kit *kit)
{
    for (size_t i = 0; i < CSB_ARRAY_LEN(kit->child_fds); i++) {
        csb_fd_close(&kit->child_fds[i]);
    }
}

void
csb_kit_done(struct csb_kit *kit, uint32_t files_made)
{
    csb_kit_close_child_fds(kit);
    csb_fd_close(&kit->ruleset_fd);
    csb_fd_close(&kit->input_fd);
    csb_leaf_end(&kit->leaf);
    csb_member_leave(kit->member);
    kit->member = NULL;
    if (files_made > FILES_REMOVED_AT_ONCE) {
        csb_remover_take(kit->remover, &kit->scratch);
    } else {
        csb_scratch_remove(&kit->scratch);
    }
}
