/* A growing, NULL-terminated list of owned strings (argv, envp, module paths).
 * One thread at a time; no GIL. */
#ifndef CSB_STRING_LIST_H
#define CSB_STRING_LIST_H

#include "csb.h"

struct csb_strings {
    char **items; /* count strings, then NULL; NULL while empty */
    size_t count;
};

void csb_strings_done(struct csb_strings *strings);

/* Copy and append. Returns 0 or -ENOMEM (list unchanged). */
int csb_strings_add(struct csb_strings *strings, const char *item) CSB_MUST_USE;

/* Append "name=value". */
int csb_strings_add_pair(struct csb_strings *strings, const char *name,
                         const char *value) CSB_MUST_USE;

#endif
