/* Theory of operation: a holder; engine.c fills it with what the walk collected. */
#include "seen.h"

void
csb_seen_done(struct csb_seen *seen)
{
    csb_atoms_done(&seen->atoms);
    csb_text_done(&seen->paths);
}
