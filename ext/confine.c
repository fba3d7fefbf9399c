/* Theory of operation: the body of every child, ours until exec or until untrusted code.
 * csb_confine_early runs in a vfork-like child, in memory that is the caller's: raw system
 * calls only, nothing written but the failure record. The others run in the started
 * interpreter, csb_confine_forked in one that a zygote has forked. Trusts the plan; never continues after a failed step. Allocation
 * and stdio are poisoned below, so that adding one is a compile error. */
#include "confine.h"

#include "raw.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/securebits.h>
#include <signal.h>
#include <sys/resource.h>

#pragma GCC poison malloc calloc realloc free printf fprintf snprintf strerror

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif
#ifndef SECCOMP_FILTER_FLAG_NEW_LISTENER
#define SECCOMP_FILTER_FLAG_NEW_LISTENER (1UL << 3)
#endif

enum { LAST_SIGNAL = 64, KERNEL_SIGSET_BYTES = 8, LAST_CAPABILITY = 63 };

#define STEP(step_name, call)                                                          \
    do {                                                                               \
        long step_result = (call);                                                     \
        if (step_result < 0) {                                                         \
            ret->step = (step_name);                                                   \
            ret->err = (int)-step_result;                                              \
            return (int)step_result;                                                   \
        }                                                                              \
    } while (0)

static bool
wanted(uint32_t skipped, enum csb_feature feature)
{
    return (skipped & CSB_FEATURE_BIT(feature)) == 0;
}

/* The caller's handlers would run in shared memory: every disposition back to default
 * while all signals are still blocked, then unblock. */
static long
unblock_signals(void)
{
    uint64_t none = 0;
    return csb_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, 0, KERNEL_SIGSET_BYTES);
}

static long
reset_signals(void)
{
    struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        uint64_t mask;
    } action = {SIG_DFL, 0, NULL, 0};
    for (int signal = 1; signal <= LAST_SIGNAL; signal++) {
        if (signal != SIGKILL && signal != SIGSTOP) {
            /* EINVAL for the two that libc keeps is harmless */
            (void)csb_syscall(SYS_rt_sigaction, signal, &action, 0,
                              KERNEL_SIGSET_BYTES);
        }
    }
    return unblock_signals();
}

/* Own session (no controlling terminal to inject into), dead when the caller dies. The
 * caller may have died before the signal was armed: then our parent is somebody else. */
static long
own_session(const struct csb_plan *plan)
{
    long result = csb_syscall(SYS_setsid);
    if (result < 0) {
        return result;
    }
    result = csb_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (result == 0 && csb_syscall(SYS_getppid) != plan->caller) {
        return -ESRCH;
    }
    return result;
}

static long
place_fds(const struct csb_plan *plan)
{
    const int sources[] = {plan->stdin_fd, plan->stdout_fd, plan->stderr_fd,
                           plan->channel_fd};
    for (int target = 0; target < (int)CSB_ARRAY_LEN(sources); target++) {
        long result = csb_syscall(SYS_dup3, sources[target], target, 0);
        if (result < 0) {
            return result;
        }
    }
    return 0;
}

static long
set_rlimits(const struct csb_rlimit *rlimits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct csb_rlimit *limit = &rlimits[i];
        const uint64_t pair[2] = {limit->value, limit->value};
        long result = csb_syscall(SYS_prlimit64, 0, limit->resource, pair, 0);
        if (result < 0) {
            return result;
        }
    }
    return 0;
}

static bool
is_for_the_drop(long capability)
{
    return capability == CAP_SETUID || capability == CAP_SETGID ||
           capability == CAP_SETPCAP;
}

/* Root keeps what the final drop needs, nothing else. Without CAP_SETPCAP the bounding set
 * can not be changed; no_new_privs then still keeps exec from giving anything back. */
