/* Theory of operation: runs in the child, in the started interpreter, before a byte of
 * untrusted source has been executed. Trusts the channel (the caller holds the other end and
 * nobody else can). After csb_child_confine the process is as confined as it will be. */
#include "child_setup.h"

#include "child_confirm.h"
#include "confine.h"
#include "feature.h"
#include "raw.h"
#include "syscalls.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

enum {
    THREAD_STACK_BYTES = 8 * 1024 * 1024,
    SEND_TRIES = 5000,
    SHORT_FRAME_BYTES = 1024
};

static void
send_record(const struct csb_wire_record *record)
{
    (void)csb_syscall(SYS_write, CSB_CHANNEL_FD, record, sizeof *record);
}

CSB_NORETURN void
csb_child_fail(enum csb_step step, int err)
{
    const struct csb_wire_record record = {
        .magic = CSB_WIRE_MAGIC, .kind = CSB_WIRE_FAILED, .step = step, .err = err};
    send_record(&record);
    (void)csb_syscall(SYS_exit_group, CSB_WIRE_EXIT_FAILED);
    abort();
}

static void
read_exactly(void *target, size_t count)
{
    unsigned char *at = target;
    while (count > 0) {
        long got = csb_syscall(SYS_read, CSB_CHANNEL_FD, at, count);
        if (got == -EINTR) {
            continue;
        }
        if (got <= 0) {
            csb_child_fail(CSB_STEP_STARTUP, got == 0 ? EPIPE : (int)-got);
        }
        at += got;
        count -= (size_t)got;
    }
}

/* READY, with the listener when there is one. */
static void
send_ready(uint32_t mask, int listener)
{
    struct csb_wire_record record = {
        .magic = CSB_WIRE_MAGIC, .kind = CSB_WIRE_READY, .mask = mask};
    union {
        struct cmsghdr header;
        unsigned char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.bytes = {0}};
    struct iovec vector = {&record, sizeof record};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
    long result;
    if (listener < 0) {
        send_record(&record);
        return;
    }
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(&control.header), &listener, sizeof(int));
    result = csb_syscall(SYS_sendmsg, CSB_CHANNEL_FD, &message, 0);
    /* The kernel counts descriptors that are under way for the whole uid, against this
     * process's own RLIMIT_NOFILE: others' are on their way too, wait until they arrive. */
    for (int i = 0; result == -ETOOMANYREFS && i < SEND_TRIES; i++) {
        const struct timespec moment = {0, 1000L * 1000};
        (void)csb_syscall(SYS_nanosleep, &moment, NULL);
        result = csb_syscall(SYS_sendmsg, CSB_CHANNEL_FD, &message, 0);
    }
    if (result < 0) {
        csb_child_fail(CSB_STEP_SECCOMP, (int)-result);
    }
    (void)csb_syscall(SYS_close, listener);
}

const char *
csb_child_skip_strings(const char *at, uint32_t count)
{
    while (count-- > 0) {
        at += strlen(at) + 1;
    }
    return at;
}

/* glibc takes RLIMIT_STACK for the stack of each thread too, and that is private memory: with
 * room for deep recursion in the first thread, eight more would use up the memory limit. A
 * program that asks for a larger one (threading.stack_size) still gets it. */
static void
limit_thread_stacks(const struct csb_rlimit *rlimits, uint32_t count)
{
    pthread_attr_t attributes;
    for (uint32_t i = 0; i < count; i++) {
        if (rlimits[i].resource == RLIMIT_STACK &&
            rlimits[i].value > THREAD_STACK_BYTES &&
            pthread_attr_init(&attributes) == 0) {
            if (pthread_attr_setstacksize(&attributes, THREAD_STACK_BYTES) == 0) {
                /* a failure leaves the larger default, which is only wasteful */
                (void)pthread_setattr_default_np(&attributes);
            }
            (void)pthread_attr_destroy(&attributes);
        }
    }
}

