/* The private folder of one run: made, filled, removed whatever was left in it.
 * Called in the caller; any thread, no GIL. */
#ifndef CSB_SCRATCH_H
#define CSB_SCRATCH_H

#include "error.h"

#include <sys/types.h>

/* A folder's name: this and 16 hexadecimal digits. */
#define CSB_SCRATCH_PREFIX "csandbox-"

enum { CSB_SCRATCH_PATH_BYTES = 512, CSB_SCRATCH_DEPTH_MAX = 16 };

struct csb_scratch {
    int base_fd;     /* the folder that holds it; owned */
    int fd;          /* the folder itself; owned, CSB_FD_NONE when there is none */
    uint64_t device; /* which folder that is, so that no other is ever emptied */
    uint64_t inode;
    char path[CSB_SCRATCH_PATH_BYTES];
    const char *name; /* last component, points into path */
    uint32_t owner;   /* uid that files get; 0 = the caller's */
};

/* Make an empty folder of mode 0700 below `base`, locked (flock(2)) while `fd` is open. */
int csb_scratch_make(struct csb_scratch *scratch, const char *base, uint32_t owner,
                     struct csb_error *reterr) CSB_MUST_USE;

/* Write one file; folders in its name are made. The name is refused (EINVAL) when it is
 * absolute, empty, deeper than CSB_SCRATCH_DEPTH_MAX or has an empty, "." or ".." part. */
int csb_scratch_write(struct csb_scratch *scratch, const char *name, const void *bytes,
                      size_t count, struct csb_error *reterr) CSB_MUST_USE;

/* Remove everything. Safe on a struct that csb_scratch_make has not filled. Does nothing when
 * the descriptor is no longer the folder that was made: a stray close() anywhere in the
 * host, followed by an open(), could have put another folder under the same number. */
void csb_scratch_remove(struct csb_scratch *scratch);

/* Give *from away; nothing is left in it. */
void csb_scratch_move(struct csb_scratch *to, struct csb_scratch *from);

#endif
