/* What a denied system call wanted, in words. Pure; any process, no GIL. */
#ifndef CSB_VIOLATION_H
#define CSB_VIOLATION_H

#include "csb.h"

#include <sys/types.h>

enum { CSB_CALL_ARGUMENTS = 6, CSB_WANTED_TEXT = 48 };

/* The class of the one argument that tells what a call was for. Many values fall into one
 * class ("other" for every foreign pid), so a child can not fill a table by counting up. */
struct csb_wanted {
    const char *key;            /* "domain"; static text, NULL: nothing to tell */
    char text[CSB_WANTED_TEXT]; /* "AF_INET"; a value without a name: "0x1f" */
};

/* `syscall` is the call's name, "" when it has none; `own` the process's own pid as it sees
 * itself. Of a 32-bit argument only 32 bits are looked at, as the kernel does. */
void csb_wanted_of(const char *syscall, const uint64_t *arguments, pid_t own,
                   struct csb_wanted *ret);

bool csb_wanted_same(const struct csb_wanted *one, const struct csb_wanted *other);

#endif
