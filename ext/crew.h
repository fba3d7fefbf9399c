/* Runs for callers who do not wait: a queue, a few threads that drive the runs, and mailboxes
 * in which the ends (and, if wanted, the output) arrive.
 *
 * The threads are made when errands come, as many as the pool has workers at most, all
 * signals blocked, never in Python. No GIL anywhere here. */
#ifndef CSB_CREW_H
#define CSB_CREW_H

#include "mailbox.h"
#include "pool.h"

struct csb_crew;

/* One run to be driven. Its memory is the caller's, unchanged until it was taken as DONE. */
struct csb_errand {
    const struct csb_request *request;
    struct csb_mailbox *mailbox;
    bool streams; /* OUTPUT is wanted */
    void *owner;  /* the caller's */
    /* What is done with the request, by a thread of the crew; NULL: csb_pool_run. The
     * request's job has what cancels the errand. */
    int (*work)(void *argument, struct csb_pool *pool,
                const struct csb_request *request, struct csb_report *ret,
                struct csb_error *reterr);
    void *work_argument;
    /* filled by the crew */
    int status;
    struct csb_report report; /* the caller's to release when status was set */
    struct csb_error error;
    /* the crew's own */
    struct csb_errand *next;
    struct csb_news *news; /* made before it is sent, so that its end can be told */
    int worker;            /* -1: not running */
    bool queued;
    bool cancelled;
    bool finished;
};

int csb_crew_open(struct csb_pool *pool, unsigned workers, struct csb_crew **ret,
                  struct csb_error *reterr) CSB_MUST_USE;

/* Queue it; a DONE will arrive in its mailbox whatever happens. */
int csb_crew_send(struct csb_crew *crew, struct csb_errand *errand,
                  struct csb_error *reterr) CSB_MUST_USE;

/* End it soon: it still arrives, as interrupted. Harmless when it has ended. */
void csb_crew_cancel(struct csb_crew *crew, struct csb_errand *errand);

/* Errands that wait for a thread. */
size_t csb_crew_queued(struct csb_crew *crew);

/* What waits arrives as cancelled, what runs is waited for, or ended with `kill`. Nothing may be sent any more;
 * csb_crew_cancel stays harmless until csb_crew_free. */
void csb_crew_close(struct csb_crew *crew, bool kill);

/* After csb_crew_close; NULL is harmless. */
void csb_crew_free(struct csb_crew *crew);

#endif
