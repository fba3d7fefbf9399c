/* Preloaded into an interpreter by tests/kernel/test_child_faults.py: the n-th call of one function
 * fails. "syscall" is what all of our own code between start and submission goes through. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

static unsigned long seen;

static int
strike(const char *name)
{
    const char *target = getenv("CSB_FAULT");
    const char *number = getenv("CSB_FAULT_N");
    if (target == NULL || number == NULL || strcmp(target, name) != 0 ||
        ++seen != strtoul(number, NULL, 10)) {
        return 0;
    }
    errno = ENOMEM;
    return 1;
}

long
syscall(long number, ...)
{
    static long (*real)(long, long, long, long, long, long, long);
    va_list list;
    long a[6];
    va_start(list, number);
    for (int i = 0; i < 6; i++) {
        a[i] = va_arg(list, long);
    }
    va_end(list);
    if (real == NULL) {
        real = (long (*)(long, long, long, long, long, long, long))dlsym(RTLD_NEXT,
                                                                         "syscall");
    }
    return strike("syscall") ? -1 : real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

pid_t
fork(void)
{
    static pid_t (*real)(void);
    if (real == NULL) {
        real = (pid_t (*)(void))dlsym(RTLD_NEXT, "fork");
    }
    return strike("fork") ? -1 : real();
}

ssize_t
recvmsg(int fd, struct msghdr *message, int flags)
{
    static ssize_t (*real)(int, struct msghdr *, int);
    if (real == NULL) {
        real = (ssize_t (*)(int, struct msghdr *, int))dlsym(RTLD_NEXT, "recvmsg");
    }
    return strike("recvmsg") ? -1 : real(fd, message, flags);
}

ssize_t
sendmsg(int fd, const struct msghdr *message, int flags)
{
    static ssize_t (*real)(int, const struct msghdr *, int);
    if (real == NULL) {
        real =
            (ssize_t (*)(int, const struct msghdr *, int))dlsym(RTLD_NEXT, "sendmsg");
    }
    return strike("sendmsg") ? -1 : real(fd, message, flags);
}
