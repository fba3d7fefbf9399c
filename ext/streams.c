/* Theory of operation: runs in the caller's supervisor loop, on descriptors whose other end
 * a hostile child holds. The child decides when bytes move, never for how long the caller
 * stays: every call is non-blocking and bounded. */
#include "streams.h"

#include "fd.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CHUNK_BYTES = 64 * 1024, PULL_CHUNKS = 4, DRAIN_CHUNKS = 64, PUSH_WRITES = 8 };

int
csb_feed_push(struct csb_feed *feed)
{
    for (int i = 0; i < PUSH_WRITES && feed->fd >= 0 && feed->left > 0; i++) {
        ssize_t written = send(feed->fd, feed->bytes, feed->left, MSG_NOSIGNAL);
        if (written < 0) {
            if (errno == EINTR) {
                continue;
            }
            if (errno == EPIPE || errno == ECONNRESET) {
                feed->left = 0; /* the child does not listen any more: its own affair */
            } else if (errno != EAGAIN) {
                return -errno;
            }
            break;
        }
        feed->bytes += written;
        feed->left -= (size_t)written;
    }
    return 0;
}

static int
pull_chunks(int *fd, struct csb_capture *capture, unsigned chunks)
{
    unsigned char chunk[CHUNK_BYTES];
    while (*fd >= 0 && chunks-- > 0) {
        ssize_t count = read(*fd, chunk, sizeof chunk);
        int result;
        if (count < 0) {
            if (errno == EINTR) {
                continue;
            }
            return 0; /* EAGAIN: nothing now */
        }
        if (count == 0) {
            csb_fd_close(fd);
            return 0;
        }
        result = csb_capture_add(capture, chunk, (size_t)count);
        if (result < 0) {
            return result;
        }
        if ((size_t)count < sizeof chunk) {
            return 0;
        }
    }
    return 0;
}

int
csb_stream_pull(int *fd, struct csb_capture *capture)
{
    return pull_chunks(fd, capture, PULL_CHUNKS);
}

int
csb_stream_drain(int *fd, struct csb_capture *capture)
{
    return pull_chunks(fd, capture, DRAIN_CHUNKS);
}
