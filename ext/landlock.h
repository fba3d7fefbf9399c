/* File rules → a Landlock ruleset that a child enters.
 *
 * The ruleset is made in the caller, where paths can be opened; the child only calls
 * landlock_restrict_self(2) on the descriptor. Rights that the running kernel's ABI does
 * not know are left out by a ladder in landlock.c that says what is lost. Any thread, no
 * GIL. The only file that knows the Landlock interface. */
#ifndef CSB_LANDLOCK_H
#define CSB_LANDLOCK_H

#include "error.h"

enum csb_path_access {
    CSB_PATH_READ,         /* files readable, folders listable, below the path */
    CSB_PATH_LIST,         /* folders listable below the path, nothing readable */
    CSB_PATH_EXECUTE,      /* a file that exec may start */
    CSB_PATH_READ_EXECUTE, /* both, below the path; for the coarse layer only */
    CSB_PATH_WRITE,  /* make, change and remove files and folders below the path */
    CSB_PATH_DEVICE, /* one device file, readable and writable (/dev/null) */
};

enum csb_path_kind {
    CSB_PATH_UNKNOWN, /* csb_landlock_grant asks the kernel */
    CSB_PATH_FOLDER,
    CSB_PATH_FILE,
};

struct csb_path_rule {
    enum csb_path_access access;
    int fd; /* O_PATH descriptor of the file or folder; owned by the holder of the rule */
    enum csb_path_kind kind;
};

/* Of a descriptor; CSB_PATH_UNKNOWN when it can not be told. */
enum csb_path_kind csb_landlock_kind(int fd);

/* ABI version of this kernel: 1 and up, 0 when there is no Landlock (not built in, or not
 * switched on at boot). */
int csb_landlock_abi(void);

/* One line: what a kernel of this ABI does not cover, "" when nothing is lost. */
const char *csb_landlock_lost(int abi);

/* Make a ruleset that denies everything; returns its descriptor or -errno. */
int csb_landlock_begin(int abi);

/* Grant one thing more, made with the same ABI; returns 0 or -errno. */
int csb_landlock_grant(int ruleset_fd, const struct csb_path_rule *rule,
                       int abi) CSB_MUST_USE;

/* Make a ruleset that denies everything but `rules`. On success *ret_fd is the caller's. */
int csb_landlock_build(const struct csb_path_rule *rules, size_t count, int abi,
                       int *ret_fd, struct csb_error *reterr) CSB_MUST_USE;

#endif
