/* Theory of operation: runs in a zygote: an interpreter that has everything but a submission.
 * It imports what the profile names, runs one program of ours so that nothing is done for the
 * first time later, and then forks a confined child for each request. It has one thread
 * whenever it forks (a package that starts others is refused), reads no byte of a submission
 * and reaps what it forked. It ends when the caller closes the control socket and the last
 * child is gone, or with the caller's thread (PR_SET_PDEATHSIG). */
#include "child_confirm.h"
#include "child_nursery.h"
#include "child_script.h"
#include "child_warm.h"
#include "confine.h"
#include "fd.h"
#include "raw.h"
#include "zygote_wire.h"

#include <errno.h>
#include <linux/prctl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Import one module; one that is not installed is passed over. unshare(2) with CLONE_VM has
 * no effect in a process of one thread and fails with EINVAL where there are others. */
static int
preload(const char *name)
{
    PyObject *module = PyImport_ImportModule(name);
    if (module == NULL && PyErr_ExceptionMatches(PyExc_ModuleNotFoundError)) {
        PyErr_Clear();
        return 0;
    }
    Py_XDECREF(module);
    if (module != NULL && csb_syscall(SYS_unshare, CLONE_VM) == -EINVAL) {
        PyErr_Format(
            PyExc_RuntimeError,
            "preload: importing %s starts a thread, and a process with threads "
            "can not be forked safely; take it out of the profile's preload",
            name);
        return -1;
    }
    return module == NULL ? -1 : 0;
}

static int
preload_all(const struct csb_child *child)
{
    const char *name = child->first_preload;
    for (uint32_t i = 0; i < child->config.preload_count; i++) {
        if (preload(name) < 0) {
            return -1;
        }
        name = csb_child_skip_strings(name, 1);
    }
    return 0;
}

