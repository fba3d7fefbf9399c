/* Theory of operation: runs in the caller's supervisor loop, on a socket whose other end a
 * hostile child holds. Sends at the pace at which the child reads, receives within a limit
 * that was set before; a child that does neither only wastes its own time. */
#include "dialogue.h"

#include "fd.h"

#include <poll.h>
#include <string.h>

void
csb_dialogue_init(struct csb_dialogue *dialogue, int *channel)
{
    memset(dialogue, 0, sizeof *dialogue);
    dialogue->channel = channel;
}

void
csb_dialogue_done(struct csb_dialogue *dialogue)
{
    csb_inbox_done(&dialogue->inbox);
}

void
csb_dialogue_close(struct csb_dialogue *dialogue)
{
    csb_fd_close(dialogue->channel);
    dialogue->feed_count = 0;
}

void
csb_dialogue_say(struct csb_dialogue *dialogue, const void *bytes, size_t count)
{
    if (dialogue->feed_count < CSB_DIALOGUE_FEEDS && count > 0) {
        dialogue->feeds[dialogue->feed_count++] =
            (struct csb_feed){*dialogue->channel, bytes, count};
    }
    csb_dialogue_push(dialogue);
}

void
csb_dialogue_push(struct csb_dialogue *dialogue)
{
    while (dialogue->feed_count > 0) {
        if (csb_feed_push(&dialogue->feeds[0]) < 0) {
            dialogue->failed = true;
            dialogue->feed_count = 0;
            return;
        }
        if (dialogue->feeds[0].left > 0) {
            return;
        }
        dialogue->feed_count--;
        memmove(&dialogue->feeds[0], &dialogue->feeds[1],
                dialogue->feed_count * sizeof dialogue->feeds[0]);
    }
}

short
csb_dialogue_events(const struct csb_dialogue *dialogue)
{
    return dialogue->feed_count > 0 ? POLLIN | POLLOUT : POLLIN;
}

void
csb_dialogue_expect(struct csb_dialogue *dialogue, size_t limit_bytes)
{
    csb_inbox_done(&dialogue->inbox);
    csb_inbox_init(&dialogue->inbox, limit_bytes);
}

enum csb_inbox_state
csb_dialogue_hear(struct csb_dialogue *dialogue)
{
    return csb_inbox_pull(&dialogue->inbox, *dialogue->channel);
}
