/* File descriptors that have an owner.
 *
 * Every fd made here is close-on-exec and at least CSB_FD_MIN, so that a child can move its
 * own fds to 0..3 without tripping over one that it still needs. Any thread, no GIL. */
#ifndef CSB_FD_H
#define CSB_FD_H

#include "error.h"

enum { CSB_FD_MIN = 10, CSB_FD_NONE = -1 };

/* Close *fd unless it is negative (CSB_FD_NONE, or a -errno), and set it to CSB_FD_NONE. For
 * CSB_CLEANUP too. */
void csb_fd_close(int *fd);

/* Move fd to a number >= CSB_FD_MIN with close-on-exec; closes the old one in every case.
 * Returns the new fd or -errno. */
int csb_fd_raise(int fd);

/* pipe: ret[0] read end, ret[1] write end. */
int csb_fd_pipe(int ret[2], struct csb_error *reterr) CSB_MUST_USE;

/* Connected AF_UNIX stream sockets. */
int csb_fd_socketpair(int ret[2], struct csb_error *reterr) CSB_MUST_USE;

/* Set O_NONBLOCK; returns 0 or -errno. */
int csb_fd_nonblocking(int fd) CSB_MUST_USE;

/* Write all of it to a file or a memfd (a blocking descriptor); returns 0 or -errno. */
int csb_fd_write_all(int fd, const unsigned char *bytes, size_t count) CSB_MUST_USE;

#endif
