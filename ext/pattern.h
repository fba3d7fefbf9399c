/* Which relative paths a pattern of the caller's means. Pure; any process, no GIL.
 *
 * `*` any characters, `?` one, `[a-z]` and `[!a-z]` one of a set, none of them a slash; `**`
 * as a whole part means any number of folders. A name that begins with a dot is only meant
 * by a part that begins with one. Both are UTF-8, relative, without empty, "." and ".."
 * parts. A bracket that is never closed stands for itself. */
#ifndef CSB_PATTERN_H
#define CSB_PATTERN_H

#include "csb.h"

enum {
    CSB_PATTERN_MATCHES = 1, /* the path itself */
    CSB_PATTERN_REACHES = 2, /* something below it could match */
};

unsigned csb_pattern_match(const char *pattern, const char *path);

#endif
