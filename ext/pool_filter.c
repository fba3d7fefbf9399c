/* Theory of operation: in the keeper of a pool, before the first child that may be branched. Such
 * a child has another filter than the rest, which names no process (syscalls.h): made once,
 * and handed to the zygote with each request for one. */
#include "pool_state.h"

#include "fd.h"
#include "syscall_filter.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int
csb_pool_filter(struct csb_pool *pool, struct csb_error *reterr)
{
    struct csb_bpf filter;
    int result = 0;
    if (pool->filter_fd >= 0) {
        return 0;
    }
    result = csb_seccomp_compile(pool->policy->sets, CSB_FILTER_NARROW_BRANCH, &filter,
                                 reterr);
    if (result < 0) {
        return result;
    }
    pool->filter_fd = csb_fd_raise(memfd_create("csandbox-bpf", MFD_CLOEXEC));
    result = pool->filter_fd < 0
                 ? pool->filter_fd
                 : csb_fd_write_all(pool->filter_fd, (unsigned char *)filter.code,
                                    filter.length * sizeof *filter.code);
    csb_bpf_done(&filter);
    if (result < 0) {
        csb_fd_close(&pool->filter_fd);
        return csb_fail(reterr, CSB_STEP_SECCOMP, -result, "keep a filter: %s",
                        strerror(-result));
    }
    return 0;
}
