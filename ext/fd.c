/* Theory of operation: runs in the caller. Owns nothing itself; hands out descriptors that
 * the caller of each function then owns. Never used between clone and exec. */
#include "fd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void
csb_fd_close(int *fd)
{
    if (*fd >= 0) {
        /* The result does not matter: Linux frees the number even on EINTR or EIO. */
        (void)close(*fd);
    }
    *fd = CSB_FD_NONE;
}

int
csb_fd_raise(int fd)
{
    int raised;
    int err;
    if (fd >= CSB_FD_MIN) {
        return fd;
    }
    raised = fcntl(fd, F_DUPFD_CLOEXEC, (int)CSB_FD_MIN);
    err = errno;
    (void)close(fd);
    return raised < 0 ? -err : raised;
}

static int
raise_both(int pair[2], int ret[2], struct csb_error *reterr)
{
    ret[0] = csb_fd_raise(pair[0]);
    ret[1] = csb_fd_raise(pair[1]);
    if (ret[0] < 0 || ret[1] < 0) {
        int err = ret[0] < 0 ? -ret[0] : -ret[1];
        for (int i = 0; i < 2; i++) {
            if (ret[i] < 0) {
                ret[i] = CSB_FD_NONE;
            }
            csb_fd_close(&ret[i]);
        }
        return csb_fail(reterr, CSB_STEP_PIPE, err, "duplicate a descriptor: %s",
                        strerror(err));
    }
    return 0;
}

int
csb_fd_pipe(int ret[2], struct csb_error *reterr)
{
    int pair[2];
    ret[0] = ret[1] = CSB_FD_NONE;
    if (pipe2(pair, O_CLOEXEC) != 0) {
        int err = errno;
        return csb_fail(reterr, CSB_STEP_PIPE, err, "make a pipe: %s", strerror(err));
    }
    return raise_both(pair, ret, reterr);
}

int
csb_fd_socketpair(int ret[2], struct csb_error *reterr)
{
    int pair[2];
    ret[0] = ret[1] = CSB_FD_NONE;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        int err = errno;
        return csb_fail(reterr, CSB_STEP_PIPE, err, "make a socket pair: %s",
                        strerror(err));
    }
    return raise_both(pair, ret, reterr);
}

int
csb_fd_nonblocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
        return -errno;
    }
    return 0;
}

int
csb_fd_write_all(int fd, const unsigned char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t written = write(fd, bytes, count);
        if (written < 0 && errno != EINTR) {
            return -errno;
        }
        if (written > 0) {
            bytes += written;
            count -= (size_t)written;
        }
    }
    return 0;
}
