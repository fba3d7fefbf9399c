/* One output stream of a child: its first and last bytes, and how many there were.
 *
 * A capture is given its maximum when it is made: the first half of it keeps the head, the
 * rest is a ring that keeps the tail. Memory grows with what arrives, never past the
 * maximum, whatever the child writes. Owned by one thread at a time; no GIL needed. */
#ifndef CSB_CAPTURE_H
#define CSB_CAPTURE_H

#include "csb.h"

struct csb_capture {
    unsigned char *bytes; /* capacity bytes, grown by doubling up to limit */
    size_t capacity;
    size_t limit;
    uint64_t total; /* bytes that arrived, kept or not */
    /* Told of what arrives; stream is handed on. NULL: nobody. */
    void (*tap)(void *argument, int stream, const unsigned char *bytes, size_t count);
    void *tap_argument;
    int stream;
};

void csb_capture_init(struct csb_capture *capture, size_t limit_bytes);
void csb_capture_done(struct csb_capture *capture);

/* Add bytes. Returns 0 or -ENOMEM (nothing added). */
int csb_capture_add(struct csb_capture *capture, const unsigned char *bytes,
                    size_t count) CSB_MUST_USE;

/* How many bytes are kept. */
size_t csb_capture_kept(const struct csb_capture *capture);

/* Copy what is kept, head then tail, to out (csb_capture_kept bytes). */
void csb_capture_copy(const struct csb_capture *capture, unsigned char *out);

static inline bool
csb_capture_truncated(const struct csb_capture *capture)
{
    return capture->total > capture->limit;
}

#endif
