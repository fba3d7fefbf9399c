/* Theory of operation: runs in a zygote, which has read no byte of a submission and believes
 * nobody but the caller. A branch is a child of the zygote (CLONE_PARENT), so its number can not
 * be another process's before the zygote has reaped it. */
#include "child_nursery.h"

#include "raw.h"
#include "zygote_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* How children ended that nobody has claimed yet; the oldest is forgotten. */
struct csb_lost {
    struct {
        pid_t pid;
        struct csb_zygote_ended ended;
    } items[CSB_BRANCHES_MAX];
    size_t next;
};

int
csb_nursery_open(struct csb_nursery *nursery)
{
    sigset_t wanted;
    (void)sigemptyset(&wanted);
    (void)sigaddset(&wanted, SIGCHLD);
    if (sigprocmask(SIG_BLOCK, &wanted, NULL) != 0) {
        return -1;
    }
    nursery->signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    return nursery->signals < 0 ? -1 : 0;
}

int
csb_nursery_wait(struct csb_nursery *nursery, int requests)
{
    struct pollfd *polls = nursery->polls;
    size_t count = CSB_NURSERY_POLLS;
    polls[CSB_NURSERY_SIGNALS] = (struct pollfd){nursery->signals, POLLIN, 0};
    polls[CSB_NURSERY_REQUESTS] =
        (struct pollfd){nursery->closing ? -1 : requests, POLLIN, 0};
    for (size_t i = 0; i < nursery->expected_count; i++) {
        polls[count++] = (struct pollfd){nursery->expected[i].status_fd, POLLIN, 0};
    }
    for (size_t i = 0; nursery->branchable > 0 && i < nursery->used; i++) {
        if (nursery->infants[i].branchable) {
            polls[count++] = (struct pollfd){nursery->infants[i].status_fd, POLLIN, 0};
        }
    }
    nursery->poll_count = count;
    return poll(polls, count, -1);
}

