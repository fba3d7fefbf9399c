/* Theory of operation: the callers' half of a pool, in any thread of the caller. A run takes
 * a spare (or waits for one, first come, first served), gives it the submission and drives it
 * to its end as a fresh run is driven; what is left over goes to the keeper, so that its
 * removal costs no caller time. */
#include "pool_state.h"

#include "clock.h"
#include "fd.h"
#include "submission.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
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
    spare->next = NULL;
    return spare;
}

void
csb_pool_grant(struct csb_pool *pool)
{
    while (pool->first != NULL && pool->ready != NULL &&
           pool->running < pool->options.workers) {
        struct csb_waiter *waiter = pool->first;
        pool->first = waiter->next;
        pool->last = pool->first == NULL ? NULL : pool->last;
        waiter->spare = pop_ready(pool);
        (void)pthread_cond_signal(&waiter->granted);
    }
}

static void
leave_queue(struct csb_pool *pool, const struct csb_waiter *waiter)
{
    struct csb_waiter **link = &pool->first;
    struct csb_waiter *before = NULL;
    while (*link != NULL && *link != waiter) {
        before = *link;
        link = &before->next;
    }
    if (*link == waiter) {
        *link = waiter->next;
        pool->last = pool->last == waiter ? before : pool->last;
    }
}

static void
init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(condition, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

static void
wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t until_ns)
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
wait_for_turn(struct csb_pool *pool, struct csb_waiter *waiter,
              const struct csb_job *job, struct csb_error *reterr)
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
        wait_until(&waiter->granted, &pool->lock, csb_clock_now_ns() + LOOK_NS);
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
        if (pool->running >= pool->options.workers || waiter != pool->first) {
            starved_ns = now;
        } else if (now - starved_ns > pool->options.startup_ns) {
            return csb_fail(reterr, CSB_STEP_STARTUP, ETIMEDOUT,
                            "no child was ready within the start-up time");
        }
    }
    return 0;
}

static int
take(struct csb_pool *pool, const struct csb_job *job, struct csb_spare **ret,
     struct csb_error *reterr)
{
    struct csb_waiter waiter = {0};
    int result = 0;
    bool low;
    (void)pthread_mutex_lock(&pool->lock);
    if (pool->closing) {
        result = csb_fail(reterr, CSB_STEP_STARTUP, ECANCELED, "the pool is closed");
    } else if (pool->first == NULL && pool->ready != NULL &&
               pool->running < pool->options.workers) {
        pool->stats.spares_hit++;
        waiter.spare = pop_ready(pool);
    } else {
        pool->stats.spares_missed++;
        init_condition(&waiter.granted);
        if (pool->last == NULL) {
            pool->first = &waiter;
        } else {
            pool->last->next = &waiter;
        }
        pool->last = &waiter;
        pool->waiting++;
        csb_pool_wake(pool);
        result = wait_for_turn(pool, &waiter, job, reterr);
        pool->waiting--;
        leave_queue(pool, &waiter);
        (void)pthread_cond_destroy(&waiter.granted);
    }
    low = pool->ready_count == 0;
    (void)pthread_mutex_unlock(&pool->lock);
    if (low) {
        csb_pool_wake(pool);
    }
    *ret = waiter.spare;
    return result;
}

/* What is left of the spare goes to the keeper. */
static void
put_back(struct csb_pool *pool, struct csb_spare *spare, bool held_place)
{
    (void)pthread_mutex_lock(&pool->lock);
    spare->next = pool->used;
    pool->used = spare;
    if (held_place) {
        pool->running--;
        csb_pool_grant(pool);
    }
    (void)pthread_cond_broadcast(&pool->idle);
    (void)pthread_mutex_unlock(&pool->lock);
    csb_pool_wake(pool);
}

/* The CPU limit of a session is that of each cell, measured from outside. */
static size_t
without_cpu(struct csb_rlimit *rlimits, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (rlimits[i].resource != RLIMIT_CPU) {
            rlimits[kept++] = rlimits[i];
        }
    }
    return kept;
}

