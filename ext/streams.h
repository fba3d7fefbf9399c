/* The pipes between the caller and one child: what is fed in, what comes out.
 * All ends here are non-blocking and owned. One thread at a time; no GIL. */
#ifndef CSB_STREAMS_H
#define CSB_STREAMS_H

#include "capture.h"

/* Bytes that go to the child as fast as it takes them. Borrowed, not copied. */
struct csb_feed {
    int fd; /* a non-blocking socket; borrowed */
    const unsigned char *bytes;
    size_t left;
};

/* Write what the socket takes now, within a bound; never blocks, never raises SIGPIPE. Returns 0,
 * also when nobody listens any more, or -errno when the socket itself failed. */
int csb_feed_push(struct csb_feed *feed) CSB_MUST_USE;

/* Read what is there now into the capture; closes *fd at end of file. Returns 0 or a
 * negative errno (out of memory). Bounded: at most a few hundred kilobytes a call, so that
 * a child that writes without end can not hold the caller in here. */
int csb_stream_pull(int *fd, struct csb_capture *capture) CSB_MUST_USE;

/* After the child is dead: read the rest. */
int csb_stream_drain(int *fd, struct csb_capture *capture) CSB_MUST_USE;

#endif
