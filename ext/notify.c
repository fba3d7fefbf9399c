/* Theory of operation: runs in the caller's supervisor loop. Receives one call of the
 * child at a time and answers it: go on (watched calls within their limits), or an errno.
 * Trusts only the registers that the kernel copied. Keeps a table of fixed size, so a
 * million different denials cost a counter. */
#include "notify.h"

#include "branch_fit.h"
#include "clock.h"
#include "fd.h"
#include "syscall_filter.h"
#include "syscalls.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifndef SECCOMP_USER_NOTIF_FLAG_CONTINUE
#define SECCOMP_USER_NOTIF_FLAG_CONTINUE (1UL << 0)
#endif

/* After so many calls, at most one refusal every SLOW_NS: 1 % of a core. The same for calls that
 * could be made for ever, such as a rename of what is not there: an honest program makes some of
 * them for each file, and others few. */
enum { PROMPT_CALLS = 5000, CALLS_A_FILE = 4, MOMENTS = 10, MOMENT_NS = 100 * 1000 };

/* An answer between "go on" and an errno: the call is not made, and succeeds. */
enum { PRETEND = -1 };
#define SLOW_NS (2 * CSB_NS_PER_MS)

void
csb_notify_init(struct csb_notify *notify, uint32_t sets,
                const struct csb_limits *limits)
{
    memset(notify, 0, sizeof *notify);
    notify->listener = CSB_FD_NONE;
    notify->sets = sets;
    notify->threads_allowed = limits->threads;
    notify->shared_allowed = limits->memory_bytes;
    notify->files_allowed = limits->files;
    notify->disk_allowed = limits->disk_bytes;
}

void
csb_notify_done(struct csb_notify *notify)
{
    csb_fd_close(&notify->listener);
}

static void
record(struct csb_notify *notify, const struct seccomp_data *call, const char *name)
{
    struct csb_violation *violation;
    struct csb_wanted wanted;
    uint64_t arguments[CSB_CALL_ARGUMENTS];
    for (size_t i = 0; i < CSB_CALL_ARGUMENTS; i++) {
        arguments[i] = call->args[i];
    }
    csb_wanted_of(name, arguments, notify->own_pid, &wanted);
    notify->denied++;
    for (unsigned i = 0; i < notify->violation_count; i++) {
        violation = &notify->violations[i];
        if (!violation->others && violation->number == call->nr &&
            csb_wanted_same(&violation->wanted, &wanted)) {
            violation->count++;
            return;
        }
    }
    if (notify->violation_count == CSB_VIOLATION_KINDS) {
        violation = &notify->violations[CSB_VIOLATION_KINDS - 1];
        violation->others = true;
        violation->count++;
        return;
    }
    violation = &notify->violations[notify->violation_count++];
    *violation =
        (struct csb_violation){.number = call->nr, .wanted = wanted, .count = 1};
}

/* Values in the table that are known only now. */
static uint64_t
wanted_value(const struct csb_notify *notify, const struct csb_argument_check *check)
{
    return check->value == CSB_OWN_PID ? (uint64_t)notify->own_pid : check->value;
}

/* Is this one of the calls that are watched rather than denied? */
static bool
watched(const struct csb_notify *notify, const struct seccomp_data *call,
        const char *name)
{
    for (size_t i = 0; i < csb_syscall_row_count; i++) {
        const struct csb_syscall_row *row = &csb_syscall_rows[i];
        bool seen = row->action == CSB_ACTION_WATCH ||
                    (row->action == CSB_ACTION_ALLOW_ALONE && notify->shared_listener);
        bool matches = seen && row->sets & notify->sets && strcmp(row->name, name) == 0;
        for (unsigned k = 0; k < row->check_count && matches; k++) {
            const struct csb_argument_check *check = &row->checks[k];
            matches =
                (call->args[check->index] & check->mask) == wanted_value(notify, check);
        }
        if (matches) {
            return true;
        }
    }
    return false;
}

/* EAGAIN and ENOMEM are what the kernel says at a real limit. */
static int
judge_thread(struct csb_notify *notify, const struct csb_procfs *procfs)
{
    const struct timespec moment = {0, MOMENT_NS};
    if (notify->order.state != CSB_ORDER_NONE) {
        return EAGAIN; /* while it is branched */
    }
    /* A thread that has been joined may still be on its way out: look again for a moment. */
    for (int i = 0; i < MOMENTS; i++) {
        if (csb_procfs_threads(procfs) < notify->threads_allowed) {
            notify->threads_made++;
            return 0;
        }
        (void)nanosleep(&moment, NULL);
    }
    notify->threads_denied++;
    return EAGAIN;
}

