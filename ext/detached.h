/* A thread that nobody waits for. In the caller, any thread, no GIL. */
#ifndef CSB_DETACHED_H
#define CSB_DETACHED_H

#include "csb.h"

/* Start `body`, with all signals blocked: the host's are meant for its own threads, and one that
 * arrived here would not interrupt what its main thread waits in. Its stack is small (256 KiB).
 * Returns 0 or -errno. */
int csb_detached_start(void *(*body)(void *), void *argument) CSB_MUST_USE;

#endif
