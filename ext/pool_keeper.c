/* Theory of operation: the one thread of a pool, in the caller, all signals blocked, never
 * in Python. It starts the zygote (which therefore dies when this thread does), asks it for
 * spares, hears them say READY, clears up behind runs, and replaces the zygote when it is
 * old, or dead. Callers meet it only under the lock. */
#include "pool_state.h"

#include "clock.h"
#include "fd.h"
#include "handshake.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KILL_WAIT_NS (2 * CSB_NS_PER_S)
#define RETRY_NS (100 * CSB_NS_PER_MS)
#define RETRY_KILLED_NS (20 * CSB_NS_PER_MS)
#define LONGEST_RETRY_NS (5 * CSB_NS_PER_S)

/* So many failures one after the other, and those who wait are told. One that was killed by a
 * signal has shown nothing wrong with what it was asked to do. */
enum {
    FAILURES_UNTIL_TOLD = 2,
    KILLS_UNTIL_TOLD = 8,
    PENDING_MAX = 64,
    FIXED_POLLS = 4,
    DYING_MS = 100
};

struct csb_spare *
csb_spare_new(void)
{
    struct csb_spare *spare = calloc(1, sizeof *spare);
    if (spare != NULL) {
        csb_start_init(&spare->start);
        csb_kit_init(&spare->kit);
    }
    return spare;
}

void
csb_spare_free(struct csb_spare *spare)
{
    if (spare != NULL) {
        csb_start_discard(&spare->start);
        /* Whatever lies in a folder, the next spare must not wait for its removal. */
        csb_kit_done(&spare->kit, spare->files_made == 0 ? 0 : UINT32_MAX);
        free(spare);
    }
}

static void
free_all(struct csb_spare *list)
{
    while (list != NULL) {
        struct csb_spare *next = list->next;
        csb_spare_free(list);
        list = next;
    }
}

/* Tell everybody who waits; later callers try again. */
static void
fail(struct csb_pool *pool, const struct csb_error *error)
{
    const bool killed = error->err == CSB_POOL_KILLED;
    const unsigned until = killed ? KILLS_UNTIL_TOLD : FAILURES_UNTIL_TOLD;
    int64_t pause = killed ? RETRY_KILLED_NS : RETRY_NS;
    (void)pthread_mutex_lock(&pool->lock);
    pool->stats.failures++;
    pool->failures_in_a_row++;
    for (unsigned i = 1; i < pool->failures_in_a_row && pause < LONGEST_RETRY_NS; i++) {
        pause *= 2;
    }
    pool->error = *error;
    if (pool->failures_in_a_row >= until) {
        csb_pool_rouse(&pool->queue, true);
        csb_pool_rouse(&pool->sessions, true);
    }
    (void)pthread_mutex_unlock(&pool->lock);
    pool->retry_ns = csb_clock_now_ns() + pause;
}

/* The zygote died, by itself or by somebody's hand: its children die with it. */
static void
lose_zygote(struct csb_pool *pool, bool blame)
{
    struct csb_spare *lost;
    struct csb_error error;
    const bool worked = pool->worked;
    if (blame) {
        csb_zygote_explain(&pool->zygote, &error);
    }
    pool->worked = false;
    csb_zygote_kill(&pool->zygote);
    if (blame && pool->zygote.ended.signal != 0) {
        (void)csb_fail(&error, CSB_STEP_STARTUP, CSB_POOL_KILLED,
                       "the warm interpreter was killed by signal %d, again and again",
                       pool->zygote.ended.signal);
    }
    (void)pthread_mutex_lock(&pool->lock);
    lost = pool->ready;
    pool->ready = NULL;
    pool->ready_count = 0;
    pool->stats.zygote_pid = -1;
    (void)pthread_mutex_unlock(&pool->lock);
    free_all(lost);
    free_all(pool->pending);
    pool->pending = NULL;
    pool->pending_count = pool->sessions_pending = 0;
    if (blame && worked) {
        (void)pthread_mutex_lock(&pool->lock);
        pool->stats.failures++; /* somebody killed it: the next one is made at once */
        (void)pthread_mutex_unlock(&pool->lock);
    } else if (blame) {
        fail(pool, &error);
    }
}

static bool
is_due(const struct csb_pool *pool, int64_t now_ns)
{
    const struct csb_zygote *zygote = &pool->zygote;
    return zygote->forks >= pool->options.renew_runs ||
           now_ns - zygote->born_ns >= pool->options.renew_ns;
}

