/* Theory of operation: in the caller. Two processes that could work at the same time are often
 * put on one processor, because one wakes the other; a child with a head start is asked to be on
 * another one until its caller waits for it. A hint: where it is refused nothing is lost but time. */
#include "elsewhere.h"

#include <unistd.h>

void
csb_elsewhere_send(struct csb_elsewhere *place, pid_t pid)
{
    cpu_set_t others;
    const int here = sched_getcpu();
    place->moved = false;
    if (here < 0 || here >= CPU_SETSIZE ||
        sched_getaffinity(pid, sizeof place->before, &place->before) != 0) {
        return;
    }
    others = place->before;
    CPU_CLR((size_t)here, &others);
    place->moved =
        CPU_COUNT(&others) > 0 && sched_setaffinity(pid, sizeof others, &others) == 0;
}

void
csb_elsewhere_release(struct csb_elsewhere *place, pid_t pid)
{
    if (place->moved) {
        (void)sched_setaffinity(pid, sizeof place->before, &place->before);
        place->moved = false;
    }
}