static void
shrink_bounding_set(bool everything)
{
    for (long capability = 0; capability <= LAST_CAPABILITY; capability++) {
        long there;
        if (!everything && is_for_the_drop(capability)) {
            continue;
        }
        /* A drop costs the kernel a set of credentials; to ask costs next to nothing. Any of them
         * may have been gone before us: one tells nothing of the others. */
        there = csb_syscall(SYS_prctl, PR_CAPBSET_READ, capability, 0, 0, 0);
        if (there < 0) {
            return; /* beyond the last capability of this kernel */
        }
        if (there > 0) {
            (void)csb_syscall(SYS_prctl, PR_CAPBSET_DROP, capability, 0, 0, 0);
        }
    }
}

/* The short layer first: the kernel copies what was entered before into each that follows. */
static long
enter_landlock(const struct csb_plan *plan)
{
    for (size_t i = CSB_LANDLOCK_LAYERS; i-- > 0;) {
        if (plan->landlock_fds[i] >= 0) {
            long result =
                csb_syscall(SYS_landlock_restrict_self, plan->landlock_fds[i], 0);
            if (result < 0) {
                return result;
            }
        }
    }
    return 0;
}

/* Joining the user namespace gives every right inside it and none outside; the others need
 * such rights, so it comes first. clone(2) flags could not join the shared ones. */
int
csb_confine_namespaces(const struct csb_namespaces *namespaces, struct csb_failure *ret)
{
    static const char name[] = "csandbox";
    if (namespaces->user_fd < 0) {
        return 0;
    }
    STEP(CSB_STEP_NAMESPACES,
         csb_syscall(SYS_setns, namespaces->user_fd, CLONE_NEWUSER));
    STEP(CSB_STEP_NAMESPACES, csb_syscall(SYS_setns, namespaces->net_fd, CLONE_NEWNET));
    STEP(CSB_STEP_NAMESPACES,
         csb_syscall(SYS_unshare, CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP));
    /* the host's name is the host's affair */
    STEP(CSB_STEP_NAMESPACES, csb_syscall(SYS_sethostname, name, sizeof name - 1));
    STEP(CSB_STEP_NAMESPACES, csb_syscall(SYS_setdomainname, "", 0));
    return 0;
}

int
csb_confine_early(const struct csb_plan *plan, struct csb_failure *ret)
{
    const struct sock_fprog filter = {plan->wide_filter.length, plan->wide_filter.code};
    const uint32_t skipped = plan->skipped;

    STEP(CSB_STEP_SESSION, reset_signals());
    /* First, so that everything counts and the cgroup namespace begins here. Whether it worked
     * is looked at from outside, where the kernel lists who is in it. */
    if (plan->cgroup_fd >= 0 && wanted(skipped, CSB_FEATURE_CGROUP)) {
        (void)csb_syscall(SYS_write, plan->cgroup_fd, "0", 1);
    }
    /* Before the parent-death signal, which a change of rights would clear. */
    if (wanted(skipped, CSB_FEATURE_NAMESPACES) &&
        csb_confine_namespaces(&plan->namespaces, ret) < 0 &&
        plan->namespaces.required) {
        return -ret->err;
    }
    if (wanted(skipped, CSB_FEATURE_SESSION)) {
        STEP(CSB_STEP_SESSION, own_session(plan));
    }
    STEP(CSB_STEP_FDS, place_fds(plan));
    STEP(CSB_STEP_CHDIR, csb_syscall(SYS_chdir, plan->directory));
    STEP(CSB_STEP_CHDIR, csb_syscall(SYS_umask, 077));
    if (wanted(skipped, CSB_FEATURE_RLIMITS)) {
        STEP(CSB_STEP_RLIMIT, set_rlimits(plan->rlimits, plan->rlimit_count));
    }
    if (wanted(skipped, CSB_FEATURE_NO_NEW_PRIVS)) {
        STEP(CSB_STEP_NO_NEW_PRIVS,
             csb_syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    }
    if (plan->root && wanted(skipped, CSB_FEATURE_PRIVILEGES)) {
        shrink_bounding_set(false);
    }
    STEP(CSB_STEP_LANDLOCK, enter_landlock(plan));
    if (wanted(skipped, CSB_FEATURE_FDS)) {
        STEP(CSB_STEP_FDS, csb_syscall(SYS_close_range, CSB_CHANNEL_FD + 1, ~0U, 0));
    }
    /* A zygote has no filter of its own: it forks. */
    if (wanted(skipped, CSB_FEATURE_SECCOMP) && filter.len > 0) {
        STEP(CSB_STEP_SECCOMP,
             csb_syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter));
    }
    return 0;
}

