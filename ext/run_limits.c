/* Theory of operation: runs in the caller; turns the numbers of a run into what setrlimit
 * takes. These limits are backstops: CPU, wall time, memory and output are also measured
 * from outside. Hard equals soft, so the child can only lower them.
 *
 * RLIMIT_DATA counts private writable memory (mmap included, since Linux 4.7), so a large
 * reservation does not trip it as RLIMIT_AS would (numpy reserves 200 MB and uses 20).
 * RLIMIT_NPROC is absent on purpose: outside a user namespace it counts every process of
 * the uid, the caller's own included; threads are counted by the supervisor instead. */
#include "run_limits.h"

#include <sys/resource.h>

#include "clock.h"

/* CPU seconds on top of the limit before the kernel itself kills: the start-up and the
 * rounding of RLIMIT_CPU, which only knows whole seconds. */
enum { CPU_BACKSTOP_S = 3, PENDING_SIGNALS = 64 };

static uint64_t
may_set(int resource, uint64_t wanted)
{
    struct rlimit current;
    if (getrlimit((__rlimit_resource_t)resource, &current) == 0 &&
        current.rlim_max != RLIM_INFINITY && (uint64_t)current.rlim_max < wanted) {
        return (uint64_t)current.rlim_max;
    }
    return wanted;
}

size_t
csb_limits_to_rlimits(const struct csb_limits *limits, struct csb_rlimit *ret)
{
    const struct csb_rlimit wanted[] = {
        {RLIMIT_CPU, (uint64_t)((limits->cpu_ns + CSB_NS_PER_S - 1) / CSB_NS_PER_S) +
                         CPU_BACKSTOP_S},
        {RLIMIT_DATA, limits->memory_bytes},
        {RLIMIT_FSIZE, limits->file_bytes},
        {RLIMIT_NOFILE, limits->open_files},
        {RLIMIT_STACK, limits->stack_bytes},
        {RLIMIT_CORE, 0},
        {RLIMIT_MEMLOCK, 0},
        {RLIMIT_MSGQUEUE, 0},
        {RLIMIT_NICE, 0},
        {RLIMIT_RTPRIO, 0},
        {RLIMIT_SIGPENDING, PENDING_SIGNALS},
    };
    size_t count = CSB_ARRAY_LEN(wanted);
    for (size_t i = 0; i < count; i++) {
        ret[i].resource = wanted[i].resource;
        ret[i].value = may_set(wanted[i].resource, wanted[i].value);
    }
    return count;
}

size_t
csb_rlimits_take(struct csb_rlimit *rlimits, size_t count, int resource,
                 struct csb_rlimit *ret)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (rlimits[i].resource == resource) {
            *ret = rlimits[i];
        } else {
            rlimits[kept++] = rlimits[i];
        }
    }
    return kept;
}
