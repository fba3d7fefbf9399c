/* A child on another processor than the caller's thread, for a while. In the caller, any thread;
 * no errors: see elsewhere.c. */
#ifndef CSB_ELSEWHERE_H
#define CSB_ELSEWHERE_H

#include "csb.h"

#include <sched.h>
#include <sys/types.h>

struct csb_elsewhere {
    cpu_set_t before; /* where it may be otherwise */
    bool moved;
};

void csb_elsewhere_send(struct csb_elsewhere *place, pid_t pid);

/* Before the child goes on: a program sees all processors that it may have. */
void csb_elsewhere_release(struct csb_elsewhere *place, pid_t pid);

#endif
