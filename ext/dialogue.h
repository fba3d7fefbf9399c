/* The caller's half of the talk over a channel (wire.h): what is said, in order, and what is
 * heard, one thing at a time.
 *
 * Knows the format, judges nothing. Never blocks. Owned by one thread at a time; no GIL. */
#ifndef CSB_DIALOGUE_H
#define CSB_DIALOGUE_H

#include "inbox.h"
#include "streams.h"

enum { CSB_DIALOGUE_FEEDS = 4 };

struct csb_dialogue {
    int *channel; /* borrowed: CSB_FD_NONE inside when it is closed */
    struct csb_feed feeds[CSB_DIALOGUE_FEEDS];
    unsigned feed_count;
    bool failed; /* the socket did not take what was said: our fault, not the child's */
    struct csb_inbox inbox;
};

/* The socket is the caller's end, non-blocking. */
void csb_dialogue_init(struct csb_dialogue *dialogue, int *channel);
void csb_dialogue_done(struct csb_dialogue *dialogue);

/* Close the channel; nothing more is said or heard. */
void csb_dialogue_close(struct csb_dialogue *dialogue);

/* Queue bytes, which stay the caller's and unchanged until they are sent or the dialogue is
 * closed, and send what the socket takes. At most CSB_DIALOGUE_FEEDS may wait. */
void csb_dialogue_say(struct csb_dialogue *dialogue, const void *bytes, size_t count);

/* Send what the socket takes now. */
void csb_dialogue_push(struct csb_dialogue *dialogue);

/* Poll events that are of interest. */
short csb_dialogue_events(const struct csb_dialogue *dialogue);

/* Expect a frame of at most so many bytes; what was heard before is forgotten. */
void csb_dialogue_expect(struct csb_dialogue *dialogue, size_t limit_bytes);

/* Take what is there of the expected frame, which is then in dialogue->inbox. */
enum csb_inbox_state csb_dialogue_hear(struct csb_dialogue *dialogue) CSB_MUST_USE;

#endif
