/* Theory of operation: in the child of a session, between two cells, when the supervisor has
 * ordered a branch. The fork is nothing but clone(2): no function of the interpreter or of libc
 * that would change what is in memory, so that a branch has the very state of the original.
 * Hostile code may do the same calls, or lie about them; the supervisor lets exactly one
 * through, and finds the new process by itself. */
#include "child_setup.h"

#include "raw.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

enum { KERNEL_SIGSET_BYTES = 8, SET_MASK = 2 };

/* x86: flags, stack, parent_tid, child_tid, tls; others have the last two the other way round. */
static long
clone_now(uint64_t flags, void *thread_id_at)
{
#ifdef __x86_64__
    return csb_syscall(SYS_clone, flags, 0, 0, thread_id_at, 0);
#else
    return csb_syscall(SYS_clone, flags, 0, 0, 0, thread_id_at);
#endif
}

/* Until it has descriptors and a folder of its own, a branch does nothing else. */
static void
settle(const char *folder)
{
    if (csb_syscall(SYS_prctl, CSB_WIRE_SAY_BRANCH, 0, 0, 0, 0) != 0 ||
        csb_syscall(SYS_chdir, folder) != 0) {
        (void)csb_syscall(SYS_exit_group, CSB_WIRE_EXIT_FAILED);
        abort();
    }
}

int
csb_child_branch(const struct csb_child *child)
{
    const uint64_t all = UINT64_MAX;
    uint64_t before = 0;
    uint64_t flags = CSB_BRANCH_FLAGS;
    char folder[PATH_MAX];
    long result = csb_syscall(SYS_getcwd, folder, sizeof folder);
    if (result < 0) {
        return (int)result;
    }
    if (child->thread_id_at != NULL) {
        flags = CSB_BRANCH_TID_FLAGS;
    }
    (void)csb_syscall(SYS_rt_sigprocmask, SET_MASK, &all, &before, KERNEL_SIGSET_BYTES);
    result = clone_now(flags, child->thread_id_at);
    if (result == 0) {
        settle(folder);
    }
    (void)csb_syscall(SYS_rt_sigprocmask, SET_MASK, &before, 0, KERNEL_SIGSET_BYTES);
    return result == 0 ? 1 : result > 0 ? 0 : (int)result;
}
