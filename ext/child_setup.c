/* Theory of operation: runs in the child, in the started interpreter, before a byte of
 * untrusted source has been read. Trusts the channel (the caller holds the other end and
 * nobody else can). After csb_child_confine the process is as confined as it will be. */
#include "child_setup.h"

#include "child_confirm.h"
#include "confine.h"
#include "raw.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

enum { THREAD_STACK_BYTES = 8 * 1024 * 1024 };

static void
send_record(const struct csb_wire_record *record)
{
    (void)csb_syscall(SYS_write, CSB_CHANNEL_FD, record, sizeof *record);
}

static CSB_NORETURN void
fail(enum csb_step step, int err)
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
            fail(CSB_STEP_STARTUP, got == 0 ? EPIPE : (int)-got);
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
    if (result < 0) {
        fail(CSB_STEP_SECCOMP, (int)-result);
    }
    (void)csb_syscall(SYS_close, listener);
}

static const char *
skip_strings(const char *at, uint32_t count)
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

void
csb_child_configure(struct csb_child *child)
{
    struct csb_wire_config *config = &child->config;
    read_exactly(config, sizeof *config);
    if (config->magic != CSB_WIRE_MAGIC) {
        fail(CSB_STEP_STARTUP, EPROTO); /* _child is of another build than _core */
    }
    child->payload = malloc(config->payload_bytes + 1);
    if (child->payload == NULL) {
        fail(CSB_STEP_MEMORY, ENOMEM);
    }
    read_exactly(child->payload, config->payload_bytes);
    child->payload[config->payload_bytes] = '\0';
    child->narrow.length = (unsigned short)config->filter_length;
    child->narrow.code = (struct sock_filter *)(void *)child->payload;
    child->rlimits = (const struct csb_rlimit *)(const void *)(child->narrow.code +
                                                               child->narrow.length);
    child->file_name = (const char *)(child->rlimits + config->rlimit_count);
    child->first_path = skip_strings(child->file_name, 1);
    child->first_argument = skip_strings(child->first_path, config->path_count);
}

void
csb_child_confine(const struct csb_child *child)
{
    const struct csb_wire_config *config = &child->config;
    struct csb_failure failure = {CSB_STEP_NONE, 0};
    uint32_t mask;
    int listener;

    limit_thread_stacks(child->rlimits, config->rlimit_count);
    mask = csb_confirm_before(config, child->rlimits);
    if (csb_confine_drop(config->uid, config->skipped, &failure) < 0) {
        fail(failure.step, failure.err);
    }
    mask |= csb_confirm_dropped(config->uid);
    if (csb_confine_filter(&child->narrow, config->notify != 0, config->skipped,
                           &listener, &failure) < 0) {
        fail(failure.step, failure.err);
    }
    mask |= csb_confirm_filter(listener);
    send_ready(mask, listener);
}

void
csb_child_give_up(void)
{
    fail(CSB_STEP_STARTUP, ECANCELED);
}

char *
csb_child_read_source(size_t *ret_count)
{
    uint64_t length;
    char *source;
    read_exactly(&length, sizeof length);
    source = length < SIZE_MAX ? malloc((size_t)length + 1) : NULL;
    if (source == NULL) {
        /* The limit is the submission's, and too small for its own text. */
        csb_child_say_end(CSB_END_MEMORY_ERROR);
        (void)csb_syscall(SYS_exit_group, 1);
        abort();
    }
    read_exactly(source, (size_t)length);
    source[length] = '\0';
    *ret_count = (size_t)length;
    return source;
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

void
csb_child_await_go(const unsigned char *facts, size_t count)
{
    const uint64_t length = count;
    unsigned char word = 0;
    send_exactly(&length, sizeof length);
    send_exactly(facts, count);
    read_exactly(&word, sizeof word);
    if (word != CSB_WIRE_GO) {
        (void)csb_syscall(SYS_exit_group, CSB_WIRE_EXIT_FAILED);
    }
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
