/* Theory of operation: runs in the caller; reads clocks, changes nothing.
 * The CPU clock of another process is read from outside (clock_getcpuclockid(3)), so
 * nothing that the child does can falsify it. */
#include "clock.h"

#include <errno.h>
#include <time.h>

static int64_t
to_ns(const struct timespec *time)
{
    return (int64_t)time->tv_sec * CSB_NS_PER_S + time->tv_nsec;
}

int64_t
csb_clock_now_ns(void)
{
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail with a constant clock */
    return to_ns(&now);
}

int64_t
csb_clock_cpu_ns(pid_t pid)
{
    struct timespec used;
    clockid_t clock;
    int err = clock_getcpuclockid(pid, &clock);
    if (err != 0) {
        return -err;
    }
    if (clock_gettime(clock, &used) != 0) {
        return -errno;
    }
    return to_ns(&used);
}

int64_t
csb_clock_from_seconds(double seconds)
{
    const double longest_s = 9.0e9; /* below the overflow of int64 nanoseconds */
    if (!(seconds > 0)) {
        return 0;
    }
    return (int64_t)((seconds < longest_s ? seconds : longest_s) * 1e9);
}
