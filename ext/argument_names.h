/* How arguments of denied system calls are called by people, as data.
 *
 * Pure data: any process, no GIL. Read by violation.c. */
#ifndef CSB_ARGUMENT_NAMES_H
#define CSB_ARGUMENT_NAMES_H

#include "csb.h"

struct csb_value_name {
    uint64_t value;
    const char *name;
};

enum csb_argument_kind {
    CSB_ARGUMENT_VALUE,   /* one of the names */
    CSB_ARGUMENT_FLAGS,   /* some of the names, joined by | */
    CSB_ARGUMENT_PROCESS, /* a pid: self or other */
    CSB_ARGUMENT_SIGNALS, /* a pid as kill(2) takes it: also groups and everybody */
    CSB_ARGUMENT_CLOCK,   /* a clock id: the machine's, or another process's */
    CSB_ARGUMENT_POINTER, /* only whether one was given */
};

struct csb_argument_row {
    const char *syscall;
    const char *key; /* what the argument is called in a result: "domain" */
    unsigned index;
    enum csb_argument_kind kind;
    uint64_t ignored; /* bits that are no part of the value */
    const struct csb_value_name *names;
    size_t name_count;
    const char *none; /* CSB_ARGUMENT_FLAGS: what it is when no named bit is set */
};

/* Sorted by system call; one row each. */
extern const struct csb_argument_row csb_argument_rows[];
extern const size_t csb_argument_row_count;

#endif
