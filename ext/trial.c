/* Theory of operation: runs in the caller. csb_trial_run suspends the calling thread, as a
 * real start does; csb_trial_clone without CLONE_VFORK does not. */
#include "trial.h"

#include "raw.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

unsigned char *
csb_trial_stack_new(void)
{
    void *stack = mmap(NULL, CSB_TRIAL_STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    return stack == MAP_FAILED ? NULL : stack;
}

void
csb_trial_stack_free(unsigned char *stack)
{
    if (stack != NULL) {
        (void)munmap(stack, CSB_TRIAL_STACK_BYTES);
    }
}

pid_t
csb_trial_clone(int (*function)(void *), void *argument, unsigned char *stack,
                int flags)
{
    const uint64_t all = UINT64_MAX;
    uint64_t before = 0;
    pid_t child;
    int err;
    (void)csb_syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, sizeof all);
    child = clone(function, stack + CSB_TRIAL_STACK_BYTES, CLONE_VM | flags, argument);
    err = errno;
    (void)csb_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, 0, sizeof before);
    return child < 0 ? -err : child;
}

int
csb_trial_wait(pid_t child)
{
    int status = 0;
    pid_t waited;
    do {
        waited = waitpid(child, &status, (int)__WCLONE);
    } while (waited < 0 && errno == EINTR);
    return waited == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int
csb_trial_run(int (*function)(void *), void *argument)
{
    unsigned char *stack = csb_trial_stack_new();
    pid_t child;
    int result;
    if (stack == NULL) {
        return -ENOMEM;
    }
    child = csb_trial_clone(function, argument, stack, CLONE_VFORK);
    result = child < 0 ? child : csb_trial_wait(child);
    csb_trial_stack_free(stack);
    if (child < 0) {
        return result;
    }
    return result < 0 ? -EIO : -result;
}
