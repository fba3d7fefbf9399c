/* Where news of runs arrives: a list under a lock, and a descriptor that is readable while
 * there is something in it. Any number of senders, one receiver at a time; no GIL. */
#ifndef CSB_MAILBOX_H
#define CSB_MAILBOX_H

#include "error.h"

struct csb_mailbox;
struct csb_errand;

enum csb_news_kind { CSB_NEWS_DONE, CSB_NEWS_OUTPUT };

struct csb_news {
    struct csb_news *next;
    struct csb_errand *errand;
    enum csb_news_kind kind;
    int stream;           /* OUTPUT: 1 or 2 */
    unsigned char *bytes; /* OUTPUT: owned */
    size_t count;
};

int csb_mailbox_open(struct csb_mailbox **ret, struct csb_error *reterr) CSB_MUST_USE;

/* Nothing may be on its way to it. */
void csb_mailbox_close(struct csb_mailbox *mailbox);

/* Readable (POLLIN) while there is news. */
int csb_mailbox_fd(const struct csb_mailbox *mailbox);

/* Takes the news, which is heap memory. */
void csb_mailbox_put(struct csb_mailbox *mailbox, struct csb_news *news);

/* Everything that has arrived, oldest first; NULL: nothing. Waits at most wait_ns. */
struct csb_news *csb_mailbox_take(struct csb_mailbox *mailbox, int64_t wait_ns);

void csb_news_free(struct csb_news *news);

#endif
