/* Theory of operation: runs in the caller. The janitor is a program of its own, as small as one
 * can be, since its memory counts for as long as the host lives; it is started as vfork does, so
 * the size of the host does not matter. It is in a session of its own, since what is typed at
 * the host's terminal, or sent to its group, is not meant for it. It gets no descriptor of the
 * host: who waits for the end of the host's output must not wait for it. */
#include "janitor.h"

#include "clock.h"
#include "fd.h"
#include "raw.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REAP_NS (2 * CSB_NS_PER_S)

void
csb_janitor_init(struct csb_janitor *janitor)
{
    *janitor = (struct csb_janitor){.process = {-1, CSB_FD_NONE}, .host = -1};
}

struct program {
    char *const *argv;
    int null_fd;
    int cgroup_fd; /* CSB_FD_NONE: there is none */
    int err;
};

/* In the child: raw system calls only. It has left its mark in `err` when it comes back. */
static int
execute(void *argument)
{
    static char *const no_environment[] = {NULL};
    struct program *program = argument;
    long result = csb_syscall(SYS_setsid);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && result >= 0; fd++) {
        result = csb_syscall(SYS_dup3, program->null_fd, fd, 0);
    }
    if (result >= 0 && program->cgroup_fd >= 0) {
        result = csb_syscall(SYS_dup3, program->cgroup_fd, CSB_JANITOR_CGROUP_FD, 0);
    }
    if (result >= 0) {
        const int first = CSB_JANITOR_CGROUP_FD + (program->cgroup_fd >= 0 ? 1 : 0);
        result = csb_syscall(SYS_close_range, first, ~0U, 0);
    }
    if (result >= 0) {
        result =
            csb_syscall(SYS_execve, program->argv[0], program->argv, no_environment);
    }
    program->err = (int)-result;
    (void)csb_syscall(SYS_exit_group, 2);
    __builtin_unreachable();
}

int
csb_janitor_start(struct csb_janitor *janitor, const char *program,
                  const struct csb_policy *policy, struct csb_error *reterr)
{
    char host[24];
    char owner[24];
    char *argv[CSB_JANITOR_ARGUMENTS + 1] = {(char *)(uintptr_t)program, host, owner,
                                             policy->scratch_base, NULL};
    struct program task = {argv, CSB_FD_NONE, policy->cgroup.fd, 0};
    struct csb_exit ended;
    int result;
    (void)snprintf(host, sizeof host, "%d", (int)getpid());
    (void)snprintf(owner, sizeof owner, "%u", policy->root ? policy->uid : 0);
    csb_janitor_init(janitor);
    task.null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    task.null_fd = task.null_fd < 0 ? -errno : csb_fd_raise(task.null_fd);
    result = task.null_fd < 0 ? task.null_fd
                              : csb_spawn_body(execute, &task, &janitor->process);
    csb_fd_close(&task.null_fd);
    if (result == 0 && task.err != 0) {
        (void)csb_process_reap(&janitor->process, REAP_NS, &ended);
        result = -task.err;
    }
    if (result < 0) {
        return csb_fail(reterr, CSB_STEP_EXEC, -result, "start %s: %s", program,
                        strerror(-result));
    }
    janitor->host = getpid();
    return 0;
}

void
csb_janitor_stop(struct csb_janitor *janitor)
{
    struct csb_exit ended;
    if (janitor->process.pidfd >= 0 && janitor->host == getpid()) {
        csb_process_kill(&janitor->process);
        if (!csb_process_reap(&janitor->process, REAP_NS, &ended)) {
            csb_process_abandon(&janitor->process);
        }
    }
    csb_fd_close(&janitor->process.pidfd);
}

void
csb_janitor_leave(struct csb_janitor *janitor)
{
    csb_fd_close(&janitor->process.pidfd);
}
