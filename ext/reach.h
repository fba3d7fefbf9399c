/* Can another user get at this path? Asked before privileges are dropped, because an
 * interpreter below a folder that only root may enter would then be out of reach.
 * Looks at mode bits only; any thread, no GIL. */
#ifndef CSB_REACH_H
#define CSB_REACH_H

#include "csb.h"

#include <sys/types.h>

/* True when every folder of the absolute path may be searched, and the path itself read
 * (and searched, for a folder), by "others". When false, ret_obstacle (size bytes) holds
 * the part that is closed. A path that does not exist is no obstacle. */
bool csb_reachable_by_others(const char *path, char *ret_obstacle, size_t size);

/* Can this process become that uid and gid, and drop its groups? Not in a user namespace that
 * maps only its own user, or denies setgroups (user_namespaces(7)). */
bool csb_uid_can_be_taken(uint32_t uid);

#endif
