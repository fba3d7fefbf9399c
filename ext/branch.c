/* Theory of operation: runs in the caller, in the thread that wants the branch, while no other
 * session of the family runs. The original and the new process are hostile: what either says
 * is no more than a sign to look again. Whatever goes wrong after the clone(2) was let
 * through, a process of the group that is nobody's is looked for and killed. */
#include "branch.h"

#include "branch_fit.h"
#include "clock.h"
#include "fd.h"
#include "folder_copy.h"
#include "handshake.h"
#include "raw.h"
#include "run.h"
#include "zygote_wire.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define ZYGOTE_NS (5 * CSB_NS_PER_S)

enum { REPLY_BYTES = 64 };

struct attempt {
    struct csb_run *run;
    const struct csb_kit *kit;
    const struct csb_policy *policy;
    struct csb_limits limits;
    struct csb_job job;
    struct csb_start start; /* of the branch */
    struct csb_kit branch;
    int zygote_status; /* the zygote's end of the status socket */
    bool lives;
    struct csb_error *reterr;
};

static int
no_branch(const struct attempt *attempt, int err, const char *why)
{
    return csb_fail(attempt->reterr, CSB_STEP_CLONE, err, "%s", why);
}

static void
fill_job(struct attempt *attempt, const struct csb_limits *limits)
{
    static const struct csb_bytes nothing = {NULL, 0};
    const struct csb_policy *policy = attempt->policy;
    attempt->limits = *limits;
    attempt->limits.wall_ns = limits->startup_ns;
    attempt->job = (struct csb_job){.limits = &attempt->limits,
                                    .required = policy->required,
                                    .sets = policy->sets,
                                    .kill_on_violation = policy->kill_on_violation,
                                    .shared_listener = true,
                                    .mode = CSB_MODE_SESSION,
                                    .calls = &nothing,
                                    .call_count = 1,
                                    .call_kind = CSB_FRAME_BRANCH,
                                    .reply_bytes = REPLY_BYTES,
                                    .cancel_fd = CSB_FD_NONE};
}

