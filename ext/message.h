/* One message for a child, put together piece by piece on the heap.
 *
 * A failed allocation is remembered, so that a builder asks once, at the end. Caller's side;
 * no GIL. */
#ifndef CSB_MESSAGE_H
#define CSB_MESSAGE_H

#include "error.h"
#include "string_list.h"

struct csb_message {
    unsigned char *bytes; /* owned */
    size_t count;
    size_t capacity;
    bool failed;
};

void csb_message_put(struct csb_message *message, const void *bytes, size_t count);

/* With their NULs. */
void csb_message_put_string(struct csb_message *message, const char *text);
void csb_message_put_strings(struct csb_message *message,
                             const struct csb_strings *strings);

/* 0, or -ENOMEM when a piece is missing, or -E2BIG above limit_bytes; the message is then
 * released. */
int csb_message_finish(struct csb_message *message, size_t limit_bytes,
                       struct csb_error *reterr) CSB_MUST_USE;

/* Release; safe on a zeroed struct. */
void csb_message_done(struct csb_message *message);

#endif
