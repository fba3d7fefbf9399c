/* Files that a run left in its scratch folder, taken out for the caller.
 *
 * In the caller, after the child is dead; any thread, no GIL. What lies in the folder was
 * made by hostile code: only regular files are read, no link is followed, nothing that could
 * block is opened, and number, size and depth are bounded. What matched and was not taken is
 * named with the reason. */
#ifndef CSB_COLLECT_H
#define CSB_COLLECT_H

#include "string_list.h"

enum {
    CSB_COLLECT_FILES_MAX = 100,
    CSB_COLLECT_SKIPPED_MAX = 100,   /* named; more are only counted */
    CSB_COLLECT_ENTRIES_MAX = 20000, /* names looked at */
    CSB_COLLECT_DEPTH_MAX = 16,      /* folders */
    CSB_COLLECT_BYTES_MAX = 64
        << 20, /* of all files together: held in the caller's memory */
};

struct csb_collected {
    char *name; /* relative to the scratch folder; its bytes are hostile when skipped */
    unsigned char *bytes;
    size_t count;
    const char *skipped; /* static text: why there are no bytes; NULL: taken */
};

struct csb_collection {
    const struct csb_strings *patterns; /* borrowed; pattern.h */
    struct csb_collected *items;        /* owned; in the order of their names */
    size_t count;
    size_t taken;
    uint64_t taken_bytes;
    size_t unnamed; /* matched and skipped, beyond CSB_COLLECT_SKIPPED_MAX */
    size_t entries;
    bool cut_short; /* more entries than are looked at */
};

/* Take what matches below the open folder. A collection without patterns stays empty. */
void csb_collect(struct csb_collection *collection, int folder);

void csb_collection_done(struct csb_collection *collection);

#endif
