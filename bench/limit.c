/* What this machine can do at best, for bench/limit.py: for each line on stdin one line with
 * the nanoseconds of a round trip through two pipes to a waiting process, and of a fork, an
 * exit and the wait for it, both in C in a process of next to no memory. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long
now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void
must(int done)
{
    if (!done) {
        perror("limit");
        exit(1);
    }
}

static void
echo(int from, int to)
{
    char byte;
    while (read(from, &byte, 1) == 1) {
        must(write(to, &byte, 1) == 1);
    }
    _exit(0);
}

static long long
round_trip_ns(int to, int from)
{
    char byte = 0;
    const long long begun = now_ns();
    must(write(to, &byte, 1) == 1 && read(from, &byte, 1) == 1);
    return now_ns() - begun;
}

static long long
fork_exit_ns(void)
{
    const long long begun = now_ns();
    const pid_t pid = fork();
    must(pid >= 0);
    if (pid == 0) {
        _exit(0);
    }
    must(waitpid(pid, NULL, 0) == pid);
    return now_ns() - begun;
}

int
main(void)
{
    char line[64];
    int there[2];
    int back[2];
    must(pipe(there) == 0 && pipe(back) == 0);
    switch (fork()) {
    case -1:
        must(0);
        break;
    case 0:
        must(close(there[1]) == 0 && close(0) == 0);
        echo(there[0], back[1]);
        break;
    default:
        break;
    }
    while (fgets(line, sizeof line, stdin) != NULL) {
        const long long trip = round_trip_ns(there[1], back[0]);
        const long long child = fork_exit_ns();
        must(printf("%lld %lld\n", trip, child) > 0 && fflush(stdout) == 0);
    }
    return 0;
}