int
csb_confine_forked(const struct csb_plan *plan, int directory_fd,
                   struct csb_failure *ret)
{
    const uint32_t skipped = plan->skipped;

    /* Dispositions are the interpreter's own, as in a fresh one: it was exec'ed. */
    STEP(CSB_STEP_SESSION, unblock_signals());
    if (wanted(skipped, CSB_FEATURE_SESSION)) {
        STEP(CSB_STEP_SESSION, own_session(plan));
    }
    STEP(CSB_STEP_FDS, place_fds(plan));
    STEP(CSB_STEP_CHDIR, csb_syscall(SYS_fchdir, directory_fd));
    STEP(CSB_STEP_LANDLOCK, enter_landlock(plan));
    if (wanted(skipped, CSB_FEATURE_FDS)) {
        STEP(CSB_STEP_FDS, csb_syscall(SYS_close_range, CSB_CHANNEL_FD + 1, ~0U, 0));
    }
    return 0;
}

int
csb_confine_rlimits(const struct csb_rlimit *rlimits, size_t count,
                    struct csb_failure *ret)
{
    STEP(CSB_STEP_RLIMIT, set_rlimits(rlimits, count));
    return 0;
}

/* Real, effective, saved and file-system ids, groups first: afterwards nothing is left
 * that could change them. Raw calls act on this thread, the only one. */
static long
become(uint32_t uid)
{
    long result = csb_syscall(SYS_setgroups, 0, 0);
    if (result == 0) {
        result = csb_syscall(SYS_setresgid, uid, uid, uid);
    }
    if (result == 0) {
        result = csb_syscall(SYS_setresuid, uid, uid, uid);
    }
    return result;
}

static long
drop_capabilities(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    /* EINVAL before Linux 4.3, which has no ambient set to clear */
    (void)csb_syscall(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    return csb_syscall(SYS_capset, &header, none);
}

int
csb_confine_drop(uint32_t uid, uint32_t skipped, struct csb_failure *ret)
{
    if (wanted(skipped, CSB_FEATURE_PRIVILEGES)) {
        shrink_bounding_set(true);
        if (uid != 0) {
            STEP(CSB_STEP_PRIVILEGES, become(uid));
        }
        STEP(CSB_STEP_PRIVILEGES, drop_capabilities());
    }
    if (wanted(skipped, CSB_FEATURE_SESSION)) {
        STEP(CSB_STEP_SESSION,
             csb_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0));
    }
    /* No core dump, and /proc/PID closed to others of the same uid. */
    STEP(CSB_STEP_PRIVILEGES, csb_syscall(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0));
    if (wanted(skipped, CSB_FEATURE_MDWE)) {
        /* EINVAL before Linux 6.3; what came of it is asked for by child_confirm.c */
        (void)csb_syscall(SYS_prctl, PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0);
    }
    return 0;
}

int
csb_confine_filter(const struct csb_bpf *narrow, bool notify, uint32_t skipped,
                   int *ret_listener, struct csb_failure *ret)
{
    const struct sock_fprog filter = {narrow->length, narrow->code};
    const unsigned long flags = notify ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;
    long result;
    *ret_listener = -1;
    if (!wanted(skipped, CSB_FEATURE_SECCOMP)) {
        return 0;
    }
    result = csb_syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
    STEP(CSB_STEP_SECCOMP, result);
    if (notify) {
        *ret_listener = (int)result;
    }
    return 0;
}

int
csb_confine_last(uint32_t skipped, struct csb_failure *ret)
{
    /* The architecture was looked at by the narrow filter, which denies all others. */
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendmsg, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {CSB_ARRAY_LEN(code), code};
    if (wanted(skipped, CSB_FEATURE_SECCOMP)) {
        STEP(CSB_STEP_SECCOMP,
             csb_syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter));
    }
    return 0;
}
