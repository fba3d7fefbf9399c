/* Theory of operation: runs in the caller, on sockets whose other end is our own code in a
 * process that has not read an untrusted byte (a child before READY, a zygote). Never
 * blocks but for the bounded wait in csb_handshake_exit. */
#include "handshake.h"

#include "clock.h"
#include "fd.h"
#include "zygote_wire.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

/* One record, and the descriptor that comes with it (cmsg(3)). Room for exactly one:
 * CMSG_SPACE would hold two on 64-bit machines. */
static ssize_t
receive(int socket, void *record, size_t size, int *ret_fd)
{
    union {
        struct cmsghdr header;
        unsigned char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec vector = {record, size};
    struct msghdr message = {.msg_iov = &vector,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = CMSG_LEN(sizeof(int))};
    ssize_t count = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    struct cmsghdr *header = count < 0 ? NULL : CMSG_FIRSTHDR(&message);
    *ret_fd = CSB_FD_NONE;
    if (header != NULL && header->cmsg_level == SOL_SOCKET &&
        header->cmsg_type == SCM_RIGHTS && header->cmsg_len == CMSG_LEN(sizeof(int))) {
        memcpy(ret_fd, CMSG_DATA(header), sizeof(int));
    }
    return count;
}

ssize_t
csb_handshake_receive(int channel, struct csb_wire_record *record, int *ret_listener)
{
    return receive(channel, record, sizeof *record, ret_listener);
}

int
csb_handshake_forked(int status, struct csb_process *ret)
{
    struct csb_zygote_forked forked;
    int pidfd;
    ssize_t count = receive(status, &forked, sizeof forked, &pidfd);
    if (count < 0) {
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    }
    if (count != (ssize_t)sizeof forked || (forked.err == 0 && pidfd < 0)) {
        csb_fd_close(&pidfd);
        return -EPIPE;
    }
    if (forked.err != 0) {
        csb_fd_close(&pidfd);
        return -forked.err;
    }
    pidfd = csb_fd_raise(pidfd);
    if (pidfd < 0) {
        return pidfd;
    }
    *ret = (struct csb_process){forked.pid, pidfd};
    return 1;
}

void
csb_handshake_exit(int status, int64_t wait_ns, struct csb_exit *ret)
{
    struct csb_zygote_ended ended;
    struct pollfd readable = {status, POLLIN, 0};
    const int64_t deadline = csb_clock_now_ns() + wait_ns;
    int result;
    *ret = (struct csb_exit){.known = false, .exit_code = -1};
    do {
        int64_t left = deadline - csb_clock_now_ns();
        result = poll(&readable, 1, left > 0 ? (int)(left / CSB_NS_PER_MS) + 1 : 0);
    } while (result < 0 && errno == EINTR);
    if (result <= 0 ||
        recv(status, &ended, sizeof ended, MSG_DONTWAIT) != (ssize_t)sizeof ended) {
        return;
    }
    ret->known = true;
    ret->exit_code = ended.signal == 0 ? ended.exit_code : -1;
    ret->signal = ended.signal;
    ret->usage = ended.usage;
}
