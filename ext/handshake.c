/* Theory of operation: runs in the caller's supervisor loop, while the child is still trusted:
 * before READY no untrusted byte has been sent. Never blocks. */
#include "handshake.h"

#include "fd.h"

#include <string.h>
#include <sys/socket.h>

/* One record, and the listener that comes with READY (cmsg(3)). Room for exactly one
 * descriptor: CMSG_SPACE would hold two on 64-bit machines. */
ssize_t
csb_handshake_receive(int channel, struct csb_wire_record *record, int *ret_listener)
{
    union {
        struct cmsghdr header;
        unsigned char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec vector = {record, sizeof *record};
    struct msghdr message = {.msg_iov = &vector,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = CMSG_LEN(sizeof(int))};
    ssize_t count = recvmsg(channel, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    struct cmsghdr *header = count < 0 ? NULL : CMSG_FIRSTHDR(&message);
    *ret_listener = CSB_FD_NONE;
    if (header != NULL && header->cmsg_level == SOL_SOCKET &&
        header->cmsg_type == SCM_RIGHTS && header->cmsg_len == CMSG_LEN(sizeof(int))) {
        memcpy(ret_listener, CMSG_DATA(header), sizeof(int));
    }
    return count;
}
