/* Theory of operation: in any thread of the caller: makes a pool, tells its figures, ends it. */
#include "pool_state.h"

#include "clock.h"
#include "fd.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

static int
compare_ns(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left;
    const int64_t b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

void
csb_pool_stats_of(struct csb_pool *pool, struct csb_pool_stats *ret)
{
    int64_t samples[CSB_POOL_SAMPLES];
    struct csb_procfs procfs;
    size_t count;
    (void)pthread_mutex_lock(&pool->lock);
    *ret = pool->stats;
    ret->waiting = pool->waiting;
    ret->running = pool->running;
    ret->ready = pool->ready_count;
    memcpy(samples, pool->samples, sizeof samples);
    (void)pthread_mutex_unlock(&pool->lock);
    count = ret->runs < CSB_POOL_SAMPLES ? (size_t)ret->runs : CSB_POOL_SAMPLES;
    if (count > 0) {
        qsort(samples, count, sizeof samples[0], compare_ns);
        ret->p50_ns = samples[count / 2];
        ret->p99_ns = samples[count * 99 / 100];
    }
    if (ret->zygote_pid > 0) {
        csb_procfs_open(&procfs, ret->zygote_pid);
        ret->zygote_resident_bytes = csb_procfs_resident_bytes(&procfs);
        csb_procfs_close(&procfs);
    }
}

bool
csb_pool_wait_ready(struct csb_pool *pool, int64_t wait_ns)
{
    const int64_t until = csb_clock_now_ns() + wait_ns;
    bool ready;
    /* The keeper makes what was taken when it is asked, or when a run is over. */
    csb_pool_wake(pool);
    (void)pthread_mutex_lock(&pool->lock);
    while ((pool->ready_count < pool->options.spares || pool->used_count > 0) &&
           !pool->closing && csb_clock_now_ns() < until) {
        csb_pool_wait_until(&pool->idle, &pool->lock, until);
    }
    ready = pool->ready_count > 0;
    (void)pthread_mutex_unlock(&pool->lock);
    return ready;
}

static int
start_keeper(struct csb_pool *pool)
{
    sigset_t all;
    sigset_t before;
    int err;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    err = pthread_create(&pool->keeper, NULL, csb_pool_keep, pool);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -err;
}

static void
pool_free(struct csb_pool *pool)
{
    csb_fd_close(&pool->wake_fd);
    csb_fd_close(&pool->filter_fd);
    csb_strings_done(&pool->preload);
    (void)pthread_cond_destroy(&pool->idle);
    (void)pthread_mutex_destroy(&pool->lock);
    free(pool);
}

int
csb_pool_open(const struct csb_policy *policy, const struct csb_pool_options *options,
              struct csb_pool **ret, struct csb_error *reterr)
{
    struct csb_pool *pool = calloc(1, sizeof *pool);
    int result = 0;
    *ret = NULL;
    if (pool == NULL) {
        return csb_fail(reterr, CSB_STEP_MEMORY, ENOMEM, "no memory for a pool");
    }
    pool->policy = policy;
    pool->options = *options;
    pool->options.preload = NULL;
    pool->stats.zygote_pid = -1;
    pool->filter_fd = CSB_FD_NONE;
    csb_zygote_init(&pool->zygote);
    csb_zygote_init(&pool->retired);
    (void)pthread_mutex_init(&pool->lock, NULL);
    csb_pool_init_condition(&pool->idle);
    for (size_t i = 0; i < options->preload->count && result == 0; i++) {
        result = csb_strings_add(&pool->preload, options->preload->items[i]);
    }
    pool->wake_fd = csb_fd_raise(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (result == 0 && pool->wake_fd < 0) {
        result = pool->wake_fd;
    }
    if (result == 0) {
        result = start_keeper(pool);
    }
    if (result < 0) {
        pool_free(pool);
        return csb_fail(reterr, CSB_STEP_STARTUP, -result, "start a pool: %s",
                        strerror(-result));
    }
    *ret = pool;
    return 0;
}

void
csb_pool_end(struct csb_pool *pool, bool kill)
{
    (void)pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pool->killing = kill;
    csb_pool_rouse(&pool->queue, false);
    csb_pool_rouse(&pool->sessions, false);
    (void)pthread_cond_broadcast(&pool->idle);
    (void)pthread_mutex_unlock(&pool->lock);
    csb_pool_wake(pool);
    (void)pthread_join(pool->keeper, NULL);
}

void
csb_pool_free(struct csb_pool *pool)
{
    bool left_behind;
    (void)pthread_mutex_lock(&pool->lock);
    left_behind = pool->left_behind;
    (void)pthread_mutex_unlock(&pool->lock);
    if (!left_behind) {
        pool_free(pool);
    }
}

void
csb_pool_close(struct csb_pool *pool, bool kill)
{
    csb_pool_end(pool, kill);
    csb_pool_free(pool);
}

static void
abandon_spares(struct csb_spare *spare)
{
    for (; spare != NULL; spare = spare->next) {
        csb_fd_close(&spare->start.process.pidfd);
        csb_fd_close(&spare->start.ends.stdout_fd);
        csb_fd_close(&spare->start.ends.stderr_fd);
        csb_fd_close(&spare->start.ends.channel_fd);
        csb_fd_close(&spare->start.ends.status_fd);
        csb_fd_close(&spare->start.listener);
        csb_procfs_close(&spare->start.procfs);
        csb_kit_close_child_fds(&spare->kit);
        csb_fd_close(&spare->kit.input_fd);
        csb_fd_close(&spare->kit.ruleset_fd);
        csb_fd_close(&spare->kit.leaf.fd);
        csb_fd_close(&spare->kit.leaf.procs_fd);
        csb_fd_close(&spare->kit.scratch.fd);
        csb_fd_close(&spare->kit.scratch.base_fd);
    }
}

static void
abandon_zygote(struct csb_zygote *zygote)
{
    csb_fd_close(&zygote->process.pidfd);
    csb_fd_close(&zygote->control_fd);
    csb_fd_close(&zygote->errors_fd);
    csb_fd_close(&zygote->home.fd);
    csb_fd_close(&zygote->home.base_fd);
}

void
csb_pool_abandon(struct csb_pool *pool)
{
    abandon_spares(pool->ready);
    abandon_spares(pool->pending);
    abandon_spares(pool->used);
    abandon_zygote(&pool->zygote);
    abandon_zygote(&pool->retired);
    csb_fd_close(&pool->filter_fd);
    csb_fd_close(&pool->wake_fd);
}