static int
send_to_zygote(int socket, const struct csb_zygote_branch *order, int fd)
{
    union {
        struct cmsghdr header;
        unsigned char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.bytes = {0}};
    struct iovec vector = {(void *)(uintptr_t)order, sizeof *order};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
    if (fd >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(&control.header), &fd, sizeof(int));
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int
await(int fd, int64_t wait_ns)
{
    struct pollfd readable = {fd, POLLIN, 0};
    const int64_t deadline = csb_clock_now_ns() + wait_ns;
    int result;
    do {
        const int64_t left = deadline - csb_clock_now_ns();
        result = poll(&readable, 1, left > 0 ? (int)(left / CSB_NS_PER_MS) + 1 : 0);
    } while (result < 0 && errno == EINTR);
    return result > 0 ? 0 : result == 0 ? -ETIMEDOUT : -errno;
}

/* From here on the session's process group dies with the zygote. */
static int
prepare_zygote(struct attempt *attempt)
{
    const struct csb_zygote_branch order = {CSB_ZYGOTE_PREPARE, 0};
    struct csb_zygote_forked ready;
    int status[2];
    int result = csb_fd_socketpair(status, attempt->reterr);
    if (result < 0) {
        return result;
    }
    attempt->start.ends.status_fd = status[0];
    result = send_to_zygote(attempt->run->child.ends.status_fd, &order, status[1]);
    csb_fd_close(&status[1]);
    if (result == 0) {
        result = await(status[0], ZYGOTE_NS);
    }
    if (result == 0) {
        result =
            recv(status[0], &ready, sizeof ready, MSG_DONTWAIT) == (ssize_t)sizeof ready
                ? -ready.err
                : -EPIPE;
    }
    return result == 0 ? 0 : no_branch(attempt, -result, "the zygote does not answer");
}

/* The call was let through: the new process makes its first call soon, or there is none. */
static void
await_birth(struct csb_run *run, int64_t wait_ns)
{
    const int64_t deadline = csb_clock_now_ns() + wait_ns;
    while (run->notify.order.state == CSB_ORDER_GRANTED &&
           await(run->notify.listener, deadline - csb_clock_now_ns()) == 0) {
        (void)csb_notify_serve(&run->notify, &run->meter.procfs, csb_clock_now_ns());
    }
}

static int
order_branch(struct attempt *attempt)
{
    struct csb_run *run = attempt->run;
    struct csb_order *order = &run->notify.order;
    struct csb_report report;
    int32_t err = 0;
    *order = (struct csb_order){.state = CSB_ORDER_GIVEN};
    attempt->lives = csb_run_exchange(run, &attempt->job, &report);
    if (report.reply_count > 0 && report.replies[0].count == sizeof err) {
        memcpy(&err, report.replies[0].bytes, sizeof err);
    }
    csb_report_done(&report);
    if (!attempt->lives) {
        return no_branch(attempt, ECHILD, "it ended while it was branched");
    }
    if (order->state == CSB_ORDER_REFUSED) {
        return no_branch(attempt, EBUSY, order->why);
    }
    if (order->state == CSB_ORDER_GRANTED && err == 0) {
        await_birth(run, attempt->limits.startup_ns);
    }
    if (order->state == CSB_ORDER_GIVEN) {
        return no_branch(attempt, EPROTO,
                         err > 0 ? strerror(err)
                                 : "its code did not do what it was told to");
    }
    if (order->state == CSB_ORDER_GRANTED) {
        return no_branch(attempt, err > 0 ? err : ETIMEDOUT,
                         err > 0 ? strerror(err) : "no new process was seen");
    }
    return csb_member_await_stop(attempt->kit->member) == 0
               ? 0
               : no_branch(attempt, ETIMEDOUT, "it does not stop");
}

/* By what the kernel says, while the process waits in its first call: a child of our zygote, in
 * the session's group, one thread, and no descriptor but those that are exchanged now. */
static int
identify(struct attempt *attempt)
{
    const struct csb_notify *notify = &attempt->run->notify;
    const pid_t pid = notify->order.pid;
    struct csb_kin original;
    struct csb_kin found;
    char why[sizeof notify->order.why];
    if (!csb_kin_of(attempt->run->child.process.pid, &original) ||
        !csb_kin_of(pid, &found) || found.parent != original.parent ||
        found.group != csb_member_group(attempt->kit->member)) {
        return no_branch(attempt, EPROTO, "the new process is not where it belongs");
    }
    csb_procfs_open(&attempt->start.procfs, pid);
    if (!notify->order.as_agreed ||
        !csb_branch_fit(&attempt->start.procfs, why, sizeof why) ||
        !csb_branch_alike(&attempt->run->meter.procfs, &attempt->start.procfs) ||
        !csb_notify_waits(notify, notify->order.notification)) {
        return no_branch(attempt, EPROTO, "the new process did not wait to be adopted");
    }
    return 0;
}

/* The zygote is its parent, so that the pidfd is of no other process. */
static int
adopt(struct attempt *attempt)
{
    const struct csb_zygote_branch order = {CSB_ZYGOTE_ADOPT,
                                            attempt->run->notify.order.pid};
    const int status = attempt->start.ends.status_fd;
    int result = send_to_zygote(status, &order, CSB_FD_NONE);
    if (result == 0) {
        result = await(status, ZYGOTE_NS);
    }
    if (result == 0) {
        result = csb_handshake_forked(status, &attempt->start.process);
        result = result == 1 ? 0 : result == 0 ? -EPIPE : result;
    }
    if (result == 0) {
        csb_member_is(attempt->branch.member, attempt->start.process.pid);
    }
    return result == 0
               ? 0
               : no_branch(attempt, -result, "the zygote can not adopt a branch");
}

/* It was born in the original's control group. */
static int
give_group(struct attempt *attempt)
{
    const struct csb_policy *policy = attempt->policy;
    const uint32_t bit = CSB_FEATURE_BIT(CSB_FEATURE_CGROUP);
    const pid_t pid = attempt->start.process.pid;
    struct csb_leaf *leaf = &attempt->branch.leaf;
    int result =
        csb_kit_make_leaf(&attempt->branch, policy, &attempt->limits, attempt->reterr);
    if (result == 0 && leaf->procs_fd >= 0 && csb_leaf_take(leaf, pid) == 0 &&
        csb_leaf_holds(leaf, pid)) {
        attempt->job.seen = bit;
    } else if (result == 0 && (attempt->run->confirmed & bit) != 0) {
        result = no_branch(attempt, EIO, "it can not have a control group of its own");
    }
    return result;
}

static int
give_folder(struct attempt *attempt)
{
    const struct csb_kit *kit = attempt->kit;
    const struct csb_copy_bounds bounds = {
        .bytes = attempt->limits.disk_bytes + kit->given_bytes,
        .entries = attempt->limits.files + (uint32_t)kit->given,
        .owner = kit->scratch.owner};
    int result = csb_folder_copy(kit->scratch.fd, attempt->branch.scratch.fd, &bounds,
                                 attempt->reterr);
    return result == 0 ? csb_family_swap(attempt->branch.member, attempt->reterr)
                       : result;
}

/* In place of those that it has inherited: they are closed by that. */
static int
give_descriptors(struct attempt *attempt)
{
    const struct csb_notify *notify = &attempt->run->notify;
    for (unsigned i = 0; i < CSB_KIT_FDS; i++) {
        struct seccomp_notif_addfd given = {.id = notify->order.notification,
                                            .flags = SECCOMP_ADDFD_FLAG_SETFD,
                                            .srcfd =
                                                (uint32_t)attempt->branch.child_fds[i],
                                            .newfd = i};
        if (ioctl(notify->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &given) < 0) {
            return no_branch(attempt, errno, "the branch can not be given its pipes");
        }
    }
    csb_kit_close_child_fds(&attempt->branch);
    return 0;
}

static int
try_branch(struct attempt *attempt, struct csb_run **ret)
{
    int result = prepare_zygote(attempt);
    if (result == 0) {
        result = order_branch(attempt);
    }
    if (result == 0) {
        result = identify(attempt);
    }
    if (result == 0) {
        result = adopt(attempt);
    }
    if (result == 0) {
        result = give_group(attempt);
    }
    if (result == 0) {
        result = give_folder(attempt);
    }
    if (result == 0) {
        result = give_descriptors(attempt);
    }
    if (result == 0) {
        attempt->job.call_count = 0;
        result = csb_run_branched(attempt->run, &attempt->start, &attempt->job, ret,
                                  attempt->reterr);
    }
    return result;
}

/* An original that was killed is gone for the zygote, too, which then has no word for it. */
static bool
has_ended(const struct csb_run *run)
{
    struct pollfd ended = {run->child.process.pidfd, POLLIN, 0};
    return poll(&ended, 1, 0) == 1;
}

int
csb_branch(struct csb_run *run, const struct csb_kit *kit,
           const struct csb_policy *policy, const struct csb_limits *limits,
           struct csb_run **ret, struct csb_kit *ret_kit, bool *ret_lives,
           struct csb_error *reterr)
{
    struct attempt attempt = {
        .run = run, .kit = kit, .policy = policy, .lives = true, .reterr = reterr};
    struct csb_order *order = &run->notify.order;
    int result;
    *ret = NULL;
    *ret_lives = true;
    csb_start_init(&attempt.start);
    csb_kit_init(&attempt.branch);
    if (kit->member == NULL || run->notify.listener < 0) {
        return no_branch(&attempt, EOPNOTSUPP,
                         "this kernel has no Landlock or no seccomp user notification");
    }
    fill_job(&attempt, limits);
    result =
        csb_kit_make_branch(&attempt.branch, kit, policy, &attempt.start.ends, reterr);
    if (result == 0) {
        result = try_branch(&attempt, ret);
    }
    if (result < 0 && attempt.lives && has_ended(run)) {
        result = order_branch(&attempt); /* which hears how it ended, and says so */
    }
    *ret_lives = attempt.lives;
    if (result < 0) {
        csb_start_discard(&attempt.start);
        if (order->state >= CSB_ORDER_GRANTED) {
            csb_family_hunt(kit->member);
        }
        csb_kit_done(&attempt.branch, UINT32_MAX);
    } else {
        csb_kit_move(ret_kit, &attempt.branch);
    }
    order->state = CSB_ORDER_NONE;
    return result;
}
