/* What the parts of a pool share: pool.c and pool_queue.c (callers), pool_life.c (making and
 * ending), pool_keeper.c (the thread). Private to
 * these. Everything is guarded by `lock` unless said. */
#ifndef CSB_POOL_STATE_H
#define CSB_POOL_STATE_H

#include "pool.h"
#include "zygote.h"

#include <errno.h>
#include <pthread.h>

enum { CSB_POOL_SAMPLES = 1024 };

/* As an error: zygotes were killed before they could be of use. The caller's run is not at fault,
 * nor is what was asked of the pool. */
enum { CSB_POOL_KILLED = EOWNERDEAD };

/* A child on its way to be ready, ready, or used up. */
struct csb_spare {
    struct csb_spare *next;
    struct csb_start start;
    struct csb_kit kit;
    uint64_t generation; /* of its zygote */
    int64_t begun_ns;
    uint32_t files_made; /* used up: how long removal takes */
    bool forked;
    bool heard;
    bool branchable; /* for a session: made when one is asked for */
};

/* A caller that waits for its turn. */
struct csb_waiter {
    struct csb_waiter *next;
    pthread_cond_t granted;
    struct csb_spare *spare; /* given */
    bool failed;             /* pool->error says why */
};

struct csb_queue {
    struct csb_waiter *first;
    struct csb_waiter *last;
};

struct csb_pool {
    const struct csb_policy *policy;
    struct csb_pool_options options;
    struct csb_strings preload;
    pthread_t keeper;
    pthread_mutex_t lock;
    pthread_cond_t idle; /* no run is left; a spare is ready */
    int wake_fd;         /* eventfd */
    struct csb_spare *ready;
    unsigned ready_count;
    int64_t taken_ns;       /* when the last ready one was taken */
    struct csb_spare *used; /* to be cleared up */
    unsigned used_count;    /* of runs that are over */
    struct csb_queue queue;
    struct csb_queue sessions; /* callers that wait for a child that may be branched */
    unsigned sessions_waiting;
    unsigned waiting;
    unsigned running;
    bool closing;
    bool killing;        /* closing, and not for what runs to end by itself */
    bool left_behind;    /* … which did not end in time: nobody may free this */
    uint64_t generation; /* of the zygote whose spares are good */
    struct csb_error error;
    unsigned failures_in_a_row;
    struct csb_pool_stats stats;
    int64_t samples[CSB_POOL_SAMPLES];
    /* the keeper's own, no lock */
    struct csb_zygote zygote;
    bool worked;               /* a spare of this zygote was ready */
    struct csb_zygote retired; /* the one before, until its children are gone */
    struct csb_spare *pending;
    unsigned pending_count;
    unsigned sessions_pending;
    int filter_fd;    /* of children that may be branched; made with the first */
    int64_t retry_ns; /* after failures: not before */
    int64_t rest_ns;  /* there is work for then, when nobody takes spares; 0: none */
};

/* The thread; argument is the pool. */
void *csb_pool_keep(void *argument);

/* Wake the keeper. Any thread. */
void csb_pool_wake(const struct csb_pool *pool);

/* Give ready spares to waiting callers. The lock is held. */
void csb_pool_grant(struct csb_pool *pool);

/* Let all who wait look again; with `failed`, so that they find out that nothing comes. */
void csb_pool_rouse(struct csb_queue *queue, bool failed);

/* Take a spare and a worker's place, or wait for them; 0 or -errno with *reterr. */
int csb_pool_take(struct csb_pool *pool, const struct csb_job *job,
                  struct csb_spare **ret, struct csb_error *reterr) CSB_MUST_USE;

/* A spare, if there is one and fewer runs are on than may have a head start; else NULL. */
struct csb_spare *csb_pool_take_at_leisure(struct csb_pool *pool);

/* The same for a session: a child of its own, which takes no worker's place. */
int csb_pool_take_session(struct csb_pool *pool, const struct csb_job *job,
                          struct csb_spare **ret,
                          struct csb_error *reterr) CSB_MUST_USE;

/* Give it to a session that waits; false: none does. The lock is held. */
bool csb_pool_grant_session(struct csb_pool *pool, struct csb_spare *spare);

/* May sessions of this policy be branched? Without a listener nobody could hold a child to
 * one branch, without Landlock nobody their folders apart. */
static inline bool
csb_pool_branches(const struct csb_pool *pool)
{
    return pool->policy->notify && pool->policy->landlock_abi > 0;
}

/* pool_stock.c; the lock is held. How many spares are to be made now, and whether those that are
 * used up are to be cleared now; the keeper asks. */
unsigned csb_pool_wanted(struct csb_pool *pool, int64_t now_ns);
bool csb_pool_to_clear(struct csb_pool *pool, int64_t now_ns);

/* Is there time to touch a new spare (child_warm.h)? The same. */
bool csb_pool_at_leisure(const struct csb_pool *pool, int64_t now_ns);

/* Are fewer spares ready than are made at once? Who takes one then wakes the keeper. */
bool csb_pool_is_low(const struct csb_pool *pool);

/* Is there work for the keeper at once, now that a run is over? */
bool csb_pool_is_urgent(const struct csb_pool *pool);

/* Make pool->filter_fd, unless it is there. The keeper's. */
int csb_pool_filter(struct csb_pool *pool, struct csb_error *reterr) CSB_MUST_USE;

/* Conditions on the monotonic clock. */
void csb_pool_init_condition(pthread_cond_t *condition);
void csb_pool_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock,
                         int64_t until_ns);

struct csb_spare *csb_spare_new(void);

/* Kill what is left of the child, remove its folder, free. */
void csb_spare_free(struct csb_spare *spare);

#endif
