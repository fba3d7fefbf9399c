/* Theory of operation: in the caller, between the crew's threads and an event loop or a
 * waiting thread. The counter of the descriptor is reset before the list is taken, so news
 * that comes in between makes it readable again. */
#include "mailbox.h"

#include "clock.h"
#include "fd.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct csb_mailbox {
    pthread_mutex_t lock;
    struct csb_news *first;
    struct csb_news *last;
    int event_fd;
};

int
csb_mailbox_open(struct csb_mailbox **ret, struct csb_error *reterr)
{
    struct csb_mailbox *mailbox = calloc(1, sizeof *mailbox);
    *ret = NULL;
    if (mailbox == NULL) {
        return csb_fail(reterr, CSB_STEP_MEMORY, ENOMEM, "no memory for a mailbox");
    }
    mailbox->event_fd = csb_fd_raise(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (mailbox->event_fd < 0) {
        int err = -mailbox->event_fd;
        free(mailbox);
        return csb_fail(reterr, CSB_STEP_PIPE, err, "make a mailbox: %s",
                        strerror(err));
    }
    (void)pthread_mutex_init(&mailbox->lock, NULL);
    *ret = mailbox;
    return 0;
}

void
csb_mailbox_close(struct csb_mailbox *mailbox)
{
    while (mailbox->first != NULL) {
        struct csb_news *next = mailbox->first->next;
        csb_news_free(mailbox->first);
        mailbox->first = next;
    }
    csb_fd_close(&mailbox->event_fd);
    (void)pthread_mutex_destroy(&mailbox->lock);
    free(mailbox);
}

int
csb_mailbox_fd(const struct csb_mailbox *mailbox)
{
    return mailbox->event_fd;
}

void
csb_mailbox_put(struct csb_mailbox *mailbox, struct csb_news *news)
{
    const uint64_t one = 1;
    news->next = NULL;
    (void)pthread_mutex_lock(&mailbox->lock);
    if (mailbox->last == NULL) {
        mailbox->first = news;
    } else {
        mailbox->last->next = news;
    }
    mailbox->last = news;
    (void)!write(mailbox->event_fd, &one, sizeof one);
    (void)pthread_mutex_unlock(&mailbox->lock);
}

struct csb_news *
csb_mailbox_take(struct csb_mailbox *mailbox, int64_t wait_ns)
{
    struct pollfd readable = {mailbox->event_fd, POLLIN, 0};
    struct csb_news *all;
    uint64_t counter;
    if (wait_ns > 0) {
        /* EINTR: the caller looks at its signals and comes again */
        (void)poll(&readable, 1, (int)((wait_ns + CSB_NS_PER_MS - 1) / CSB_NS_PER_MS));
    }
    (void)pthread_mutex_lock(&mailbox->lock);
    /* It is EFD_NONBLOCK. NOLINTNEXTLINE(clang-analyzer-unix.BlockInCriticalSection) */
    (void)!read(mailbox->event_fd, &counter, sizeof counter);
    all = mailbox->first;
    mailbox->first = mailbox->last = NULL;
    (void)pthread_mutex_unlock(&mailbox->lock);
    return all;
}

void
csb_news_free(struct csb_news *news)
{
    if (news != NULL) {
        free(news->bytes);
        free(news);
    }
}
