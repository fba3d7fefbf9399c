/* Fault injection for C tests: the linker puts a wrapper around each function that can fail
 * (the `link:` lines of the test that uses it), and the n-th call of one of them fails. And a
 * policy of this tree, whose runs can say what they could do. */
#ifndef TESTS_C_FAULT_H
#define TESTS_C_FAULT_H

#include "policy.h"

#include <stddef.h>

/* Any thread; also the child between clone and exec, whose memory is ours. */
struct fault {
    const char *target; /* NULL: nothing fails */
    unsigned long n;
    unsigned long seen; /* calls of the target so far */
    int err;
};

extern struct fault fault;

/* Names of the wrapped functions. */
extern const char *const fault_targets[];
extern const size_t fault_target_count;

void fault_set(const char *target, unsigned long n, int err);
/* No more; returns how many calls there were. */
unsigned long fault_clear(void);

/* Says what it could do. A file of the host and a socket: one for each of the two layers that a
 * lost error could leave out. It prints "refused refused refused", or UNCONFINED. */
extern const char fault_program[];

/* Profile "open" of this tree in a scratch base of its own; -1: it can not be enforced here. */
int fault_policy_make(struct csb_policy *policy, char **ret_base);
void fault_policy_done(struct csb_policy *policy, char *base);

/* Wait a moment until no child, no folder and no more descriptors than these are left. */
bool fault_nothing_left(const char *base, int descriptors);

#endif
