/* Classic BPF as seccomp uses it: a program owned by us, and a simulator.
 *
 * The simulator says what a compiled program would answer to a given call, so that a bug of
 * the library that made it can not weaken a filter silently. Pure; any process, no GIL. */
#ifndef CSB_BPF_H
#define CSB_BPF_H

#include "csb.h"

#include <linux/filter.h>
#include <linux/seccomp.h>

struct csb_bpf {
    unsigned short length; /* instructions */
    struct sock_filter *code;
};

/* Release the code; safe on a zeroed struct. */
void csb_bpf_done(struct csb_bpf *program);

/* The SECCOMP_RET_* value for this call; SECCOMP_RET_KILL_PROCESS when the program is
 * malformed (the kernel would have refused it). */
uint32_t csb_bpf_run(const struct csb_bpf *program, const struct seccomp_data *call);

/* Replace the constant `from` by `to` in every equality test. Returns how many. */
unsigned csb_bpf_patch_equal(struct csb_bpf *program, uint32_t from, uint32_t to);

#endif