/* RLIMIT_DATA counts what the child has from its zygote, too. */
static size_t
own_rlimits(const struct csb_spare *spare, const struct csb_limits *limits,
            bool session, struct csb_rlimit *ret)
{
    size_t count = csb_limits_to_rlimits(limits, ret);
    if (session) {
        count = without_cpu(ret, count);
    }
    for (size_t i = 0; i < count; i++) {
        if (ret[i].resource == RLIMIT_DATA &&
            ret[i].value < UINT64_MAX - spare->start.inherited.data_bytes) {
            ret[i].value += spare->start.inherited.data_bytes;
        }
    }
    return count;
}

/* Everything between a spare and a run: input, files, the submission message. */
static int
prepare(const struct csb_pool *pool, struct csb_spare *spare,
        const struct csb_request *request, struct csb_message *ret,
        struct csb_error *reterr)
{
    struct csb_rlimit rlimits[CSB_RLIMITS_MAX];
    struct csb_submission submission = {
        .mode = request->job.mode,
        .file_name = request->file_name,
        .arguments = request->arguments,
        .environment = request->environment, /* it has the policy's already */
        .rlimits = rlimits,
        .rlimit_count = own_rlimits(spare, request->job.limits,
                                    request->job.mode == CSB_MODE_SESSION, rlimits),
        .prelude = request->prelude,
        .source_bytes = request->job.source.count};
    int result = csb_kit_fill(&spare->kit, &request->input, request->files,
                              request->file_count, reterr);
    if (result == 0) {
        result =
            csb_kit_make_leaf(&spare->kit, pool->policy, request->job.limits, reterr);
    }
    if (result == 0) {
        result = csb_submission_build(&submission, ret, reterr);
    }
    return result;
}

/* The child was there before its control group: it is moved in from outside. */
static uint32_t
own_group(const struct csb_pool *pool, struct csb_spare *spare)
{
    const pid_t pid = spare->start.process.pid;
    if (pool->policy->cgroup.fd < 0 || spare->kit.leaf.procs_fd < 0 ||
        csb_leaf_take(&spare->kit.leaf, pid) < 0) {
        return 0;
    }
    return csb_leaf_holds(&spare->kit.leaf, pid) ? CSB_FEATURE_BIT(CSB_FEATURE_CGROUP)
                                                 : 0;
}

static void
count_run(struct csb_pool *pool, int64_t begun_ns)
{
    (void)pthread_mutex_lock(&pool->lock);
    pool->samples[pool->stats.runs % CSB_POOL_SAMPLES] = csb_clock_now_ns() - begun_ns;
    pool->stats.runs++;
    (void)pthread_mutex_unlock(&pool->lock);
}

/* The child was gone before the submission could begin, with its zygote: nothing of it was
 * executed, so it may have another. */
static bool
deserves_another(struct csb_pool *pool, const struct csb_report *report, int result,
                 uint64_t generation)
{
    bool lost;
    (void)pthread_mutex_lock(&pool->lock);
    lost = pool->last_lost >= generation;
    (void)pthread_mutex_unlock(&pool->lock);
    return result == 0 && !report->facts.begun && !report->facts.exit_known &&
           report->facts.stop == CSB_STOP_NONE && (lost || report->facts.signal == 0);
}

static int
run_once(struct csb_pool *pool, const struct csb_request *request,
         struct csb_report *ret, struct csb_error *reterr, bool *ret_again)
{
    struct csb_job job = csb_request_job(request, pool->policy);
    struct csb_message message = {0};
    struct csb_disk disk;
    struct csb_spare *spare;
    const int64_t begun_ns = csb_clock_now_ns();
    int result = take(pool, &job, &spare, reterr);
    *ret_again = false;
    if (result < 0) {
        memset(ret, 0, sizeof *ret);
        return result;
    }
    spare->start.waited_ns = csb_clock_now_ns() - begun_ns;
    result = prepare(pool, spare, request, &message, reterr);
    if (result == 0) {
        job.submission = (struct csb_bytes){message.bytes, message.count};
        disk =
            csb_kit_disk(&spare->kit, job.limits, request->files, request->file_count);
        job.disk = pool->policy->scratch_writable ? &disk : NULL;
        job.seen = own_group(pool, spare);
        job.settle =
            request->collection != NULL && request->collection->patterns->count > 0;
        result = csb_supervise(&spare->start, &job, ret, reterr);
        csb_kit_blame_memory(&spare->kit, &ret->facts);
        spare->files_made = ret->notify.files_made;
        spare->counted = spare->start.listener >= 0 && spare->kit.leaf.fd < 0;
        *ret_again = deserves_another(pool, ret, result, spare->generation);
        if (result == 0 && !*ret_again && request->collection != NULL) {
            csb_collect(request->collection, spare->kit.scratch.fd);
        }
    } else {
        memset(ret, 0, sizeof *ret);
    }
    csb_message_done(&message);
    put_back(pool, spare, true);
    count_run(pool, begun_ns);
    return result;
}

