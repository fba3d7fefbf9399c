/* System call sets → the BPF program that the kernel loads.
 *
 * Two programs a policy: the wide one is entered before exec and lets the trusted
 * interpreter start; the narrow one is entered last and is what untrusted code runs under.
 * Both stay in force, the stricter answer wins (seccomp(2)). Runs in the caller; allocates;
 * any thread, no GIL. syscall_filter.c is the only file that includes <seccomp.h>. */
#ifndef CSB_SYSCALL_FILTER_H
#define CSB_SYSCALL_FILTER_H

#include "bpf.h"
#include "error.h"

enum csb_filter_stage {
    CSB_FILTER_WIDE,
    CSB_FILTER_NARROW,        /* what is denied is answered by the listener */
    CSB_FILTER_NARROW_BRANCH, /* the same, and nothing in it is one process's own */
    CSB_FILTER_NARROW_SILENT, /* for kernels without user notification: plain EPERM */
};

/* Compile the rows of `sets` (CSB_SET_BIT mask; ignored for CSB_FILTER_WIDE, which takes
 * every row) and check the result against the table with the simulator. On success the
 * caller owns *ret (csb_bpf_done). */
int csb_seccomp_compile(uint32_t sets, enum csb_filter_stage stage, struct csb_bpf *ret,
                        struct csb_error *reterr) CSB_MUST_USE;

/* Name of a system call number of this machine, or NULL. The caller frees it. */
char *csb_seccomp_name(int number);

/* Number of a system call of this machine, or -1 when it has none of that name. */
int csb_seccomp_number(const char *name);

/* The AUDIT_ARCH_* value of this machine's native system calls. */
uint32_t csb_seccomp_arch(void);

#endif