static void
start_zygote(struct csb_pool *pool)
{
    struct csb_error error;
    if (csb_zygote_start(&pool->zygote, pool->policy, &pool->preload, &error) < 0) {
        fail(pool, &error);
        return;
    }
    (void)pthread_mutex_lock(&pool->lock);
    pool->generation++;
    pool->stats.renewals = pool->generation - 1;
    pool->stats.zygote_pid = pool->zygote.process.pid;
    (void)pthread_mutex_unlock(&pool->lock);
}

/* An old zygote is let go when nothing is pending on it; its spares are used up meanwhile.
 * One may linger: the next waits until that one's last child has ended. */
static void
look_after_zygote(struct csb_pool *pool, int64_t now_ns)
{
    struct csb_exit ended;
    if (pool->retired.process.pidfd >= 0 &&
        csb_process_reap(&pool->retired.process, 0, &ended)) {
        csb_zygote_kill(&pool->retired);
    }
    if (pool->zygote.process.pidfd >= 0 && pool->pending == NULL &&
        pool->retired.process.pidfd < 0 && is_due(pool, now_ns)) {
        csb_zygote_retire(&pool->zygote);
        csb_zygote_move(&pool->retired, &pool->zygote);
    }
    if (pool->zygote.process.pidfd < 0 && now_ns >= pool->retry_ns) {
        start_zygote(pool);
    }
}

static int
make_things(struct csb_pool *pool, struct csb_spare *spare, struct csb_error *reterr)
{
    int result;
    if (spare == NULL) {
        return csb_fail(reterr, CSB_STEP_MEMORY, ENOMEM, "no memory for a spare");
    }
    if (!spare->branchable) {
        return csb_kit_make(&spare->kit, pool->policy, &spare->start.ends, reterr);
    }
    result = csb_pool_filter(pool, reterr);
    return result < 0 ? result
                      : csb_kit_make_first(&spare->kit, pool->policy,
                                           &spare->start.ends, reterr);
}

static void
begin_spare(struct csb_pool *pool, bool touch, bool branchable)
{
    struct csb_error error;
    struct csb_spare *spare = csb_spare_new();
    int result;
    if (spare != NULL) {
        spare->branchable = branchable;
    }
    result = make_things(pool, spare, &error);
    if (result == 0) {
        result = csb_zygote_fork(&pool->zygote, &spare->kit, touch && !branchable,
                                 branchable ? pool->filter_fd : CSB_FD_NONE,
                                 &spare->start, &error);
    }
    if (result < 0) {
        csb_spare_free(spare);
        if (error.err != EPIPE && error.err != ECONNRESET) {
            fail(pool, &error);
        } /* else the zygote is gone: its end, which is heard next, says why */
        return;
    }
    csb_kit_close_child_fds(&spare->kit);
    spare->generation = pool->generation;
    spare->begun_ns = csb_clock_now_ns();
    spare->next = pool->pending;
    pool->pending = spare;
    pool->pending_count++;
    pool->sessions_pending += branchable;
}

static void
make_spares(struct csb_pool *pool, int64_t now_ns)
{
    unsigned wanted;
    unsigned sessions;
    bool at_leisure;
    (void)pthread_mutex_lock(&pool->lock);
    at_leisure = csb_pool_at_leisure(pool, now_ns);
    sessions = pool->closing ? 0 : pool->sessions_waiting;
    wanted = pool->closing ? 0 : csb_pool_wanted(pool, now_ns);
    (void)pthread_mutex_unlock(&pool->lock);
    while (pool->zygote.process.pidfd >= 0 && now_ns >= pool->retry_ns &&
           pool->pending_count < PENDING_MAX &&
           (pool->sessions_pending < sessions ||
            pool->pending_count - pool->sessions_pending < wanted)) {
        unsigned before = pool->pending_count;
        begin_spare(pool, at_leisure, pool->sessions_pending < sessions);
        if (pool->pending_count == before) {
            break;
        }
    }
}

static void
clear_up(struct csb_pool *pool, bool all)
{
    struct csb_spare *used = NULL;
    unsigned count = 0;
    (void)pthread_mutex_lock(&pool->lock);
    if (all || csb_pool_to_clear(pool, csb_clock_now_ns())) {
        used = pool->used;
        count = pool->used_count;
        pool->used = NULL;
    }
    (void)pthread_mutex_unlock(&pool->lock);
    free_all(used);
    if (count > 0) {
        (void)pthread_mutex_lock(&pool->lock);
        pool->used_count -= count;
        (void)pthread_cond_broadcast(&pool->idle);
        (void)pthread_mutex_unlock(&pool->lock);
    }
}

