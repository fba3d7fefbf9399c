/* Theory of operation: runs in the caller's supervisor loop, on descriptors whose other end
 * a hostile child holds. The child decides when bytes move, never for how long the caller
 * stays: every call is non-blocking and bounded. */
#include "streams.h"

#include "fd.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK_BYTES = 64 * 1024, PULL_CHUNKS = 4, DRAIN_CHUNKS = 64 };

/* write() to a pipe without a reader raises SIGPIPE in this thread. CPython ignores it, but
 * an embedding host may not: block it, write, take it back if it came (signal(7)). */
static ssize_t
write_quietly(int fd, const unsigned char *bytes, size_t count)
{
    const struct timespec at_once = {0, 0};
    sigset_t pipe_signal;
    sigset_t before;
    sigset_t pending;
    ssize_t written;
    int err;
    (void)sigemptyset(&pipe_signal);
    (void)sigaddset(&pipe_signal, SIGPIPE);
    (void)sigpending(&pending);
    (void)pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    written = write(fd, bytes, count);
    err = errno;
    if (written < 0 && err == EPIPE && sigismember(&pending, SIGPIPE) == 0) {
        (void)sigtimedwait(&pipe_signal, NULL, &at_once);
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = err;
    return written;
}

void
csb_feed_push(struct csb_feed *feed, bool is_socket)
{
    while (feed->fd >= 0 && feed->left > 0) {
        ssize_t written = is_socket
                              ? send(feed->fd, feed->bytes, feed->left, MSG_NOSIGNAL)
                              : write_quietly(feed->fd, feed->bytes, feed->left);
        if (written < 0) {
            if (errno == EINTR) {
                continue;
            }
            if (errno != EAGAIN) {
                feed->left = 0; /* the child does not listen any more: its own affair */
            }
            break;
        }
        feed->bytes += written;
        feed->left -= (size_t)written;
    }
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
