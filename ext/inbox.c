/* Theory of operation: runs in the caller's supervisor loop. The sender has compiled hostile
 * source, so its length is held against a limit before anything is allocated. Never blocks. */
#include "inbox.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

void
csb_inbox_init(struct csb_inbox *inbox, size_t limit_bytes)
{
    *inbox = (struct csb_inbox){.limit = limit_bytes};
}

void
csb_inbox_done(struct csb_inbox *inbox)
{
    free(inbox->bytes);
    *inbox = (struct csb_inbox){.limit = inbox->limit};
}

/* What recv got: > 0 bytes, or the state to return. */
static ssize_t
receive(int socket, void *target, size_t count, enum csb_inbox_state *ret)
{
    ssize_t got = recv(socket, target, count, MSG_DONTWAIT);
    if (got < 0 && errno == ECONNRESET) {
        *ret = CSB_INBOX_CLOSED; /* it died before it had read all that it was sent */
    } else if (got < 0) {
        *ret = errno == EAGAIN || errno == EINTR ? CSB_INBOX_MORE : CSB_INBOX_BROKEN;
    } else if (got == 0) {
        *ret = CSB_INBOX_CLOSED;
    }
    return got;
}

enum csb_inbox_state
csb_inbox_pull(struct csb_inbox *inbox, int socket)
{
    enum csb_inbox_state state = CSB_INBOX_MORE;
    while (inbox->header_got < sizeof inbox->header) {
        ssize_t got =
            receive(socket, (unsigned char *)&inbox->header + inbox->header_got,
                    sizeof inbox->header - inbox->header_got, &state);
        if (got <= 0) {
            return state;
        }
        inbox->header_got += (size_t)got;
    }
    if (inbox->bytes == NULL) {
        if (inbox->header.length > inbox->limit) {
            return CSB_INBOX_TOO_LONG;
        }
        inbox->bytes = malloc((size_t)inbox->header.length + 1);
        if (inbox->bytes == NULL) {
            return CSB_INBOX_BROKEN;
        }
    }
    while (inbox->got < inbox->header.length) {
        ssize_t got = receive(socket, inbox->bytes + inbox->got,
                              (size_t)inbox->header.length - inbox->got, &state);
        if (got <= 0) {
            return state;
        }
        inbox->got += (size_t)got;
    }
    return CSB_INBOX_COMPLETE;
}
