/* Theory of operation: in any thread of the caller. Who asks for a spare gets one at once when
 * nobody waits and a worker's place is free; else a place in a queue, first come, first
 * served. Each waiter has a condition of its own, so that one spare wakes one thread. */
#include "pool_state.h"

#include "clock.h"

#include <errno.h>
#include <unistd.h>

#define LOOK_NS (100 * CSB_NS_PER_MS)

void
csb_pool_wake(const struct csb_pool *pool)
{
    const uint64_t one = 1;
    (void)!write(pool->wake_fd, &one, sizeof one); /* EAGAIN: it is awake */
}

static struct csb_spare *
pop_ready(struct csb_pool *pool)
{
    struct csb_spare *spare = pool->ready;
    pool->ready = spare->next;
    pool->ready_count--;
    pool->running++;
    pool->taken_ns = csb_clock_now_ns();
    spare->next = NULL;
    return spare;
}

static struct csb_waiter *
pop(struct csb_queue *queue)
{
    struct csb_waiter *waiter = queue->first;
    queue->first = waiter->next;
    queue->last = queue->first == NULL ? NULL : queue->last;
    return waiter;
}

static void
append(struct csb_queue *queue, struct csb_waiter *waiter)
{
    if (queue->last == NULL) {
        queue->first = waiter;
    } else {
        queue->last->next = waiter;
    }
    queue->last = waiter;
}

void
csb_pool_rouse(struct csb_queue *queue, bool failed)
{
    for (struct csb_waiter *waiter = queue->first; waiter != NULL;
         waiter = waiter->next) {
        waiter->failed = failed || waiter->failed;
        (void)pthread_cond_signal(&waiter->granted);
    }
}

bool
csb_pool_grant_session(struct csb_pool *pool, struct csb_spare *spare)
{
    struct csb_waiter *waiter;
    if (pool->sessions.first == NULL) {
        return false;
    }
    waiter = pop(&pool->sessions);
    waiter->spare = spare;
    pool->running++;
    (void)pthread_cond_signal(&waiter->granted);
    return true;
}

void
csb_pool_grant(struct csb_pool *pool)
{
    while (pool->queue.first != NULL && pool->ready != NULL &&
           pool->running < pool->options.workers) {
        struct csb_waiter *waiter = pop(&pool->queue);
        waiter->spare = pop_ready(pool);
        (void)pthread_cond_signal(&waiter->granted);
    }
}

static void
leave_queue(struct csb_queue *queue, const struct csb_waiter *waiter)
{
    struct csb_waiter **link = &queue->first;
    struct csb_waiter *before = NULL;
    while (*link != NULL && *link != waiter) {
        before = *link;
        link = &before->next;
    }
    if (*link == waiter) {
        *link = waiter->next;
        queue->last = queue->last == waiter ? before : queue->last;
    }
}

void
csb_pool_init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(condition, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

void
csb_pool_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t until_ns)
{
    const struct timespec until = {(time_t)(until_ns / CSB_NS_PER_S),
                                   (long)(until_ns % CSB_NS_PER_S)};
    (void)pthread_cond_timedwait(condition, lock, &until);
}

static bool
is_cancelled(const struct csb_job *job)
{
    return job->interrupted != NULL && job->interrupted(job->interrupted_argument);
}

/* In the queue, with the lock held on entry and on return; while it waits its turn a worker's
 * place counts for as long as runs may take, a spare for as long as start-up may. */
