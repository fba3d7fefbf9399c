/* Files that a process deleted and still holds: open, or mapped only. In the caller; no GIL. */
#ifndef CSB_DELETED_FILES_H
#define CSB_DELETED_FILES_H

#include "procfs.h"

/* Bytes that they take. `name`: a part of their paths that nothing else has. One that is
 * only mapped counts with `file_bytes`: its size can not be asked for. 0 when the process is
 * gone or can not be looked into. */
uint64_t csb_deleted_bytes(const struct csb_procfs *procfs, const char *name,
                           uint64_t file_bytes);

#endif
