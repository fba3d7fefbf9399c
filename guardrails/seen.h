/* What the parser showed of one source: kept after the check for the second opinion.
 *
 * Owned by the findings; the atoms point into their source's text. Read-only once made: any
 * thread, no GIL. Knows no trees. */
#ifndef CSB_GUARD_SEEN_H
#define CSB_GUARD_SEEN_H

#include "names.h"
#include "text.h"

struct csb_seen {
    struct csb_atoms atoms; /* every identifier */
    struct csb_text paths;  /* NUL-terminated dotted names of the imports */
};

void csb_seen_done(struct csb_seen *seen);

#endif
