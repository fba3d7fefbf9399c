/* The things of one run that exist outside its child: scratch folder, standard input, pipes,
 * channel and the run's Landlock ruleset. Made before the child, in the caller; any thread,
 * no GIL. */
#ifndef CSB_KIT_H
#define CSB_KIT_H

#include "cgroup.h"
#include "family.h"
#include "policy.h"
#include "remover.h"
#include "supervise.h"

enum csb_kit_fd {
    CSB_KIT_STDIN,
    CSB_KIT_STDOUT,
    CSB_KIT_STDERR,
    CSB_KIT_CHANNEL,
    CSB_KIT_FDS
};

struct csb_kit {
    struct csb_scratch scratch;
    int input_fd;               /* ours, until csb_kit_fill has sealed it */
    int child_fds[CSB_KIT_FDS]; /* the child's ends */
    int ruleset_fd;             /* CSB_FD_NONE without Landlock */
    size_t given;               /* files that the caller put there … */
    uint64_t given_bytes;       /* … and their size, rounded up */
    struct csb_leaf leaf;       /* the run's control group, where there are any */
    struct csb_member *member; /* of a session that may be branched, else NULL; owned */
    struct csb_remover
        *remover; /* the policy's, which outlives it; NULL: there is none */
};

struct csb_file {
    const char *name; /* relative to the scratch folder */
    struct csb_bytes content;
};

/* Nothing is open; csb_kit_done is safe from here on. */
void csb_kit_init(struct csb_kit *kit);

/* Make everything; the caller's ends go to *ret_ends. */
int csb_kit_make(struct csb_kit *kit, const struct csb_policy *policy,
                 struct csb_ends *ret_ends, struct csb_error *reterr) CSB_MUST_USE;

/* The same for a session that may be branched: the first of a family. */
int csb_kit_make_first(struct csb_kit *kit, const struct csb_policy *policy,
                       struct csb_ends *ret_ends,
                       struct csb_error *reterr) CSB_MUST_USE;

/* The same for a branch of the session that has the kit `of`: its rules are inherited. */
int csb_kit_make_branch(struct csb_kit *kit, const struct csb_kit *of,
                        const struct csb_policy *policy, struct csb_ends *ret_ends,
                        struct csb_error *reterr) CSB_MUST_USE;

/* The folder's path as the child knows it. */
const char *csb_kit_path(const struct csb_kit *kit);

/* Give *from away; nothing is left in it. */
void csb_kit_move(struct csb_kit *to, struct csb_kit *from);

/* Put the input and the files of the run in, before its submission is sent. */
int csb_kit_fill(struct csb_kit *kit, const struct csb_bytes *input,
                 const struct csb_file *files, size_t file_count,
                 struct csb_error *reterr) CSB_MUST_USE;

/* A control group of the run's own, where one is delegated: 0 without one, unless the policy
 * requires it. */
int csb_kit_make_leaf(struct csb_kit *kit, const struct csb_policy *policy,
                      const struct csb_limits *limits,
                      struct csb_error *reterr) CSB_MUST_USE;

/* The kernel ended it for the memory limit of its control group. */
void csb_kit_blame_memory(struct csb_kit *kit, struct csb_facts *facts);

/* What the run may take of the disk: what the caller puts there is not the program's. */
struct csb_disk csb_kit_disk(const struct csb_kit *kit,
                             const struct csb_limits *limits);

/* When the child has its own copies. */
void csb_kit_close_child_fds(struct csb_kit *kit);

/* Release; the scratch folder is removed, in the background when files_made is large. */
void csb_kit_done(struct csb_kit *kit, uint32_t files_made);

#endif
