/* Theory of operation: the caller's side of a start, and the few lines that run in the
 * child around csb_confine_early. clone(CLONE_VM | CLONE_VFORK) shares the caller's memory
 * until exec: the child writes nothing but its own stack and one record on the channel. All
 * signals are blocked meanwhile, so no handler of the host runs in shared memory. */
#include "spawn.h"

#include "clock.h"
#include "confine.h"
#include "detached.h"
#include "fd.h"
#include "raw.h"
#include "wire.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

enum { STACK_BYTES = 64 * 1024, KERNEL_SIGSET_BYTES = 8 };

/* In the child. The channel's own number is valid until the descriptors were closed; then
 * its copy is. Never the copy first: before place_fds that number is the host's. */
static void
report_failure(const struct csb_plan *plan, const struct csb_failure *failure)
{
    const struct csb_wire_record record = {.magic = CSB_WIRE_MAGIC,
                                           .kind = CSB_WIRE_FAILED,
                                           .step = failure->step,
                                           .err = failure->err};
    if (csb_syscall(SYS_write, plan->channel_fd, &record, sizeof record) == -EBADF) {
        (void)csb_syscall(SYS_write, CSB_CHANNEL_FD, &record, sizeof record);
    }
}

static int
child_main(void *argument)
{
    const struct csb_plan *plan = argument;
    struct csb_failure failure = {CSB_STEP_NONE, 0};
    if (csb_confine_early(plan, &failure) == 0) {
        long result = csb_syscall(SYS_execve, plan->executable, plan->argv, plan->envp);
        failure = (struct csb_failure){CSB_STEP_EXEC, (int)-result};
    }
    report_failure(plan, &failure);
    (void)csb_syscall(SYS_exit_group, CSB_WIRE_EXIT_FAILED);
    __builtin_unreachable();
}

int
csb_spawn_body(int (*body)(void *), const void *argument, struct csb_process *ret)
{
    const uint64_t all = UINT64_MAX;
    uint64_t before = 0;
    unsigned char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    int result;
    *ret = (struct csb_process){-1, CSB_FD_NONE};
    if (stack == MAP_FAILED) {
        return -errno;
    }
    (void)csb_syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before,
                      KERNEL_SIGSET_BYTES);
    ret->pid =
        clone(body, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD,
              (void *)(uintptr_t)argument, &ret->pidfd);
    result = ret->pid < 0 ? -errno : 0;
    ret->pidfd = result < 0 ? CSB_FD_NONE : ret->pidfd;
    (void)csb_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, 0, KERNEL_SIGSET_BYTES);
    (void)munmap(stack, STACK_BYTES);
    if (result == 0) {
        int raised = csb_fd_raise(ret->pidfd);
        /* EMFILE: the pidfd is gone, so is the way to end the child but by its pid */
        if (raised < 0) {
            (void)kill(ret->pid, SIGKILL);
            (void)waitpid(ret->pid, NULL, __WALL);
            *ret = (struct csb_process){-1, CSB_FD_NONE};
            return raised;
        }
        ret->pidfd = raised;
    }
    return result;
}

int
csb_spawn(const struct csb_plan *plan, struct csb_process *ret,
          struct csb_error *reterr)
{
    int result = csb_spawn_body(child_main, plan, ret);
    if (result < 0) {
        return csb_fail(reterr, CSB_STEP_CLONE, -result, "start a process: %s",
                        strerror(-result));
    }
    return 0;
}

void
csb_process_kill(const struct csb_process *process)
{
    if (process->pidfd >= 0) {
        (void)csb_syscall(SYS_pidfd_send_signal, process->pidfd, SIGKILL, 0, 0);
    }
}

static bool
wait_for_end(const struct csb_process *process, int64_t wait_ns)
{
    struct pollfd pidfd = {process->pidfd, POLLIN, 0};
    const int64_t deadline = csb_clock_now_ns() + wait_ns;
    for (;;) {
        int64_t left = deadline - csb_clock_now_ns();
        int milliseconds =
            left > 0 ? (int)((left + CSB_NS_PER_MS - 1) / CSB_NS_PER_MS) : 0;
        int result = poll(&pidfd, 1, milliseconds);
        if (result > 0) {
            return true;
        }
        if (result == 0 || errno != EINTR) {
            return false;
        }
    }
}

/* What the kernel keeps with a pidfd after somebody else has reaped, as in a host that ignores
 * SIGCHLD (Linux 6.15; ioctl_pidfd(2)). The headers of most systems are older. */
struct pidfd_info {
    uint64_t mask;
    uint64_t cgroup_id;
    uint32_t ids[11];
    int32_t status; /* as wait(2) has it */
};

#define PIDFD_INFO_EXIT_BIT (UINT64_C(1) << 3)
#define PIDFD_GET_INFO_CALL _IOWR(0xFF, 11, struct pidfd_info)

static void
ask_pidfd(int pidfd, struct csb_exit *ret)
{
    struct pidfd_info info = {.mask = PIDFD_INFO_EXIT_BIT};
    if (ioctl(pidfd, PIDFD_GET_INFO_CALL, &info) != 0 ||
        (info.mask & PIDFD_INFO_EXIT_BIT) == 0) {
        return;
    }
    ret->known = true;
    if (WIFEXITED(info.status)) {
        ret->exit_code = WEXITSTATUS(info.status);
    } else {
        ret->signal = WTERMSIG(info.status);
    }
}

bool
csb_process_reap(struct csb_process *process, int64_t wait_ns, struct csb_exit *ret)
{
    siginfo_t info;
    long result;
    *ret = (struct csb_exit){.known = false, .exit_code = -1};
    if (!wait_for_end(process, wait_ns)) {
        return false;
    }
    memset(&info, 0, sizeof info);
    do {
        result = csb_syscall(SYS_waitid, P_PIDFD, process->pidfd, &info, WEXITED,
                             &ret->usage);
    } while (result == -EINTR);
    if (result == 0) {
        ret->known = true;
        if (info.si_code == CLD_EXITED) {
            ret->exit_code = info.si_status;
        } else {
            ret->signal = info.si_status;
        }
    } else {
        ask_pidfd(process->pidfd, ret);
    }
    csb_fd_close(&process->pidfd);
    return true;
}

static void *
reap_slowly(void *argument)
{
    struct csb_process process = {-1, (int)(intptr_t)argument};
    struct csb_exit ended;
    while (!csb_process_reap(&process, 3600 * CSB_NS_PER_S, &ended)) {
    }
    return NULL;
}

void
csb_process_abandon(struct csb_process *process)
{
    csb_process_kill(process);
    if (csb_detached_start(reap_slowly, (void *)(intptr_t)process->pidfd) == 0) {
        process->pidfd = CSB_FD_NONE;
    } else {
        /* No thread: the process is dead to us, its entry stays until the caller ends. */
        csb_fd_close(&process->pidfd);
    }
}