/* Heap bytes with a NUL behind them; NULL without memory. */
static unsigned char *
read_payload(uint64_t count)
{
    unsigned char *bytes = count < SIZE_MAX ? malloc((size_t)count + 1) : NULL;
    if (bytes != NULL) {
        read_exactly(bytes, (size_t)count);
        bytes[count] = '\0';
    }
    return bytes;
}

void
csb_child_configure(struct csb_child *child)
{
    struct csb_wire_config *config = &child->config;
    read_exactly(config, sizeof *config);
    if (config->magic != CSB_WIRE_MAGIC) {
        csb_child_fail(CSB_STEP_STARTUP, EPROTO); /* _child is not of _core's build */
    }
    child->payload = read_payload(config->payload_bytes);
    if (child->payload == NULL) {
        csb_child_fail(CSB_STEP_MEMORY, ENOMEM);
    }
    child->narrow.length = (unsigned short)config->filter_length;
    child->narrow.code = (struct sock_filter *)(void *)child->payload;
    child->rlimits = (const struct csb_rlimit *)(const void *)(child->narrow.code +
                                                               child->narrow.length);
    child->profile = (const char *)(child->rlimits + config->rlimit_count);
    child->first_path = csb_child_skip_strings(child->profile, 1);
    child->first_preload =
        csb_child_skip_strings(child->first_path, config->path_count);
}

void
csb_child_confine(struct csb_child *child)
{
    const struct csb_wire_config *config = &child->config;
    const uint32_t own_pid = (uint32_t)csb_syscall(SYS_getpid);
    struct csb_failure failure = {CSB_STEP_NONE, 0};
    uint32_t mask;
    int listener;

    limit_thread_stacks(child->rlimits, config->rlimit_count);
    mask = csb_confirm_before(config, child->rlimits);
    mask |= config->zygote != 0 ? child->zygote_mask : csb_confirm_namespaces(config);
    if (config->zygote == 0 &&
        csb_confine_drop(config->uid, config->skipped, &failure) < 0) {
        csb_child_fail(failure.step, failure.err);
    }
    mask |= csb_confirm_dropped(config->uid);
    if (!child->branchable &&
        csb_bpf_patch_equal(&child->narrow, (uint32_t)CSB_OWN_PID, own_pid) == 0) {
        csb_child_fail(CSB_STEP_SECCOMP, EPROTO);
    }
    if (csb_confine_filter(&child->narrow, config->notify != 0, config->skipped,
                           &listener, &failure) < 0) {
        csb_child_fail(failure.step, failure.err);
    }
    mask |= csb_confirm_filter(listener);
    send_ready(mask, listener);
    if (csb_confine_last(config->skipped, &failure) < 0) {
        csb_child_fail(failure.step, failure.err);
    }
}

void
csb_child_give_up(void)
{
    csb_child_fail(CSB_STEP_STARTUP, ECANCELED);
}

/* The limits of a run that a spare is given: from here on they hold also for us. */
static void
set_limits(struct csb_child *child, const struct csb_child_task *task)
{
    struct csb_failure failure = {CSB_STEP_NONE, 0};
    const uint32_t count = task->header.rlimit_count;
    if (count == 0 ||
        (child->config.skipped & CSB_FEATURE_BIT(CSB_FEATURE_RLIMITS)) != 0) {
        return;
    }
    limit_thread_stacks(task->rlimits, count);
    if (csb_confine_rlimits(task->rlimits, count, &failure) < 0) {
        (void)csb_syscall(SYS_exit_group, CSB_WIRE_EXIT_FAILED);
    }
    child->late_mask = csb_confirm_rlimits(task->rlimits, count);
    if (child->late_mask == 0) {
        (void)csb_syscall(SYS_exit_group, CSB_WIRE_EXIT_FAILED); /* it can not happen */
    }
}

