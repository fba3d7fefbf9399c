/* Runs on spare children: forked, confined and touched ahead of need.
 *
 * A pool is one policy, one zygote at a time and a keeper thread that starts zygotes, makes
 * spares and clears up behind runs; each run is driven by the thread that asks for it. Any
 * thread may call, without the GIL. After fork(2) of the host a pool is of no use in the new
 * process: csb_pool_abandon. */
#ifndef CSB_POOL_H
#define CSB_POOL_H

#include "launch.h"

struct csb_pool;

struct csb_pool_options {
    unsigned workers;    /* runs at a time; >= 1 */
    unsigned spares;     /* children kept ready; >= 1 */
    unsigned processors; /* that this process may use */
    const struct csb_strings *preload;
    uint64_t renew_runs; /* a zygote is replaced after so many children … */
    int64_t renew_ns;    /* … or this long */
    int64_t startup_ns;  /* for a zygote with its preload, and for a spare */
};

struct csb_pool_stats {
    uint64_t runs;
    uint64_t waiting;    /* callers, now */
    uint64_t running;    /* now */
    uint64_t ready;      /* spares, now */
    uint64_t spares_hit; /* runs that found a spare at once */
    uint64_t spares_missed;
    uint64_t renewals; /* zygotes after the first */
    uint64_t failures; /* spares or zygotes that did not come to be */
    uint64_t zygote_resident_bytes;
    pid_t zygote_pid; /* -1: none now */
    int64_t p50_ns;   /* of the last runs, waiting included */
    int64_t p99_ns;
};

/* The policy is borrowed until the pool is closed; the rest is copied. */
int csb_pool_open(const struct csb_policy *policy,
                  const struct csb_pool_options *options, struct csb_pool **ret,
                  struct csb_error *reterr) CSB_MUST_USE;

/* As csb_launch, in a spare child. Waits for its turn and a spare, as long as start-up may
 * take; job.interrupted is asked meanwhile. */
int csb_pool_run(struct csb_pool *pool, const struct csb_request *request,
                 struct csb_report *ret, struct csb_error *reterr) CSB_MUST_USE;

/* A head start, where nobody else wants a spare or a processor now: a spare reads and compiles
 * the source while the caller makes up its mind (the guard). Nothing is executed before
 * csb_pool_complete, which is csb_pool_run from there on; csb_pool_drop ends it. The request
 * must stay as it is until one of the two, except for whom job.agrees and job.interrupted name.
 * NULL: no head start now, run it without. */
struct csb_pool_run;
struct csb_pool_run *csb_pool_head_start(struct csb_pool *pool,
                                         const struct csb_request *request);
int csb_pool_complete(struct csb_pool_run *attempt, struct csb_report *ret,
                      struct csb_error *reterr) CSB_MUST_USE;
void csb_pool_drop(struct csb_pool_run *attempt);

/* A session in a spare child (csb_run_open). It takes no worker's place. Begun again when the
 * zygote is killed meanwhile, for as long as start-up may take (job.limits). *ret_kit is the
 * caller's, to be given to csb_pool_end_session when the run was closed. */
int csb_pool_open_session(struct csb_pool *pool, const struct csb_request *request,
                          struct csb_run **ret_run, struct csb_kit *ret_kit,
                          struct csb_report *ret,
                          struct csb_error *reterr) CSB_MUST_USE;

void csb_pool_stats_of(struct csb_pool *pool, struct csb_pool_stats *ret);

/* Wait until all spares are ready and nothing is left of earlier runs, at most wait_ns; false: no
 * spare is ready. */
bool csb_pool_wait_ready(struct csb_pool *pool, int64_t wait_ns);

/* No new runs; waits for those that are running, then ends everything. With `kill` they are
 * ended too, as internal errors; a thread that does not come back within KILL_WAIT (it may
 * be waiting for a GIL that it will not get any more) keeps what it needs of the pool. */
void csb_pool_end(struct csb_pool *pool, bool kill);

/* After csb_pool_end, when no thread is in a function of this header, or will be: until then they
 * may come, and are told that it is closed. */
void csb_pool_free(struct csb_pool *pool);

/* Both, where nobody else can come. */
void csb_pool_close(struct csb_pool *pool, bool kill);

/* In a forked copy of the process: close descriptors, touch no process. What else the pool
 * holds is lost (its lock may be held by a thread that does not exist here). */
void csb_pool_abandon(struct csb_pool *pool);

#endif