/* What was unmapped again is not given back: the sum can only be too high, and a program
 * has no use for shared anonymous memory where there is nobody to share it with. */
static int
judge_shared_memory(struct csb_notify *notify, uint64_t wanted)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t bytes = wanted < UINT64_MAX - page ? (wanted / page + 1) * page : wanted;
    if (bytes > notify->shared_allowed - notify->shared_bytes) {
        return ENOMEM;
    }
    notify->shared_bytes += bytes;
    return 0;
}

/* Files and folders that were ever made: the kernel has no limit for it, and the time to
 * remove them is the caller's. EDQUOT is what a file system with quotas would say. */
static int
judge_new_file(struct csb_notify *notify)
{
    if (notify->files_made < notify->files_allowed) {
        notify->files_made++;
        return 0;
    }
    notify->files_denied++;
    return EDQUOT;
}

/* Taken at once and without writing a byte, so faster than any look at the disk. What is given back is not
 * counted: few programs use the call at all. */
static int
judge_fallocate(struct csb_notify *notify, uint64_t length)
{
    if (length > notify->disk_allowed - notify->disk_set_aside) {
        notify->disk_denied++;
        return EDQUOT;
    }
    notify->disk_set_aside += length;
    return 0;
}

static int
judge_watched(struct csb_notify *notify, const struct seccomp_data *call,
              const char *name, const struct csb_procfs *procfs)
{
    if (strcmp(name, "clone") == 0) {
        return judge_thread(notify, procfs);
    }
    if (strcmp(name, "mmap") == 0) {
        if (call->args[3] & MAP_ANONYMOUS) {
            return judge_shared_memory(notify, call->args[1]);
        }
        notify->shared_maps++;
        notify->unlimited++;
        return 0;
    }
    if (strcmp(name, "fallocate") == 0) {
        notify->unlimited += call->args[3] == 0;
        return judge_fallocate(notify, call->args[3]);
    }
    if (strncmp(name, "rename", strlen("rename")) == 0) {
        notify->unlimited++;
        return 0; /* watched so that it waits while the disk is looked at */
    }
    if (strcmp(name, "kill") == 0 || strcmp(name, "tgkill") == 0 ||
        strcmp(name, "sched_getaffinity") == 0) {
        notify->unlimited++;
        return 0; /* to itself; not in the filter, which branches inherit */
    }
    if (strcmp(name, "utimensat") == 0) {
        /* Times of NULL: pathlib's touch(), which makes the file when this fails. */
        notify->unlimited++;
        return call->args[2] == 0 ? EPERM : PRETEND;
    }
    if (strcmp(name, "exit_group") != 0) {
        return judge_new_file(notify);
    }
    notify->end_seen = true;
    notify->exit_code = (int)(call->args[0] & 0xFF);
    (void)csb_procfs_memory(procfs, &notify->memory_at_end);
    return 0;
}

/* A call that no kernel knows, made by csb_child_say_end. It needs no descriptor and can
 * only choose between words for a failure. */
static bool
says_end(struct csb_notify *notify, const struct seccomp_data *call, const char *name)
{
    if (strcmp(name, "prctl") != 0 || call->args[0] != CSB_WIRE_SAY_END ||
        call->args[1] > CSB_END_MEMORY_ERROR) {
        return false;
    }
    notify->end = (enum csb_wire_end)call->args[1];
    return true;
}

/* No pointer among them but one: where the kernel puts the new process's id into its own memory. */
static bool
is_branching(const struct seccomp_data *call, const char *name)
{
    return strcmp(name, "clone") == 0 &&
           (call->args[0] == CSB_BRANCH_FLAGS ||
            call->args[0] == CSB_BRANCH_TID_FLAGS) &&
           call->args[1] == 0;
}

static int
judge_branching(struct csb_notify *notify, const struct csb_procfs *procfs)
{
    struct csb_order *order = &notify->order;
    if (!csb_branch_fit(procfs, order->why, sizeof order->why)) {
        order->state = CSB_ORDER_REFUSED;
    } else if (notify->shared_bytes > 0 || notify->shared_maps > 0) {
        (void)snprintf(order->why, sizeof order->why,
                       "it has mapped shared memory (mmap), which a branch would share "
                       "with it");
        order->state = CSB_ORDER_REFUSED;
    } else {
        order->state = CSB_ORDER_GRANTED;
    }
    return order->state == CSB_ORDER_GRANTED ? 0 : EAGAIN;
}

