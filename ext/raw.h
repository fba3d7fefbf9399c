/* System calls without libc's conveniences: -errno as the result, nothing else touched.
 *
 * For code that runs between clone and exec (where the memory is the caller's) and in the
 * child before untrusted code, where a wrapper might allocate, take a lock or broadcast to
 * other threads (glibc's setresuid does). Any process, no GIL. */
#ifndef CSB_RAW_H
#define CSB_RAW_H

#include "csb.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CSB_RAW_1(number) csb_raw((number), 0, 0, 0, 0, 0)
#define CSB_RAW_2(number, a) csb_raw((number), (long)(a), 0, 0, 0, 0)
#define CSB_RAW_3(number, a, b) csb_raw((number), (long)(a), (long)(b), 0, 0, 0)
#define CSB_RAW_4(number, a, b, c)                                                     \
    csb_raw((number), (long)(a), (long)(b), (long)(c), 0, 0)
#define CSB_RAW_5(number, a, b, c, d)                                                  \
    csb_raw((number), (long)(a), (long)(b), (long)(c), (long)(d), 0)
#define CSB_RAW_6(number, a, b, c, d, e)                                               \
    csb_raw((number), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e))
#define CSB_RAW_PICK(_1, _2, _3, _4, _5, _6, name, ...) name

/* csb_syscall(SYS_x, up to five arguments) */
#define csb_syscall(...)                                                               \
    CSB_RAW_PICK(__VA_ARGS__, CSB_RAW_6, CSB_RAW_5, CSB_RAW_4, CSB_RAW_3, CSB_RAW_2,   \
                 CSB_RAW_1, )(__VA_ARGS__)

static inline long
csb_raw(long number, long a, long b, long c, long d, long e)
{
    long result = syscall(number, a, b, c, d, e);
    return result < 0 ? -errno : result;
}

#endif