void
csb_child_take_task(struct csb_child *child, struct csb_child_task *task)
{
    struct csb_wire_submission *header = &task->header;
    read_exactly(header, sizeof *header);
    task->payload = read_payload(header->payload_bytes);
    if (task->payload == NULL) {
        (void)csb_syscall(SYS_exit_group, CSB_WIRE_EXIT_FAILED);
        abort();
    }
    task->rlimits = (const struct csb_rlimit *)(const void *)task->payload;
    task->file_name = (const char *)(task->rlimits + header->rlimit_count);
    task->first_argument = csb_child_skip_strings(task->file_name, 1);
    task->first_environment =
        csb_child_skip_strings(task->first_argument, header->argument_count);
    task->prelude =
        csb_child_skip_strings(task->first_environment, header->environment_count);
    set_limits(child, task);
    task->source = (char *)read_payload(header->source_bytes);
    if (task->source == NULL) {
        /* The limit is the submission's, and too small for its own text. */
        csb_child_say_end(CSB_END_MEMORY_ERROR);
        (void)csb_syscall(SYS_exit_group, 1);
        abort();
    }
}

void
csb_child_task_done(struct csb_child_task *task)
{
    free(task->payload);
    free(task->source);
    task->payload = NULL;
    task->source = NULL;
}

static void
send_exactly(const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    while (count > 0) {
        long sent = csb_syscall(SYS_write, CSB_CHANNEL_FD, at, count);
        if (sent > 0) {
            at += sent;
            count -= (size_t)sent;
        } else if (sent != -EINTR) {
            (void)csb_syscall(SYS_exit_group, CSB_WIRE_EXIT_FAILED);
        }
    }
}

/* A short one in one piece: each that arrives wakes the caller. */
static void
send_frame(struct csb_wire_frame header, const unsigned char *bytes)
{
    unsigned char whole[SHORT_FRAME_BYTES];
    if (header.length <= sizeof whole - sizeof header) {
        memcpy(whole, &header, sizeof header);
        if (header.length > 0) {
            memcpy(whole + sizeof header, bytes, (size_t)header.length);
        }
        send_exactly(whole, sizeof header + (size_t)header.length);
        return;
    }
    send_exactly(&header, sizeof header);
    send_exactly(bytes, (size_t)header.length);
}

bool
csb_child_await_go(const struct csb_child *child, const unsigned char *facts,
                   size_t count)
{
    unsigned char word = 0;
    send_frame((struct csb_wire_frame){count, CSB_FRAME_FACTS, child->late_mask},
               facts);
    read_exactly(&word, sizeof word);
    if (word != CSB_WIRE_GO && word != CSB_WIRE_NO) {
        (void)csb_syscall(SYS_exit_group, CSB_WIRE_EXIT_FAILED);
    }
    return word == CSB_WIRE_GO;
}

void
csb_child_tell_broken(const struct csb_child *child)
{
    send_frame((struct csb_wire_frame){0, CSB_FRAME_BROKEN, child->late_mask}, NULL);
}

void
csb_child_say(enum csb_wire_frame_kind kind, const unsigned char *bytes, size_t count)
{
    send_frame((struct csb_wire_frame){count, kind, 0}, bytes);
}

char *
csb_child_next_frame(struct csb_wire_frame *ret)
{
    unsigned char *at = (unsigned char *)ret;
    size_t count = sizeof *ret;
    char *bytes;
    while (count > 0) {
        long got = csb_syscall(SYS_read, CSB_CHANNEL_FD, at, count);
        if (got == -EINTR) {
            continue;
        }
        if (got <= 0) {
            return NULL;
        }
        at += got;
        count -= (size_t)got;
    }
    bytes = (char *)read_payload(ret->length);
    if (bytes == NULL) {
        csb_child_say_end(CSB_END_MEMORY_ERROR);
        (void)csb_syscall(SYS_exit_group, 1);
    }
    return bytes;
}

void
csb_child_close_channel(void)
{
    (void)csb_syscall(SYS_close, CSB_CHANNEL_FD);
}

void
csb_child_say_end(enum csb_wire_end end)
{
    (void)csb_syscall(SYS_prctl, CSB_WIRE_SAY_END, end);
}