/* 0 = go on, else the errno. EPERM is what CPython turns into PermissionError; a number
 * without a name is newer than the table: ENOSYS, so that libc falls back (moby issue
 * 42681). */
static int
judge(struct csb_notify *notify, const struct seccomp_data *call, const char *name,
      const struct csb_procfs *procfs, bool *ret_denied)
{
    *ret_denied = false;
    if (notify->order.state == CSB_ORDER_GIVEN && is_branching(call, name)) {
        return judge_branching(notify, procfs);
    }
    if (notify->order.state == CSB_ORDER_BORN && strcmp(name, "chdir") == 0) {
        return 0; /* our own code in a branch goes to its folder, whatever the policy allows */
    }
    if (watched(notify, call, name)) {
        return judge_watched(notify, call, name, procfs);
    }
    if (says_end(notify, call, name)) {
        return EPERM;
    }
    *ret_denied = true;
    record(notify, call, name);
    return name[0] == '\0' ? ENOSYS : EPERM;
}

/* Of another process under the same filter: the branch that was just let be, or one that is
 * being stopped, whose call begins anew when it goes on. */
static void
meet_stranger(struct csb_notify *notify, const struct seccomp_notif *request,
              const char *name)
{
    struct csb_order *order = &notify->order;
    if (order->state == CSB_ORDER_GRANTED) {
        order->state = CSB_ORDER_BORN;
        order->pid = (pid_t)request->pid;
        order->notification = request->id;
        order->as_agreed =
            strcmp(name, "prctl") == 0 && request->data.args[0] == CSB_WIRE_SAY_BRANCH;
    }
}

static bool
is_own(const struct csb_notify *notify, const struct csb_procfs *procfs, pid_t thread)
{
    return !notify->shared_listener || thread == notify->own_pid ||
           csb_procfs_has_thread(procfs, thread);
}

int
csb_notify_answer(const struct csb_notify *notify, uint64_t notification, int err)
{
    struct seccomp_notif_resp answer;
    memset(&answer, 0, sizeof answer);
    answer.id = notification;
    answer.error = -err;
    return ioctl(notify->listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) == 0 ? 0 : -errno;
}

bool
csb_notify_waits(const struct csb_notify *notify, uint64_t notification)
{
    return ioctl(notify->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &notification) == 0;
}

static bool
is_too_busy(const struct csb_notify *notify, bool refused, uint64_t unlimited_before)
{
    const uint64_t allowed = PROMPT_CALLS + (uint64_t)CALLS_A_FILE * notify->files_made;
    return (refused && notify->answered > PROMPT_CALLS) ||
           (notify->unlimited > unlimited_before && notify->unlimited > allowed);
}

bool
csb_notify_serve(struct csb_notify *notify, const struct csb_procfs *procfs,
                 int64_t now_ns)
{
    const uint64_t unlimited = notify->unlimited;
    struct seccomp_notif request;
    struct seccomp_notif_resp answer;
    bool denied;
    bool granted;
    char *name;
    int err;
    memset(&request, 0, sizeof request);
    memset(&answer, 0, sizeof answer);
    if (ioctl(notify->listener, SECCOMP_IOCTL_NOTIF_RECV, &request) != 0) {
        return false; /* ENOENT: the thread was killed meanwhile */
    }
    name = csb_seccomp_name(request.data.nr);
    if (!is_own(notify, procfs, (pid_t)request.pid)) {
        meet_stranger(notify, &request, name == NULL ? "" : name);
        free(name);
        return false;
    }
    granted = notify->order.state != CSB_ORDER_GRANTED;
    err = judge(notify, &request.data, name == NULL ? "" : name, procfs, &denied);
    granted = granted && notify->order.state == CSB_ORDER_GRANTED;
    free(name);
    if (denied && notify->kill_on_denial) {
        return true; /* answered, it could act once more before the kill arrives */
    }
    if (notify->end_seen && notify->hold_end) {
        return false;
    }
    answer.id = request.id;
    answer.error = err == PRETEND ? 0 : -err;
    answer.flags = err == 0 ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0;
    /* ENOENT here means the same: nobody is left to hear it, or a signal made the call begin
     * anew; then it was not made. */
    if (ioctl(notify->listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) != 0 && granted) {
        notify->order.state = CSB_ORDER_GIVEN;
    }
    notify->answered++;
    if (is_too_busy(notify, err > 0, unlimited)) {
        notify->resume_ns = now_ns + SLOW_NS;
    }
    return denied;
}
