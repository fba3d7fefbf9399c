/* Theory of operation: runs in the caller, on trusted data. Grows by doubling; after a
 * failed allocation every further piece is dropped and csb_message_finish says so. */
#include "message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BYTES = 4096 };

static bool
make_room(struct csb_message *message, size_t count)
{
    size_t capacity = message->capacity == 0 ? FIRST_BYTES : message->capacity;
    unsigned char *grown;
    while (capacity - message->count < count) {
        if (capacity > SIZE_MAX / 2) {
            return false;
        }
        capacity *= 2;
    }
    if (capacity == message->capacity) {
        return true;
    }
    grown = realloc(message->bytes, capacity);
    if (grown == NULL) {
        return false;
    }
    message->bytes = grown;
    message->capacity = capacity;
    return true;
}

void
csb_message_put(struct csb_message *message, const void *bytes, size_t count)
{
    if (message->failed || !make_room(message, count)) {
        message->failed = true;
    } else if (count > 0) {
        memcpy(message->bytes + message->count, bytes, count);
        message->count += count;
    }
}

void
csb_message_put_string(struct csb_message *message, const char *text)
{
    csb_message_put(message, text, strlen(text) + 1);
}

void
csb_message_put_strings(struct csb_message *message, const struct csb_strings *strings)
{
    for (size_t i = 0; i < strings->count; i++) {
        csb_message_put_string(message, strings->items[i]);
    }
}

int
csb_message_finish(struct csb_message *message, size_t limit_bytes,
                   struct csb_error *reterr)
{
    int result = 0;
    if (message->failed) {
        result = csb_fail(reterr, CSB_STEP_MEMORY, ENOMEM, "no memory for a message");
    } else if (message->count > limit_bytes) {
        result =
            csb_fail(reterr, CSB_STEP_ARGUMENT, E2BIG,
                     "file name, args, env and module path are longer than %zu bytes",
                     limit_bytes);
    }
    if (result < 0) {
        csb_message_done(message);
    }
    return result;
}

void
csb_message_done(struct csb_message *message)
{
    free(message->bytes);
    *message = (struct csb_message){0};
}
