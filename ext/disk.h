/* How much disk space a run takes, while it runs.
 *
 * The kernel limits each file (RLIMIT_FSIZE), not their sum. The supervisor adds up what lies
 * in the scratch folder and what was deleted there and is still held open or mapped. It looks only
 * when the files that exist could be more than is allowed if each were full, so an ordinary
 * run is never looked at, and then as often as the room that is left asks for. No file can
 * appear, and none can be renamed, between two entries of one look: both wait for the
 * supervisor (notify.h), which is the thread that looks. In the caller; no GIL. */
#ifndef CSB_DISK_H
#define CSB_DISK_H

#include "procfs.h"

enum { CSB_DISK_DEPTH_MAX = 64 }; /* folders; deeper counts as more than is allowed */

struct csb_disk {
    int folder;          /* the scratch folder; borrowed */
    const char *name;    /* its random name, part of each path in it; borrowed */
    uint64_t allowed;    /* bytes */
    uint64_t file_bytes; /* what one file can have at most */
    uint32_t given;      /* files that the caller put there */
    const uint32_t
        *files_made;     /* by the run so far; borrowed. NULL: nobody counts them */
    int64_t next_ns;     /* the next look is due */
    uint64_t seen_bytes; /* at the last look */
};

/* Could the files that there are be more than is allowed? */
bool csb_disk_in_question(const struct csb_disk *disk);

/* Look, when in question and due; true when there is more than is allowed. With `procfs` of
 * a process that is gone only the folder counts. */
bool csb_disk_passed(struct csb_disk *disk, const struct csb_procfs *procfs,
                     int64_t now_ns);

#endif
