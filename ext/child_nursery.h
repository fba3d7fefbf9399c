/* The children of a zygote: who they are, how they ended, and that none outlives it.
 * In the zygote, one thread. */
#ifndef CSB_CHILD_NURSERY_H
#define CSB_CHILD_NURSERY_H

#include "csb.h"

#include <poll.h>
#include <sys/types.h>

enum { CSB_CHILDREN_MAX = 4096, CSB_BRANCHES_MAX = 64 };

/* A child that is alive. */
struct csb_infant {
    pid_t pid; /* 0: free */
    int status_fd;
    bool branchable; /* a session: the caller may speak on status_fd */
    pid_t family;    /* its process group, 0 before the first branch was ordered */
    int guard[2];    /* see csb_nursery_serve; with one member of a family */
};

/* A branch that was ordered and is not there yet; its status socket. */
struct csb_expected {
    int status_fd;
    pid_t family;
};

enum { CSB_NURSERY_SIGNALS, CSB_NURSERY_REQUESTS, CSB_NURSERY_POLLS };

/* A large block, zeroed by its owner: from calloc, so that what is not used costs nothing. */
struct csb_nursery {
    struct csb_infant infants[CSB_CHILDREN_MAX];
    size_t used; /* none beyond */
    unsigned alive;
    unsigned branchable;
    struct csb_expected expected[CSB_BRANCHES_MAX];
    size_t expected_count;
    struct csb_lost *lost; /* ended before they were adopted; owned */
    struct pollfd polls[CSB_NURSERY_POLLS + CSB_CHILDREN_MAX + CSB_BRANCHES_MAX];
    size_t poll_count;
    int signals;
    bool closing; /* no more requests */
};

/* 0, or -1 with errno. */
int csb_nursery_open(struct csb_nursery *nursery);

/* Wait for something to do, as poll(2). */
int csb_nursery_wait(struct csb_nursery *nursery, int requests);

/* Reap, and do what the callers of sessions ask for.
 *
 * PR_SET_PDEATHSIG does not survive fork(2), and a branch runs hostile code that need not set
 * it again. So its death with the zygote is the kernel's affair by another way: a pair of
 * sockets whose ends are owned (F_SETOWN) by the process group of the session, with SIGKILL
 * as their signal. When the zygote ends, however it does, the end that is released first
 * hangs up the other, and the group is killed. No member can leave it: setpgid(2) and
 * setsid(2) are denied to all. */
void csb_nursery_serve(struct csb_nursery *nursery);

/* A child was forked, or was not: pid -1 and errno. It is told of on status_fd, which is taken. */
void csb_nursery_add(struct csb_nursery *nursery, pid_t pid, int status_fd,
                     bool branchable);

#endif