static void
tell(int status_fd, const void *record, size_t size, int fd)
{
    union {
        struct cmsghdr header;
        unsigned char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.bytes = {0}};
    struct iovec vector = {(void *)(uintptr_t)record, size};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
    if (fd >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(&control.header), &fd, sizeof(int));
    }
    /* A caller that no longer listens has killed this child. */
    (void)sendmsg(status_fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* The guard of a family goes to another member, or with the last one. */
static void
hand_on_guard(struct csb_nursery *nursery, const struct csb_infant *gone)
{
    for (size_t i = 0; i < nursery->used; i++) {
        struct csb_infant *other = &nursery->infants[i];
        if (other->pid != 0 && other != gone && other->family == gone->family) {
            memcpy(other->guard, gone->guard, sizeof other->guard);
            return;
        }
    }
    (void)close(gone->guard[0]);
    (void)close(gone->guard[1]);
}

static void
bury(struct csb_nursery *nursery, struct csb_infant *infant,
     const struct csb_zygote_ended *ended)
{
    tell(infant->status_fd, ended, sizeof *ended, -1);
    (void)close(infant->status_fd);
    if (infant->guard[0] > 0) {
        hand_on_guard(nursery, infant);
    }
    nursery->branchable -= infant->branchable;
    nursery->alive--;
    *infant = (struct csb_infant){.status_fd = -1};
    while (nursery->used > 0 && nursery->infants[nursery->used - 1].pid == 0) {
        nursery->used--;
    }
}

/* A branch may end before its caller has claimed it. */
static void
keep_lost(struct csb_nursery *nursery, pid_t pid, const struct csb_zygote_ended *ended)
{
    struct csb_lost *lost = nursery->lost;
    if (lost == NULL) {
        lost = nursery->lost = calloc(1, sizeof *lost);
    }
    if (lost != NULL) {
        lost->items[lost->next % CSB_BRANCHES_MAX].pid = pid;
        lost->items[lost->next % CSB_BRANCHES_MAX].ended = *ended;
        lost->next++;
    }
}

static struct csb_infant *
find(struct csb_nursery *nursery, pid_t pid)
{
    for (size_t i = 0; i < nursery->used; i++) {
        if (nursery->infants[i].pid == pid) {
            return &nursery->infants[i];
        }
    }
    return NULL;
}

static void
reap(struct csb_nursery *nursery)
{
    struct signalfd_siginfo info;
    struct csb_zygote_ended ended;
    int status;
    pid_t pid;
    while (read(nursery->signals, &info, sizeof info) > 0) {
    }
    memset(&ended, 0, sizeof ended);
    while ((pid = wait4(-1, &status, WNOHANG, &ended.usage)) > 0) {
        struct csb_infant *infant = find(nursery, pid);
        ended.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        ended.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        if (infant != NULL) {
            bury(nursery, infant, &ended);
        } else {
            keep_lost(nursery, pid, &ended);
        }
    }
}

static struct csb_infant *
room_for(struct csb_nursery *nursery)
{
    for (size_t i = 0; i < CSB_CHILDREN_MAX; i++) {
        if (nursery->infants[i].pid == 0) {
            nursery->used = i < nursery->used ? nursery->used : i + 1;
            return &nursery->infants[i];
        }
    }
    return NULL;
}

void
csb_nursery_add(struct csb_nursery *nursery, pid_t pid, int status_fd, bool branchable)
{
    struct csb_zygote_forked forked = {.pid = pid, .err = pid < 0 ? errno : 0};
    int pidfd = pid < 0 ? -1 : (int)csb_syscall(SYS_pidfd_open, pid, 0);
    struct csb_infant *infant = pidfd < 0 ? NULL : room_for(nursery);
    if (infant != NULL) {
        *infant = (struct csb_infant){
            .pid = pid, .status_fd = status_fd, .branchable = branchable};
        nursery->alive++;
        nursery->branchable += branchable;
        tell(status_fd, &forked, sizeof forked, pidfd);
        (void)close(pidfd);
        return;
    }
    if (pid > 0) {
        /* or more children than anybody wants */
        forked.err = pidfd < 0 ? -pidfd : EAGAIN;
        (void)kill(pid, SIGKILL);
    }
    tell(status_fd, &forked, sizeof forked, -1);
    (void)close(status_fd);
    if (pidfd >= 0) {
        (void)close(pidfd);
    }
}

/* 0 or an errno. */
static int
guard(struct csb_infant *infant)
{
    int pair[2];
    if (infant->family != 0) {
        return 0;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        return errno;
    }
    for (int i = 0; i < 2; i++) {
        /* The first member is the leader of its group. */
        if (fcntl(pair[i], F_SETOWN, -infant->pid) != 0 ||
            fcntl(pair[i], F_SETSIG, SIGKILL) != 0 ||
            fcntl(pair[i], F_SETFL, O_RDWR | O_ASYNC) != 0) {
            const int err = errno;
            (void)close(pair[0]);
            (void)close(pair[1]);
            return err;
        }
    }
    infant->family = infant->pid;
    memcpy(infant->guard, pair, sizeof pair);
    return 0;
}

static void
prepare(struct csb_nursery *nursery, struct csb_infant *infant, int status_fd)
{
    const size_t place = nursery->expected_count;
    const int err = place < CSB_BRANCHES_MAX ? guard(infant) : EAGAIN;
    const struct csb_zygote_forked ready = {.pid = 0, .err = err};
    tell(status_fd, &ready, sizeof ready, -1);
    if (err != 0 || place >= CSB_BRANCHES_MAX) {
        (void)close(status_fd);
        return;
    }
    nursery->expected[place] = (struct csb_expected){status_fd, infant->family};
    nursery->expected_count = place + 1;
}

/* The caller of a session speaks, or has closed its end. */
static void
hear_session(struct csb_nursery *nursery, struct csb_infant *infant)
{
    struct csb_zygote_branch order;
    union {
        struct cmsghdr header;
        unsigned char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec vector = {&order, sizeof order};
    struct msghdr message = {.msg_iov = &vector,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    ssize_t count =
        recvmsg(infant->status_fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    struct cmsghdr *header = count <= 0 ? NULL : CMSG_FIRSTHDR(&message);
    int fd;
    if (count == (ssize_t)sizeof order && header != NULL &&
        header->cmsg_type == SCM_RIGHTS && header->cmsg_len == CMSG_LEN(sizeof(int)) &&
        order.kind == CSB_ZYGOTE_PREPARE) {
        memcpy(&fd, CMSG_DATA(header), sizeof fd);
        prepare(nursery, infant, fd);
    } else if (count >= 0 || errno != EAGAIN) {
        infant->branchable = false; /* closed: its end is told to nobody */
        nursery->branchable--;
    }
}

static bool
tell_if_lost(struct csb_nursery *nursery, pid_t pid, int status_fd)
{
    for (size_t i = 0; nursery->lost != NULL && i < CSB_BRANCHES_MAX; i++) {
        if (nursery->lost->items[i].pid == pid) {
            const struct csb_zygote_forked gone = {.pid = pid, .err = ESRCH};
            nursery->lost->items[i].pid = 0;
            tell(status_fd, &gone, sizeof gone, -1);
            return true;
        }
    }
    return false;
}

static void
adopt(struct csb_nursery *nursery, const struct csb_expected *expected, pid_t pid)
{
    const struct csb_zygote_forked refused = {.pid = pid, .err = ESRCH};
    struct csb_infant *infant;
    if (pid <= 0 || tell_if_lost(nursery, pid, expected->status_fd)) {
        (void)close(expected->status_fd);
        return;
    }
    if (getpgid(pid) != expected->family || find(nursery, pid) != NULL) {
        tell(expected->status_fd, &refused, sizeof refused, -1);
        (void)close(expected->status_fd);
        return;
    }
    csb_nursery_add(nursery, pid, expected->status_fd, true);
    infant = find(nursery, pid);
    if (infant != NULL) {
        infant->family = expected->family;
    }
}

static void
hear_expected(struct csb_nursery *nursery, size_t place)
{
    const struct csb_expected expected = nursery->expected[place];
    struct csb_zygote_branch order;
    ssize_t count = recv(expected.status_fd, &order, sizeof order, MSG_DONTWAIT);
    if (count < 0 && errno == EAGAIN) {
        return;
    }
    nursery->expected[place] = nursery->expected[--nursery->expected_count];
    if (count == (ssize_t)sizeof order && order.kind == CSB_ZYGOTE_ADOPT) {
        adopt(nursery, &expected, order.pid);
    } else {
        (void)close(expected.status_fd); /* the caller has given it up */
    }
}

void
csb_nursery_serve(struct csb_nursery *nursery)
{
    for (size_t i = CSB_NURSERY_POLLS; i < nursery->poll_count; i++) {
        const struct pollfd *ready = &nursery->polls[i];
        for (size_t k = 0; ready->revents != 0 && k < nursery->expected_count; k++) {
            if (nursery->expected[k].status_fd == ready->fd) {
                hear_expected(nursery, k);
                break;
            }
        }
        for (size_t k = 0; ready->revents != 0 && k < nursery->used; k++) {
            struct csb_infant *infant = &nursery->infants[k];
            if (infant->branchable && infant->status_fd == ready->fd) {
                hear_session(nursery, infant);
                break;
            }
        }
    }
    if (nursery->polls[CSB_NURSERY_SIGNALS].revents != 0) {
        reap(nursery);
    }
}
