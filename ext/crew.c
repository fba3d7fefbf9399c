/* Theory of operation: in the caller. Each thread takes the oldest errand, drives it through
 * csb_pool_run (or what the errand names) as a blocking caller would, and puts the end into the errand's mailbox. A
 * cancelled errand is woken by a descriptor in its poll set. One lock for the queue, one for
 * each mailbox; never both at once. */
#include "crew.h"

#include "clock.h"
#include "fd.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct member {
    struct csb_crew *crew;
    pthread_t thread;
    int cancel_fd;
    int number;
};

struct csb_crew {
    struct csb_pool *pool;
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct csb_errand *first;
    struct csb_errand *last;
    size_t queued;
    unsigned wanted;
    unsigned count; /* threads that exist */
    unsigned idle;
    bool closing;
    struct member members[];
};

/* With the lock held. */
static void
take_out(struct csb_crew *crew, const struct csb_errand *errand)
{
    struct csb_errand **link = &crew->first;
    struct csb_errand *before = NULL;
    while (*link != errand) {
        before = *link;
        link = &before->next;
    }
    *link = errand->next;
    crew->last = crew->last == errand ? before : crew->last;
    crew->queued--;
}

static bool
is_cancelled(void *argument)
{
    const struct csb_errand *errand = argument;
    return __atomic_load_n(&errand->cancelled, __ATOMIC_ACQUIRE);
}

static void
pass_on(void *argument, int stream, const unsigned char *bytes, size_t count)
{
    struct csb_errand *errand = argument;
    struct csb_news *news = calloc(1, sizeof *news);
    unsigned char *copy = news == NULL ? NULL : malloc(count == 0 ? 1 : count);
    if (copy == NULL) {
        free(news); /* the result still has all of it */
        return;
    }
    memcpy(copy, bytes, count);
    *news = (struct csb_news){.errand = errand,
                              .kind = CSB_NEWS_OUTPUT,
                              .stream = stream,
                              .bytes = copy,
                              .count = count};
    csb_mailbox_put(errand->mailbox, news);
}

static void
drive(struct csb_crew *crew, struct csb_errand *errand, int cancel_fd)
{
    struct csb_request request = *errand->request;
    request.job.cancel_fd = cancel_fd;
    request.job.interrupted = is_cancelled;
    request.job.interrupted_argument = errand;
    if (errand->streams) {
        request.job.tap = pass_on;
        request.job.tap_argument = errand;
    }
    errand->status =
        errand->work == NULL
            ? csb_pool_run(crew->pool, &request, &errand->report, &errand->error)
            : errand->work(errand->work_argument, crew->pool, &request, &errand->report,
                           &errand->error);
}

static void
drain(int event_fd)
{
    uint64_t counter;
    /* It is EFD_NONBLOCK. NOLINTNEXTLINE(clang-analyzer-unix.BlockInCriticalSection) */
    (void)!read(event_fd, &counter, sizeof counter);
}

/* NULL: the crew is closing. */
static struct csb_errand *
next_errand(struct member *member)
{
    struct csb_crew *crew = member->crew;
    struct csb_errand *errand;
    (void)pthread_mutex_lock(&crew->lock);
    crew->idle++;
    while (crew->first == NULL && !crew->closing) {
        (void)pthread_cond_wait(&crew->work, &crew->lock);
    }
    crew->idle--;
    errand = crew->first;
    if (errand != NULL) {
        take_out(crew, errand);
        errand->queued = false;
        errand->worker = member->number;
        drain(member->cancel_fd);
    }
    (void)pthread_mutex_unlock(&crew->lock);
    return errand;
}

static void
deliver(struct csb_crew *crew, struct csb_errand *errand, struct csb_news *news)
{
    (void)pthread_mutex_lock(&crew->lock);
    errand->worker = -1;
    errand->finished = true;
    (void)pthread_mutex_unlock(&crew->lock);
    csb_mailbox_put(errand->mailbox, news);
}

static void *
work(void *argument)
{
    struct member *member = argument;
    struct csb_errand *errand;
    while ((errand = next_errand(member)) != NULL) {
        struct csb_news *news = errand->news;
        if (is_cancelled(errand)) {
            errand->status = csb_fail(&errand->error, CSB_STEP_STARTUP, ECANCELED,
                                      "cancelled before it began");
        } else {
            drive(member->crew, errand, member->cancel_fd);
        }
        deliver(member->crew, errand, news);
    }
    return NULL;
}

