/* Theory of operation: in the caller. The thread belongs to the library, so it must not be one
 * that the kernel hands a signal of the host to. It ends with the process. */
#include "detached.h"

#include <pthread.h>
#include <signal.h>

enum { STACK_BYTES = 256 * 1024 /* there may be some at a time; none goes deep */ };

int
csb_detached_start(void *(*body)(void *), void *argument)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all;
    sigset_t before;
    int err = pthread_attr_init(&attributes);
    if (err != 0) {
        return -err;
    }
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    err = pthread_create(&thread, &attributes, body, argument);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    return -err;
}