int
csb_pool_run(struct csb_pool *pool, const struct csb_request *request,
             struct csb_report *ret, struct csb_error *reterr)
{
    bool again;
    int result = run_once(pool, request, ret, reterr, &again);
    /* All spares of a zygote die with it, and may be met before the keeper has seen it. */
    for (unsigned i = 0; again && i < pool->options.spares; i++) {
        csb_report_done(ret);
        result = run_once(pool, request, ret, reterr, &again);
    }
    return result;
}

int
csb_pool_open_session(struct csb_pool *pool, const struct csb_request *request,
                      struct csb_run **ret_run, struct csb_kit *ret_kit,
                      struct csb_report *ret, struct csb_error *reterr)
{
    struct csb_job job = csb_request_job(request, pool->policy);
    struct csb_message message = {0};
    struct csb_spare *spare;
    int result = take(pool, &job, &spare, reterr);
    *ret_run = NULL;
    csb_kit_init(ret_kit);
    memset(ret, 0, sizeof *ret);
    if (result < 0) {
        return result;
    }
    result = prepare(pool, spare, request, &message, reterr);
    if (result == 0) {
        job.submission = (struct csb_bytes){message.bytes, message.count};
        result = csb_run_open(&spare->start, &job, ret_run, ret, reterr);
    }
    csb_message_done(&message);
    if (*ret_run != NULL) {
        *ret_kit = spare->kit;
        /* the name points into the struct that was copied */
        ret_kit->scratch.name =
            ret_kit->scratch.path + (spare->kit.scratch.name - spare->kit.scratch.path);
        csb_kit_init(&spare->kit);
    }
    put_back(pool, spare, true);
    return result;
}

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
    (void)pthread_mutex_lock(&pool->lock);
    while (pool->ready_count < pool->options.spares && csb_clock_now_ns() < until) {
        wait_until(&pool->idle, &pool->lock, until);
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
    csb_zygote_init(&pool->zygote);
    csb_zygote_init(&pool->retired);
    (void)pthread_mutex_init(&pool->lock, NULL);
    init_condition(&pool->idle);
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
csb_pool_close(struct csb_pool *pool)
{
    (void)pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    for (struct csb_waiter *waiter = pool->first; waiter != NULL;
         waiter = waiter->next) {
        (void)pthread_cond_signal(&waiter->granted);
    }
    (void)pthread_mutex_unlock(&pool->lock);
    csb_pool_wake(pool);
    (void)pthread_join(pool->keeper, NULL);
    pool_free(pool);
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
        csb_fd_close(&spare->kit.scratch.fd);
        csb_fd_close(&spare->kit.scratch.base_fd);
    }
}

void
csb_pool_abandon(struct csb_pool *pool)
{
    abandon_spares(pool->ready);
    abandon_spares(pool->pending);
    csb_fd_close(&pool->zygote.process.pidfd);
    csb_fd_close(&pool->zygote.control_fd);
    csb_fd_close(&pool->zygote.errors_fd);
    csb_fd_close(&pool->retired.process.pidfd);
    csb_fd_close(&pool->retired.control_fd);
    csb_fd_close(&pool->retired.errors_fd);
    csb_fd_close(&pool->wake_fd);
}