static int
wait_for_turn(struct csb_pool *pool, const struct csb_queue *queue,
              struct csb_waiter *waiter, const struct csb_job *job,
              struct csb_error *reterr)
{
    int64_t starved_ns = csb_clock_now_ns();
    while (waiter->spare == NULL) {
        int64_t now;
        bool cancelled;
        if (waiter->failed) {
            *reterr = pool->error;
            return -(reterr->err == 0 ? EPROTO : reterr->err);
        }
        if (pool->closing) {
            return csb_fail(reterr, CSB_STEP_STARTUP, ECANCELED, "the pool was closed");
        }
        csb_pool_wait_until(&waiter->granted, &pool->lock,
                            csb_clock_now_ns() + LOOK_NS);
        if (waiter->spare != NULL) {
            break;
        }
        (void)pthread_mutex_unlock(&pool->lock);
        cancelled = is_cancelled(job);
        (void)pthread_mutex_lock(&pool->lock);
        if (cancelled && waiter->spare == NULL) {
            return csb_fail(reterr, CSB_STEP_STARTUP, EINTR,
                            "interrupted while waiting");
        }
        now = csb_clock_now_ns();
        if (queue == &pool->queue &&
            (pool->running >= pool->options.workers || waiter != queue->first)) {
            starved_ns = now;
        } else if (now - starved_ns > pool->options.startup_ns) {
            return csb_fail(reterr, CSB_STEP_STARTUP, ETIMEDOUT,
                            "no child was ready within the start-up time");
        }
    }
    return 0;
}

/* With the lock held. */
static int
wait_in(struct csb_pool *pool, struct csb_queue *queue, struct csb_waiter *waiter,
        const struct csb_job *job, struct csb_error *reterr)
{
    int result;
    csb_pool_init_condition(&waiter->granted);
    append(queue, waiter);
    pool->waiting++;
    csb_pool_wake(pool);
    result = wait_for_turn(pool, queue, waiter, job, reterr);
    pool->waiting--;
    leave_queue(queue, waiter);
    (void)pthread_cond_destroy(&waiter->granted);
    return result;
}

int
csb_pool_take_session(struct csb_pool *pool, const struct csb_job *job,
                      struct csb_spare **ret, struct csb_error *reterr)
{
    struct csb_waiter waiter = {0};
    int result;
    (void)pthread_mutex_lock(&pool->lock);
    if (pool->closing) {
        result = csb_fail(reterr, CSB_STEP_STARTUP, ECANCELED, "the pool is closed");
    } else {
        pool->sessions_waiting++;
        result = wait_in(pool, &pool->sessions, &waiter, job, reterr);
        pool->sessions_waiting--;
    }
    (void)pthread_mutex_unlock(&pool->lock);
    *ret = waiter.spare;
    return result;
}

int
csb_pool_take(struct csb_pool *pool, const struct csb_job *job, struct csb_spare **ret,
              struct csb_error *reterr)
{
    struct csb_waiter waiter = {0};
    int result = 0;
    bool low;
    (void)pthread_mutex_lock(&pool->lock);
    if (pool->closing) {
        result = csb_fail(reterr, CSB_STEP_STARTUP, ECANCELED, "the pool is closed");
    } else if (pool->queue.first == NULL && pool->ready != NULL &&
               pool->running < pool->options.workers) {
        pool->stats.spares_hit++;
        waiter.spare = pop_ready(pool);
    } else {
        pool->stats.spares_missed++;
        result = wait_in(pool, &pool->queue, &waiter, job, reterr);
    }
    low = csb_pool_is_low(pool);
    (void)pthread_mutex_unlock(&pool->lock);
    if (low) {
        csb_pool_wake(pool);
    }
    *ret = waiter.spare;
    return result;
}

/* A run with a head start keeps two processors busy: the guard's and the child's. */
static unsigned
head_starts(const struct csb_pool *pool)
{
    const unsigned most = pool->options.processors / 2;
    return most < pool->options.workers ? most : pool->options.workers;
}

struct csb_spare *
csb_pool_take_at_leisure(struct csb_pool *pool)
{
    struct csb_spare *spare = NULL;
    bool low;
    (void)pthread_mutex_lock(&pool->lock);
    if (!pool->closing && pool->queue.first == NULL && pool->ready != NULL &&
        pool->running < head_starts(pool)) {
        pool->stats.spares_hit++;
        spare = pop_ready(pool);
    }
    low = csb_pool_is_low(pool);
    (void)pthread_mutex_unlock(&pool->lock);
    if (spare != NULL && low) {
        csb_pool_wake(pool);
    }
    return spare;
}
