/* One framed message that arrives in pieces on a non-blocking socket.
 *
 * Given its maximum when it is made; holds nothing until the length is known. Owned by one
 * thread at a time; no GIL. */
#ifndef CSB_INBOX_H
#define CSB_INBOX_H

#include "wire.h"

struct csb_inbox {
    struct csb_wire_frame header;
    size_t header_got;
    unsigned char *bytes; /* owned */
    size_t got;
    size_t limit;
};

enum csb_inbox_state {
    CSB_INBOX_MORE,
    CSB_INBOX_COMPLETE,
    CSB_INBOX_CLOSED,   /* the other side is gone */
    CSB_INBOX_TOO_LONG, /* longer than the limit */
    CSB_INBOX_BROKEN,   /* no memory, or an error of the socket */
};

/* Ready for the next message. */
void csb_inbox_init(struct csb_inbox *inbox, size_t limit_bytes);
void csb_inbox_done(struct csb_inbox *inbox);

/* Take what is there now, of one message. Descriptors that are sent along are dropped by the
 * kernel. */
enum csb_inbox_state csb_inbox_pull(struct csb_inbox *inbox, int socket) CSB_MUST_USE;

#endif
