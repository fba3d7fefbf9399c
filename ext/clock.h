/* Two clocks: monotonic time of this machine, CPU time of one process.
 * Nanoseconds in int64_t. Any thread, no GIL, async-signal-safe. */
#ifndef CSB_CLOCK_H
#define CSB_CLOCK_H

#include "csb.h"

#include <sys/types.h>

#define CSB_NS_PER_S INT64_C(1000000000)
#define CSB_NS_PER_MS INT64_C(1000000)

int64_t csb_clock_now_ns(void);

/* CPU time (user + system, all threads) of a process that has not been reaped;
 * -errno when it is gone. */
int64_t csb_clock_cpu_ns(pid_t pid);

int64_t csb_clock_from_seconds(double seconds);

#endif