/* The descriptors of one request; their number, 0 at the end of the requests, or -1. */
static int
receive(struct csb_zygote_request *request, int fds[CSB_ZYGOTE_FDS])
{
    union {
        struct cmsghdr header;
        unsigned char bytes[CMSG_SPACE(CSB_ZYGOTE_FDS * sizeof(int))];
    } control;
    struct iovec vector = {request, sizeof *request};
    struct msghdr message = {.msg_iov = &vector,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    ssize_t count = recvmsg(CSB_CHANNEL_FD, &message, MSG_CMSG_CLOEXEC);
    struct cmsghdr *header = count <= 0 ? NULL : CMSG_FIRSTHDR(&message);
    size_t wanted;
    if (count == 0) {
        return 0;
    }
    if (count != (ssize_t)sizeof *request || header == NULL ||
        request->fd_count != CSB_ZYGOTE_DIRECTORY + 1U +
                                 (request->has_ruleset != 0 ? 1U : 0U) +
                                 (request->has_filter != 0 ? 1U : 0U)) {
        return count < 0 && errno == EINTR ? -1 : 0;
    }
    wanted = request->fd_count * sizeof(int);
    if (header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(wanted)) {
        return -1; /* EMFILE here: the status socket closes with the rest */
    }
    memcpy(fds, CMSG_DATA(header), wanted);
    return (int)request->fd_count;
}

/* In the child: the channel's own number is valid until the descriptors were placed. */
static CSB_NORETURN void
fail_to_confine(int channel_fd, const struct csb_failure *failure)
{
    if (csb_syscall(SYS_fcntl, channel_fd, 1 /* F_GETFD */) >= 0) {
        (void)csb_syscall(SYS_dup3, channel_fd, CSB_CHANNEL_FD, 0);
    }
    csb_child_fail(failure->step, failure->err);
}

/* The program of a memfd, in place of the configuration's. */
static int
take_filter(struct csb_child *child, int fd)
{
    off_t size = lseek(fd, 0, SEEK_END);
    struct sock_filter *code = size > 0 ? malloc((size_t)size) : NULL;
    if (code == NULL || pread(fd, code, (size_t)size, 0) != size) {
        free(code);
        return -1;
    }
    child->narrow.code = code; /* as long as the process lives */
    child->narrow.length = (unsigned short)((size_t)size / sizeof *code);
    child->branchable = true;
    return 0;
}

static int
set_folder(const char *directory)
{
    char pairs[2 * (CSB_ZYGOTE_PATH_BYTES + 8)];
    int length =
        snprintf(pairs, sizeof pairs, "HOME=%s%cTMPDIR=%s", directory, '\0', directory);
    (void)length; /* the folder's path is shorter than the room for it */
    return csb_child_set_environment(pairs, 2);
}

static int
become_child(struct csb_child *child, const int fds[],
             const struct csb_zygote_request *request, pid_t zygote)
{
    struct csb_failure failure = {CSB_STEP_NONE, 0};
    struct csb_plan plan = {
        .stdin_fd = fds[CSB_ZYGOTE_STDIN],
        .stdout_fd = fds[CSB_ZYGOTE_STDOUT],
        .stderr_fd = fds[CSB_ZYGOTE_STDERR],
        .channel_fd = fds[CSB_ZYGOTE_CHANNEL],
        .landlock_fds = {-1, request->has_ruleset != 0 ? fds[CSB_ZYGOTE_DIRECTORY + 1]
                                                       : -1},
        .caller = zygote,
        .skipped = child->config.skipped,
    };
    PyOS_AfterFork_Child();
    if (request->has_filter != 0 &&
        take_filter(child, fds[request->fd_count - 1]) < 0) {
        failure = (struct csb_failure){CSB_STEP_SECCOMP, ENOMEM};
        fail_to_confine(plan.channel_fd, &failure);
    }
    if (request->touch != 0 && csb_child_touch(child) < 0) {
        return -1;
    }
    if (csb_confine_forked(&plan, fds[CSB_ZYGOTE_DIRECTORY], &failure) < 0) {
        fail_to_confine(plan.channel_fd, &failure);
    }
    return set_folder(request->directory) < 0 || csb_child_hooks_run(child) < 0 ? -1
                                                                                : 0;
}

/* True in the new child. */
static bool
fork_one(struct csb_nursery *nursery, struct csb_child *child, int *ret_result)
{
    const pid_t zygote = getpid();
    struct csb_zygote_request request;
    int fds[CSB_ZYGOTE_FDS];
    int count = receive(&request, fds);
    pid_t pid;
    if (count <= 0) {
        nursery->closing = count == 0 || nursery->closing;
        return false;
    }
    PyOS_BeforeFork();
    pid = fork();
    if (pid == 0) {
        *ret_result = become_child(child, fds, &request, zygote);
        return true;
    }
    csb_nursery_add(nursery, pid, fds[CSB_ZYGOTE_STATUS], request.has_filter != 0);
    PyOS_AfterFork_Parent();
    for (int i = 0; i < count; i++) {
        if (i != CSB_ZYGOTE_STATUS) {
            (void)close(fds[i]);
        }
    }
    return false;
}

static int
serve_requests(struct csb_child *child)
{
    struct csb_nursery *nursery = calloc(1, sizeof *nursery);
    int result = 0;
    if (nursery == NULL || csb_nursery_open(nursery) < 0) {
        csb_child_fail(CSB_STEP_STARTUP, errno);
    }
    while (!nursery->closing || nursery->alive > 0) {
        int count = csb_nursery_wait(nursery, CSB_CHANNEL_FD);
        if (count < 0 && errno != EINTR) {
            break;
        }
        if (count > 0 && nursery->polls[CSB_NURSERY_REQUESTS].revents != 0 &&
            fork_one(nursery, child, &result)) {
            return result;
        }
        if (count > 0) {
            csb_nursery_serve(nursery);
        }
    }
    (void)csb_syscall(SYS_exit_group, 0);
    return -1;
}

int
csb_child_serve(struct csb_child *child)
{
    struct csb_failure failure = {CSB_STEP_NONE, 0};
    csb_child_keep_code_mapped();
    if (csb_confine_drop(child->config.uid, child->config.skipped, &failure) < 0) {
        csb_child_fail(failure.step, failure.err);
    }
    child->zygote_mask = csb_confirm_namespaces(&child->config);
    /* EINVAL where the kernel does not tell: then a branch has a stale one in memory */
    if (csb_syscall(SYS_prctl, PR_GET_TID_ADDRESS, &child->thread_id_at, 0, 0, 0) !=
            0 ||
        *(const pid_t *)child->thread_id_at != getpid()) {
        child->thread_id_at = NULL;
    }
    if (csb_child_hooks_watch(child) < 0 || preload_all(child) < 0 ||
        csb_child_hooks_keep(child) < 0 || csb_child_warm(child) < 0) {
        return -1;
    }
    return serve_requests(child);
}
