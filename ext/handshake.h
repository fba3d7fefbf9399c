/* Receive what our own code says of a child: the one record of its start (wire.h), and what
 * a zygote tells of a child that it forked. In the caller; any thread, no GIL. */
#ifndef CSB_HANDSHAKE_H
#define CSB_HANDSHAKE_H

#include "spawn.h"
#include "wire.h"

#include <sys/types.h>

/* What recvmsg(2) says: the size of *record when a whole one came, 0 when the other side is
 * gone, -1 with errno. *ret_listener is the caller's, or CSB_FD_NONE. */
ssize_t csb_handshake_receive(int channel, struct csb_wire_record *record,
                              int *ret_listener);

/* The zygote's first word on a status socket: the process, whose pidfd is then the caller's.
 * 0 = nothing yet, 1 = here it is, or -errno: it could not fork, or is gone (-EPIPE). */
int csb_handshake_forked(int status, struct csb_process *ret);

/* Its second and last: how the process ended. Waits at most wait_ns; ret->known is false
 * when nothing came. */
void csb_handshake_exit(int status, int64_t wait_ns, struct csb_exit *ret);

#endif
