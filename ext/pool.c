/* Theory of operation: the callers' half of a pool, in any thread of the caller. A run takes
 * a spare (or waits for one, first come, first served), gives it the submission and drives it
 * to its end as a fresh run is driven; what is left over goes to the keeper, so that its
 * removal costs no caller time. */
#include "pool_state.h"

#include "clock.h"
#include "elsewhere.h"
#include "fd.h"
#include "submission.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

/* What is left of the spare goes to the keeper, its place to the next caller. Files that it has left
 * are gone before anybody can begin another run. */
static void
put_back(struct csb_pool *pool, struct csb_spare *spare)
{
    const bool cleared = spare->files_made > 0;
    bool urgent;
    if (cleared) {
        csb_spare_free(spare);
    }
    (void)pthread_mutex_lock(&pool->lock);
    if (!cleared) {
        spare->next = pool->used;
        pool->used = spare;
        pool->used_count++;
    }
    pool->running--;
    csb_pool_grant(pool);
    urgent = csb_pool_is_urgent(pool);
    (void)pthread_cond_broadcast(&pool->idle);
    (void)pthread_mutex_unlock(&pool->lock);
    if (urgent) {
        csb_pool_wake(pool);
    }
}

/* RLIMIT_DATA counts what the child has from its zygote, too. */
static size_t
own_rlimits(const struct csb_spare *spare, const struct csb_limits *limits,
            bool session, struct csb_rlimit *ret)
{
    size_t count = csb_limits_to_rlimits(limits, ret);
    struct csb_rlimit taken;
    if (session) {
        /* that of each cell, measured from outside */
        count = csb_rlimits_take(ret, count, RLIMIT_CPU, &taken);
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

/* The child was gone before the submission could begin, with its zygote or killed by somebody
 * else: nothing of it was executed, so it may have another. */
static bool
deserves_another(const struct csb_report *report, int result)
{
    const struct csb_facts *facts = &report->facts;
    return result == 0 && !facts->begun && facts->stop == CSB_STOP_NONE &&
           (!facts->exit_known || facts->signal == SIGKILL);
}

/* One run in one spare, from taking it to giving it back. */
struct csb_pool_run {
    struct csb_pool *pool;
    const struct csb_request *request;
    struct csb_job job;
    struct csb_message message;
    struct csb_disk disk;
    struct csb_spare *spare;
    struct csb_run *run; /* NULL: it could not be begun */
    int64_t begun_ns;
    /* of a head start, which has its own; else the caller's */
    struct csb_report *report;
    struct csb_error *error;
    struct csb_elsewhere place;
    struct csb_report own_report;
    struct csb_error own_error;
};

/* The spare is there: tell it what it is to become. */
static int
begin(struct csb_pool_run *attempt)
{
    struct csb_spare *spare = attempt->spare;
    struct csb_job *job = &attempt->job;
    const struct csb_request *request = attempt->request;
    int result;
    spare->start.waited_ns = csb_clock_now_ns() - attempt->begun_ns;
    result = prepare(attempt->pool, spare, request, &attempt->message, attempt->error);
    if (result < 0) {
        memset(attempt->report, 0, sizeof *attempt->report);
        return result;
    }
    job->submission =
        (struct csb_bytes){attempt->message.bytes, attempt->message.count};
    attempt->disk = csb_kit_disk(&spare->kit, job->limits);
    job->disk = attempt->pool->policy->scratch_writable ? &attempt->disk : NULL;
    job->seen = own_group(attempt->pool, spare);
    job->settle =
        request->collection != NULL && request->collection->patterns->count > 0;
    attempt->run = csb_run_start(&spare->start, job, attempt->report, attempt->error);
    return attempt->run == NULL ? -ENOMEM : 0;
}

/* Give back what it had. */
static void
finish(struct csb_pool_run *attempt)
{
    csb_run_close(attempt->run);
    csb_message_done(&attempt->message);
    put_back(attempt->pool, attempt->spare);
}

static int
complete(struct csb_pool_run *attempt, int result, bool *ret_again)
{
    struct csb_report *report = attempt->report;
    struct csb_spare *spare = attempt->spare;
    const struct csb_request *request = attempt->request;
    *ret_again = false;
    if (result == 0) {
        result = csb_run_complete(attempt->run, &spare->start);
        attempt->run = NULL;
        csb_kit_blame_memory(&spare->kit, &report->facts);
        spare->files_made = report->notify.files_made + (uint32_t)request->file_count;
        *ret_again = deserves_another(report, result);
        if (result == 0 && !*ret_again && request->collection != NULL) {
            csb_collect(request->collection, spare->kit.scratch.fd);
        }
    }
    finish(attempt);
    count_run(attempt->pool, attempt->begun_ns);
    return result;
}

static int
run_once(struct csb_pool *pool, const struct csb_request *request,
         struct csb_report *ret, struct csb_error *reterr, bool *ret_again)
{
    struct csb_pool_run attempt = {.pool = pool,
                                   .request = request,
                                   .job = csb_request_job(request, pool->policy),
                                   .begun_ns = csb_clock_now_ns(),
                                   .report = ret,
                                   .error = reterr};
    int result = csb_pool_take(pool, &attempt.job, &attempt.spare, reterr);
    *ret_again = false;
    if (result < 0) {
        memset(ret, 0, sizeof *ret);
        return result;
    }
    return complete(&attempt, begin(&attempt), ret_again);
}

/* All spares of a zygote die with it, and may be met before the keeper has seen it. */
static int
run_again(struct csb_pool *pool, const struct csb_request *request,
          struct csb_report *ret, struct csb_error *reterr, bool again)
{
    int result = 0;
    for (unsigned i = 0; again && i < pool->options.spares; i++) {
        csb_report_done(ret);
        result = run_once(pool, request, ret, reterr, &again);
    }
    /* An empty report: nothing began, an internal error. */
    return result == -CSB_POOL_KILLED ? 0 : result;
}

int
csb_pool_run(struct csb_pool *pool, const struct csb_request *request,
             struct csb_report *ret, struct csb_error *reterr)
{
    bool again;
    int result = run_once(pool, request, ret, reterr, &again);
    return again || result == -CSB_POOL_KILLED
               ? run_again(pool, request, ret, reterr, again)
               : result;
}

struct csb_pool_run *
csb_pool_head_start(struct csb_pool *pool, const struct csb_request *request)
{
    struct csb_pool_run *attempt = calloc(1, sizeof *attempt);
    if (attempt == NULL) {
        return NULL;
    }
    *attempt = (struct csb_pool_run){.pool = pool,
                                     .request = request,
                                     .job = csb_request_job(request, pool->policy),
                                     .begun_ns = csb_clock_now_ns(),
                                     .spare = csb_pool_take_at_leisure(pool),
                                     .report = &attempt->own_report,
                                     .error = &attempt->own_error};
    if (attempt->spare == NULL) {
        free(attempt);
        return NULL;
    }
    csb_elsewhere_send(&attempt->place, attempt->spare->start.process.pid);
    if (begin(attempt) < 0) {
        csb_pool_drop(attempt); /* the way without one tells what is wrong */
        return NULL;
    }
    return attempt;
}

void
csb_pool_drop(struct csb_pool_run *attempt)
{
    finish(attempt);
    csb_report_done(attempt->report);
    free(attempt);
}

int
csb_pool_complete(struct csb_pool_run *attempt, struct csb_report *ret,
                  struct csb_error *reterr)
{
    struct csb_pool *pool = attempt->pool;
    const struct csb_request *request = attempt->request;
    bool again;
    int result;
    csb_elsewhere_release(&attempt->place, csb_run_pid(attempt->run));
    /* what was not known before: who is asked, and who is told */
    attempt->job.agrees = request->job.agrees;
    attempt->job.agrees_argument = request->job.agrees_argument;
    attempt->job.interrupted = request->job.interrupted;
    attempt->job.interrupted_argument = request->job.interrupted_argument;
    result = complete(attempt, 0, &again);
    *ret = *attempt->report;
    *reterr = *attempt->error;
    free(attempt);
    return again ? run_again(pool, request, ret, reterr, again) : result;
}

static int
open_once(struct csb_pool *pool, const struct csb_request *request,
          struct csb_run **ret_run, struct csb_kit *ret_kit, struct csb_report *ret,
          struct csb_error *reterr)
{
    struct csb_job job = csb_request_job(request, pool->policy);
    struct csb_message message = {0};
    struct csb_spare *spare;
    int result = csb_pool_branches(pool)
                     ? csb_pool_take_session(pool, &job, &spare, reterr)
                     : csb_pool_take(pool, &job, &spare, reterr);
    *ret_run = NULL;
    csb_kit_init(ret_kit);
    memset(ret, 0, sizeof *ret);
    if (result < 0) {
        return result;
    }
    result = prepare(pool, spare, request, &message, reterr);
    if (result == 0) {
        job.submission = (struct csb_bytes){message.bytes, message.count};
        job.shared_listener = spare->branchable;
        job.seen = own_group(pool, spare);
        result = csb_run_open(&spare->start, &job, ret_run, ret, reterr);
    }
    csb_message_done(&message);
    if (*ret_run != NULL) {
        csb_kit_move(ret_kit, &spare->kit);
    }
    put_back(pool, spare);
    return result;
}

/* As for a run; and it may also have died after it had begun, when there was nothing of a
 * submission in it. */
static bool
deserves_another_session(const struct csb_request *request,
                         const struct csb_report *report, int result)
{
    const struct csb_facts *facts = &report->facts;
    return result == -CSB_POOL_KILLED || deserves_another(report, result) ||
           (result == 0 && facts->stop == CSB_STOP_NONE && !facts->exit_known &&
            request->job.source.count == 0);
}

int
csb_pool_open_session(struct csb_pool *pool, const struct csb_request *request,
                      struct csb_run **ret_run, struct csb_kit *ret_kit,
                      struct csb_report *ret, struct csb_error *reterr)
{
    const int64_t until = csb_clock_now_ns() + request->job.limits->startup_ns;
    int result = open_once(pool, request, ret_run, ret_kit, ret, reterr);
    /* There is no result that could say "internal_error": it is tried for as long as a start
     * may take. */
    while (*ret_run == NULL && deserves_another_session(request, ret, result) &&
           csb_clock_now_ns() < until) {
        csb_report_done(ret);
        result = open_once(pool, request, ret_run, ret_kit, ret, reterr);
    }
    return result;
}
