/* Theory of operation: a pure function from the registers of a denied call to words, by the
 * tables of argument_names.c. Runs in the supervisor for each denial, so it allocates
 * nothing; what comes out is our own text and digits, never the child's bytes. */
#include "violation.h"

#include "argument_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static int
compare(const void *name, const void *row)
{
    return strcmp(name, ((const struct csb_argument_row *)row)->syscall);
}

static void
put(struct csb_wanted *ret, const char *text)
{
    (void)snprintf(ret->text, sizeof ret->text, "%s", text);
}

static void
put_number(struct csb_wanted *ret, uint64_t value)
{
    (void)snprintf(ret->text, sizeof ret->text, "0x%llx", (unsigned long long)value);
}

static void
name_value(const struct csb_argument_row *row, uint64_t value, struct csb_wanted *ret)
{
    for (size_t i = 0; i < row->name_count; i++) {
        if (row->names[i].value == value) {
            put(ret, row->names[i].name);
            return;
        }
    }
    put_number(ret, value);
}

/* As many names as there is room for; the rest is "…". */
static void
name_flags(const struct csb_argument_row *row, uint64_t value, struct csb_wanted *ret)
{
    static const char more[] = "|…";
    size_t used = 0;
    for (size_t i = 0; i < row->name_count; i++) {
        const char *name = row->names[i].name;
        size_t length = strlen(name) + (used > 0);
        if ((value & row->names[i].value) == 0) {
            continue;
        }
        if (used + length + sizeof more > sizeof ret->text) {
            (void)snprintf(ret->text + used, sizeof ret->text - used, "%s", more);
            return;
        }
        (void)snprintf(ret->text + used, sizeof ret->text - used, "%s%s",
                       used > 0 ? "|" : "", name);
        used += length;
    }
    if (used == 0) {
        put(ret, row->none);
    }
}

static const char *
whose(int32_t pid, pid_t own, bool signals)
{
    if (pid == own || (pid == 0 && !signals)) {
        return "self";
    }
    if (signals && pid == -1) {
        return "everybody";
    }
    if (signals && pid <= 0) {
        return pid == 0 ? "own group" : "other group";
    }
    return "other";
}

void
csb_wanted_of(const char *syscall, const uint64_t *arguments, pid_t own,
              struct csb_wanted *ret)
{
    bool foreign_pair =
        strcmp(syscall, "socketpair") == 0 && (uint32_t)arguments[0] != AF_UNIX;
    /* A pair of sockets is denied for its type, or before that for its domain. */
    const struct csb_argument_row *row =
        bsearch(foreign_pair ? "socket" : syscall, csb_argument_rows,
                csb_argument_row_count, sizeof csb_argument_rows[0], compare);
    uint64_t value;
    *ret = (struct csb_wanted){.key = NULL};
    if (row == NULL) {
        return;
    }
    ret->key = row->key;
    value = arguments[row->index];
    switch (row->kind) {
    case CSB_ARGUMENT_VALUE:
        name_value(row, (uint32_t)(value & ~row->ignored), ret);
        break;
    case CSB_ARGUMENT_FLAGS:
        name_flags(row, value, ret);
        break;
    case CSB_ARGUMENT_PROCESS:
    case CSB_ARGUMENT_SIGNALS:
        put(ret, whose((int32_t)value, own, row->kind == CSB_ARGUMENT_SIGNALS));
        break;
    case CSB_ARGUMENT_CLOCK:
        put(ret, (int32_t)value < 0 ? "other process" : "machine");
        break;
    case CSB_ARGUMENT_POINTER:
        put(ret, value == 0 ? "none" : "given");
        break;
    default:
        ret->key = NULL;
        break;
    }
}

bool
csb_wanted_same(const struct csb_wanted *one, const struct csb_wanted *other)
{
    return one->key == other->key && strcmp(one->text, other->text) == 0;
}