/* With the lock held. */
static int
add_member(struct csb_crew *crew)
{
    struct member *member = &crew->members[crew->count];
    sigset_t all;
    sigset_t before;
    int err;
    member->crew = crew;
    member->number = (int)crew->count;
    member->cancel_fd = csb_fd_raise(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (member->cancel_fd < 0) {
        return member->cancel_fd;
    }
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    err = pthread_create(&member->thread, NULL, work, member);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (err != 0) {
        csb_fd_close(&member->cancel_fd);
        return -err;
    }
    crew->count++;
    return 0;
}

int
csb_crew_open(struct csb_pool *pool, unsigned workers, struct csb_crew **ret,
              struct csb_error *reterr)
{
    struct csb_crew *crew = calloc(1, sizeof *crew + workers * sizeof crew->members[0]);
    *ret = crew;
    if (crew == NULL) {
        return csb_fail(reterr, CSB_STEP_MEMORY, ENOMEM, "no memory for a crew");
    }
    crew->pool = pool;
    crew->wanted = workers;
    (void)pthread_mutex_init(&crew->lock, NULL);
    (void)pthread_cond_init(&crew->work, NULL);
    return 0;
}

int
csb_crew_send(struct csb_crew *crew, struct csb_errand *errand,
              struct csb_error *reterr)
{
    int result = 0;
    errand->news = calloc(1, sizeof *errand->news);
    if (errand->news == NULL) {
        return csb_fail(reterr, CSB_STEP_MEMORY, ENOMEM, "no memory for a run");
    }
    *errand->news = (struct csb_news){.errand = errand, .kind = CSB_NEWS_DONE};
    errand->next = NULL;
    errand->worker = -1;
    (void)pthread_mutex_lock(&crew->lock);
    if (crew->idle <= crew->queued && crew->count < crew->wanted) {
        result = add_member(crew);
        result = crew->count > 0 ? 0 : result; /* fewer threads will do */
    }
    if (result == 0) {
        errand->queued = true;
        if (crew->last == NULL) {
            crew->first = errand;
        } else {
            crew->last->next = errand;
        }
        crew->last = errand;
        crew->queued++;
        (void)pthread_cond_signal(&crew->work);
    }
    (void)pthread_mutex_unlock(&crew->lock);
    if (result < 0) {
        free(errand->news);
        errand->news = NULL;
        return csb_fail(reterr, CSB_STEP_STARTUP, -result, "start a thread: %s",
                        strerror(-result));
    }
    return 0;
}

void
csb_crew_cancel(struct csb_crew *crew, struct csb_errand *errand)
{
    const uint64_t one = 1;
    bool waiting;
    (void)pthread_mutex_lock(&crew->lock);
    __atomic_store_n(&errand->cancelled, true, __ATOMIC_RELEASE);
    waiting = errand->queued;
    if (waiting) {
        take_out(crew, errand);
        errand->queued = false;
    } else if (errand->worker >= 0) {
        (void)!write(crew->members[errand->worker].cancel_fd, &one, sizeof one);
    }
    (void)pthread_mutex_unlock(&crew->lock);
    if (waiting) {
        errand->status = csb_fail(&errand->error, CSB_STEP_STARTUP, ECANCELED,
                                  "cancelled before it began");
        deliver(crew, errand, errand->news);
    }
}

size_t
csb_crew_queued(struct csb_crew *crew)
{
    size_t queued;
    (void)pthread_mutex_lock(&crew->lock);
    queued = crew->queued;
    (void)pthread_mutex_unlock(&crew->lock);
    return queued;
}

void
csb_crew_close(struct csb_crew *crew, bool kill)
{
    const uint64_t one = 1;
    (void)pthread_mutex_lock(&crew->lock);
    crew->closing = true;
    for (struct csb_errand *errand = crew->first; errand != NULL;
         errand = errand->next) {
        __atomic_store_n(&errand->cancelled, true, __ATOMIC_RELEASE);
    }
    for (unsigned i = 0; i < crew->count && kill; i++) {
        (void)!write(crew->members[i].cancel_fd, &one, sizeof one);
    }
    (void)pthread_cond_broadcast(&crew->work);
    (void)pthread_mutex_unlock(&crew->lock);
    for (unsigned i = 0; i < crew->count; i++) {
        (void)pthread_join(crew->members[i].thread, NULL);
        csb_fd_close(&crew->members[i].cancel_fd);
    }
    crew->count = 0;
}

void
csb_crew_free(struct csb_crew *crew)
{
    if (crew != NULL) {
        (void)pthread_cond_destroy(&crew->work);
        (void)pthread_mutex_destroy(&crew->lock);
        free(crew);
    }
}
