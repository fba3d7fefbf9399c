/* Theory of operation: runs in the caller, on bytes that a hostile child wrote. It only
 * counts and copies them. Layout: bytes[0, head) is the head, bytes[head, limit) a ring in
 * which byte number n of the stream (n >= head) stands at head + (n - head) % ring. */
#include "capture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 4096 };

static size_t
head_size(const struct csb_capture *capture)
{
    return capture->limit - capture->limit / 2;
}

void
csb_capture_init(struct csb_capture *capture, size_t limit_bytes)
{
    *capture = (struct csb_capture){.limit = limit_bytes};
}

void
csb_capture_done(struct csb_capture *capture)
{
    free(capture->bytes);
    *capture = (struct csb_capture){.limit = capture->limit};
}

static int
grow(struct csb_capture *capture, uint64_t wanted)
{
    size_t capacity = capture->capacity ? capture->capacity : FIRST_CAPACITY;
    unsigned char *bytes;
    size_t needed = wanted < capture->limit ? (size_t)wanted : capture->limit;
    if (needed <= capture->capacity) {
        return 0;
    }
    while (capacity < needed) {
        capacity *= 2;
    }
    if (capacity > capture->limit) {
        capacity = capture->limit;
    }
    bytes = realloc(capture->bytes, capacity);
    if (bytes == NULL) {
        return -ENOMEM;
    }
    capture->bytes = bytes;
    capture->capacity = capacity;
    return 0;
}

int
csb_capture_add(struct csb_capture *capture, const unsigned char *bytes, size_t count)
{
    size_t head = head_size(capture);
    size_t ring = capture->limit - head;
    int result = grow(capture, capture->total + count);
    if (result < 0) {
        return result;
    }
    if (capture->tap != NULL) {
        capture->tap(capture->tap_argument, capture->stream, bytes, count);
    }
    while (count > 0) {
        size_t position;
        size_t room;
        if (capture->total < head) {
            position = (size_t)capture->total;
            room = head - position;
        } else if (ring > 0) {
            size_t in_ring = (size_t)((capture->total - head) % ring);
            position = head + in_ring;
            room = ring - in_ring;
        } else {
            capture->total += count;
            return 0;
        }
        room = room < count ? room : count;
        memcpy(capture->bytes + position, bytes, room);
        capture->total += room;
        bytes += room;
        count -= room;
    }
    return 0;
}

size_t
csb_capture_kept(const struct csb_capture *capture)
{
    return capture->total < capture->limit ? (size_t)capture->total : capture->limit;
}

void
csb_capture_copy(const struct csb_capture *capture, unsigned char *out)
{
    size_t kept = csb_capture_kept(capture);
    size_t head = head_size(capture);
    size_t ring = capture->limit - head;
    size_t start;
    if (kept == 0) {
        return;
    }
    if (!csb_capture_truncated(capture) || ring == 0) {
        memcpy(out, capture->bytes, kept);
        return;
    }
    memcpy(out, capture->bytes, head);
    start = (size_t)((capture->total - head) % ring);
    memcpy(out + head, capture->bytes + head + start, ring - start);
    memcpy(out + head + (ring - start), capture->bytes + head, start);
}
