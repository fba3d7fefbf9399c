/* Receive the child's one record of the start (wire.h), and the listener that comes with it.
 * In the caller; any thread, no GIL. */
#ifndef CSB_HANDSHAKE_H
#define CSB_HANDSHAKE_H

#include "wire.h"

#include <sys/types.h>

/* What recvmsg(2) says: the size of *record when a whole one came, 0 when the other side is
 * gone, -1 with errno. *ret_listener is the caller's, or CSB_FD_NONE. */
ssize_t csb_handshake_receive(int channel, struct csb_wire_record *record,
                              int *ret_listener);

#endif