static void
put_ready(struct csb_pool *pool, struct csb_spare *spare)
{
    struct csb_spare **link = &pool->ready;
    struct csb_spare *oldest;
    while (*link != NULL && (*link)->generation < spare->generation) {
        link = &(*link)->next;
    }
    spare->next = *link;
    *link = spare;
    pool->ready_count++;
    oldest = pool->ready;
    if (pool->ready_count > pool->options.spares &&
        oldest->generation < spare->generation) {
        pool->ready = oldest->next;
        pool->ready_count--;
        oldest->next = pool->used;
        pool->used = oldest;
    }
}

static void
spare_is_ready(struct csb_pool *pool, struct csb_spare *spare)
{
    struct csb_start *start = &spare->start;
    csb_procfs_open(&start->procfs, start->process.pid);
    (void)csb_procfs_memory(&start->procfs, &start->inherited);
    start->ready = true;
    spare->next = NULL;
    if (spare->kit.member != NULL) {
        csb_member_is(spare->kit.member, start->process.pid);
    }
    pool->worked = true;
    (void)pthread_mutex_lock(&pool->lock);
    if (!spare->branchable) {
        put_ready(pool, spare);
    } else if (!csb_pool_grant_session(pool, spare)) {
        spare->next = pool->used; /* who asked for it went away */
        pool->used = spare;
    }
    pool->failures_in_a_row = 0;
    csb_pool_grant(pool);
    (void)pthread_cond_broadcast(&pool->idle);
    (void)pthread_mutex_unlock(&pool->lock);
}

/* 0 = not yet, 1 = ready, -1 = it will never be (reterr). */
static int
advance(struct csb_spare *spare, int64_t deadline_ns, struct csb_error *reterr)
{
    struct csb_start *start = &spare->start;
    struct csb_wire_record record;
    int result;
    if (!spare->forked) {
        result = csb_handshake_forked(start->ends.status_fd, &start->process);
        if (result < 0) {
            return csb_fail(reterr, CSB_STEP_CLONE, -result, "fork a spare child: %s",
                            strerror(-result));
        }
        spare->forked = result == 1;
    }
    if (!spare->heard) {
        int listener;
        ssize_t count =
            csb_handshake_receive(start->ends.channel_fd, &record, &listener);
        if (count == (ssize_t)sizeof record && record.magic == CSB_WIRE_MAGIC &&
            record.kind == CSB_WIRE_READY) {
            start->mask = record.mask;
            start->listener = listener < 0 ? listener : csb_fd_raise(listener);
            spare->heard = true;
        } else {
            csb_fd_close(&listener);
            if (count == (ssize_t)sizeof record && record.step < CSB_STEP_COUNT) {
                return csb_fail(reterr, (enum csb_step)record.step, record.err,
                                "the child could not %s: %s",
                                csb_step_name((enum csb_step)record.step),
                                strerror(record.err));
            }
            if (count >= 0 || errno != EAGAIN) {
                return csb_fail(reterr, CSB_STEP_STARTUP, EPROTO,
                                "a spare child ended before it was ready");
            }
        }
    }
    if (spare->forked && spare->heard) {
        return 1;
    }
    return csb_clock_now_ns() < deadline_ns
               ? 0
               : csb_fail(reterr, CSB_STEP_STARTUP, ETIMEDOUT,
                          "a spare child was not ready within its time");
}

/* A spare ends with its zygote, and may be heard to end first. */
static bool
zygote_is_dying(const struct csb_pool *pool)
{
    struct pollfd ended = {pool->zygote.process.pidfd, POLLIN, 0};
    return pool->zygote.process.pidfd >= 0 && poll(&ended, 1, DYING_MS) > 0;
}

static void
advance_all(struct csb_pool *pool)
{
    struct csb_spare **link = &pool->pending;
    struct csb_error error;
    while (*link != NULL) {
        struct csb_spare *spare = *link;
        int result = advance(spare, spare->begun_ns + pool->options.startup_ns, &error);
        if (result == 0) {
            link = &spare->next;
            continue;
        }
        *link = spare->next;
        pool->pending_count--;
        pool->sessions_pending -= spare->branchable;
        if (result == 1) {
            spare_is_ready(pool, spare);
        } else {
            csb_spare_free(spare);
            if (!zygote_is_dying(pool)) {
                fail(pool, &error);
            } /* else its own end, which is heard next, says more */
        }
    }
}

