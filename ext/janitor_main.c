/* Theory of operation: a program of its own (csandbox/_janitor…), started by janitor.c as the
 * host's user, for one host process and one folder of scratch folders. It waits for the end of the
 * host, however that comes, and then does what the next process that compiles a policy would
 * do: remove what is not locked any more (sweep.c). Trusted; runs nothing of a submission, reads
 * nothing but names. When the host ends as it should, it kills this process instead. */
#include "cgroup.h"
#include "fd.h"
#include "janitor.h"
#include "raw.h"
#include "sweep.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* The host's children die with it, and are taken down by the kernel at leisure: until then a
 * folder may be locked, a control group in use. */
static const long pauses_ms[] = {0, 5, 20, 50, 100, 300, 1000, 3000};

static void
wait_for_the_end_of(pid_t host)
{
    struct pollfd ended = {(int)csb_syscall(SYS_pidfd_open, host, 0), POLLIN, 0};
    if (getppid() != host) {
        return; /* it ended before, and the number may be somebody else's by now */
    }
    while (ended.fd >= 0 && poll(&ended, 1, -1) < 0) {
    }
    csb_fd_close(&ended.fd);
}

int
main(int count, char **arguments)
{
    pid_t host;
    uint32_t owner;
    bool left = true;
    sigset_t none;
    if (count != CSB_JANITOR_ARGUMENTS || chdir("/") != 0) {
        return 2;
    }
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none,
                      NULL); /* all were blocked when it was started */
    host = (pid_t)strtol(arguments[1], NULL, 10);
    owner = (uint32_t)strtoul(arguments[2], NULL, 10);
    wait_for_the_end_of(host);
    for (size_t i = 0; i < CSB_ARRAY_LEN(pauses_ms) && left; i++) {
        const struct timespec pause = {pauses_ms[i] / 1000,
                                       pauses_ms[i] % 1000 * 1000000};
        (void)nanosleep(&pause, NULL);
        left = csb_sweep(arguments[3], owner) > 0;
        left = csb_cgroup_sweep_of(CSB_JANITOR_CGROUP_FD, host) > 0 || left;
    }
    return 0;
}
