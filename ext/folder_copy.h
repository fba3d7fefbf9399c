/* A copy of a working folder whose content was made by hostile code. In the caller; any thread,
 * no GIL; the process that owns the folder must be stopped. */
#ifndef CSB_FOLDER_COPY_H
#define CSB_FOLDER_COPY_H

#include "error.h"

struct csb_copy_bounds {
    uint64_t bytes; /* of content */
    uint32_t entries;
    uint32_t owner; /* uid that the copies get; 0 = the caller's */
};

/* Copy what lies in `from` into the empty `to`: folders and regular files with their modes and
 * times, holes kept. 0, or -errno with *reterr: -EDQUOT when it is larger than allowed or
 * deeper than CSB_DISK_DEPTH_MAX. What was copied until then stays. */
int csb_folder_copy(int from, int to, const struct csb_copy_bounds *bounds,
                    struct csb_error *reterr) CSB_MUST_USE;

#endif