static int
milliseconds_until(const struct csb_pool *pool, int64_t now_ns)
{
    int64_t next = pool->zygote.born_ns + pool->options.renew_ns;
    if (pool->retired.process.pidfd >= 0) {
        next =
            now_ns + 60 * CSB_NS_PER_S; /* not before that one's end, which is heard */
    }
    if (pool->pending != NULL) {
        next = now_ns + 100 * CSB_NS_PER_MS;
    }
    if (pool->zygote.process.pidfd < 0 || pool->retry_ns > now_ns) {
        next = pool->retry_ns;
    }
    /* after a failure, too: what is left standing holds descriptors, which may be what is missing */
    if (pool->rest_ns > 0 && pool->rest_ns < next) {
        next = pool->rest_ns;
    }
    if (pool->retry_ns == INT64_MAX) {
        next = now_ns + 100 * CSB_NS_PER_MS; /* closing: look whether they are back */
    }
    next = next < now_ns ? 0 : (next - now_ns) / CSB_NS_PER_MS + 1;
    return next > 60L * 1000 ? 60 * 1000 : (int)next;
}

static void
wait_and_serve(struct csb_pool *pool)
{
    struct pollfd polls[FIXED_POLLS + 2 * PENDING_MAX] = {
        {pool->wake_fd, POLLIN, 0},
        {pool->zygote.process.pidfd, POLLIN, 0},
        {pool->zygote.errors_fd, POLLIN, 0},
        {pool->retired.process.pidfd, POLLIN, 0},
    };
    nfds_t count = FIXED_POLLS;
    uint64_t counter;
    for (const struct csb_spare *spare = pool->pending;
         spare != NULL && count + 2 <= CSB_ARRAY_LEN(polls); spare = spare->next) {
        polls[count++] = (struct pollfd){
            spare->forked ? CSB_FD_NONE : spare->start.ends.status_fd, POLLIN, 0};
        polls[count++] = (struct pollfd){
            spare->heard ? CSB_FD_NONE : spare->start.ends.channel_fd, POLLIN, 0};
    }
    if (poll(polls, count, milliseconds_until(pool, csb_clock_now_ns())) <= 0) {
        advance_all(pool); /* their time may be over */
        return;
    }
    if (polls[0].revents != 0) {
        (void)!read(pool->wake_fd, &counter, sizeof counter);
    }
    if (polls[2].revents != 0) {
        csb_zygote_listen(&pool->zygote);
    }
    advance_all(pool);
    if (polls[1].revents != 0) {
        lose_zygote(pool, true);
    }
}

/* The runs that are on end with their zygotes. True: some thread does not come back. */
static bool
end_runs(struct csb_pool *pool, int64_t *give_up_ns)
{
    const int64_t now = csb_clock_now_ns();
    bool late;
    if (*give_up_ns == 0) {
        *give_up_ns = now + KILL_WAIT_NS;
        lose_zygote(pool, false);
        csb_zygote_kill(&pool->retired);
        pool->retry_ns = INT64_MAX; /* no new one */
    }
    (void)pthread_mutex_lock(&pool->lock);
    late = now > *give_up_ns;
    pool->left_behind = late;
    (void)pthread_mutex_unlock(&pool->lock);
    return late;
}

void *
csb_pool_keep(void *argument)
{
    struct csb_pool *pool = argument;
    bool killing;
    bool closing = false;
    int64_t give_up_ns = 0;
    while (!closing) {
        int64_t now = csb_clock_now_ns();
        clear_up(pool, false);
        look_after_zygote(pool, now);
        make_spares(pool, now);
        wait_and_serve(pool);
        (void)pthread_mutex_lock(&pool->lock);
        closing = pool->closing && pool->running == 0 && pool->waiting == 0;
        killing = pool->closing && pool->killing && !closing;
        (void)pthread_mutex_unlock(&pool->lock);
        if (killing) {
            closing = end_runs(pool, &give_up_ns);
        }
    }
    lose_zygote(pool, false);
    clear_up(pool, true);
    csb_zygote_kill(&pool->retired);
    return NULL;
}
