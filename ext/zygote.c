/* Theory of operation: runs in the caller, in a pool's keeper thread. A zygote is an
 * interpreter like that of a fresh run, started by the same code; it gets no filter, since
 * it forks, and no ruleset but the fine one, which its children inherit. It is trusted: no
 * byte of a submission ever reaches it. */
#include "zygote.h"

#include "clock.h"
#include "config.h"
#include "fd.h"
#include "handshake.h"
#include "input.h"
#include "launch.h"
#include "zygote_wire.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REAP_NS (2 * CSB_NS_PER_S)

void
csb_zygote_init(struct csb_zygote *zygote)
{
    memset(zygote, 0, sizeof *zygote);
    zygote->process = (struct csb_process){-1, CSB_FD_NONE};
    zygote->control_fd = zygote->errors_fd = CSB_FD_NONE;
    zygote->home.fd = zygote->home.base_fd = CSB_FD_NONE;
}

void
csb_zygote_move(struct csb_zygote *to, struct csb_zygote *from)
{
    *to = *from;
    csb_scratch_move(&to->home, &from->home);
    csb_zygote_init(from);
}

struct ends {
    int input[2]; /* ours, the zygote's */
    int errors[2];
    int control[2];
};

static void
close_ends(struct ends *ends)
{
    for (int i = 0; i < 2; i++) {
        csb_fd_close(&ends->input[i]);
        csb_fd_close(&ends->errors[i]);
        csb_fd_close(&ends->control[i]);
    }
}

static int
make_ends(struct ends *ends, struct csb_error *reterr)
{
    int result = csb_input_make(&ends->input[0], &ends->input[1], reterr);
    if (result == 0) {
        result = csb_fd_pipe(ends->errors, reterr);
    }
    if (result == 0) {
        result = csb_fd_socketpair(ends->control, reterr);
    }
    if (result == 0 && (csb_fd_nonblocking(ends->errors[0]) < 0 ||
                        csb_fd_nonblocking(ends->control[0]) < 0)) {
        result = csb_fail(reterr, CSB_STEP_PIPE, errno, "make a pipe non-blocking");
    }
    return result;
}

static int
send_config(struct csb_zygote *zygote, const struct csb_policy *policy,
            const struct csb_strings *preload, struct csb_error *reterr)
{
    struct csb_message config = {0};
    int result = csb_config_build_zygote(policy, preload, &config, reterr);
    if (result == 0) {
        result = csb_launch_send(zygote->control_fd, config.bytes, config.count);
        if (result < 0) {
            (void)csb_fail(reterr, CSB_STEP_STARTUP, -result,
                           "send the configuration to a zygote: %s", strerror(-result));
        }
    }
    csb_message_done(&config);
    return result;
}

/* A folder of its own, and variables that name it: children have others. */
static int
make_home(struct csb_zygote *zygote, const struct csb_policy *policy,
          struct csb_strings *ret, struct csb_error *reterr)
{
    int result = csb_scratch_make(&zygote->home, policy->scratch_base,
                                  policy->root ? policy->uid : 0, reterr);
    if (result < 0) {
        return result;
    }
    result = csb_strings_add_pair(ret, "HOME", zygote->home.path);
    if (result == 0) {
        result = csb_strings_add_pair(ret, "TMPDIR", zygote->home.path);
    }
    for (size_t i = 0; i < policy->environment.count && result == 0; i++) {
        result = csb_strings_add(ret, policy->environment.items[i]);
    }
    return result == 0 ? 0
                       : csb_fail(reterr, CSB_STEP_MEMORY, ENOMEM,
                                  "no memory for the environment");
}

int
csb_zygote_start(struct csb_zygote *zygote, const struct csb_policy *policy,
                 const struct csb_strings *preload, struct csb_error *reterr)
{
    struct ends ends = {{-1, -1}, {-1, -1}, {-1, -1}};
    struct csb_strings environment = {0};
    struct csb_plan plan;
    int result;
    csb_zygote_init(zygote);
    result = make_ends(&ends, reterr);
    if (result == 0) {
        result = make_home(zygote, policy, &environment, reterr);
    }
    if (result == 0) {
        memset(&plan, 0, sizeof plan);
        plan.envp = environment.items;
        plan.directory = zygote->home.path;
        plan.stdin_fd = ends.input[1];
        plan.stdout_fd = plan.stderr_fd = ends.errors[1];
        plan.channel_fd = ends.control[1];
        plan.landlock_fds[0] =
            policy->landlock_abi == 0 ? CSB_FD_NONE : policy->paths.fine_ruleset;
        plan.landlock_fds[1] = CSB_FD_NONE;
        plan.namespaces = policy->namespaces;
        plan.cgroup_fd = CSB_FD_NONE;
        plan.skipped = policy->skipped | CSB_FEATURE_BIT(CSB_FEATURE_RLIMITS);
        result = csb_launch_interpreter(&plan, policy, &zygote->process, reterr);
    }
    if (result == 0) {
        zygote->control_fd = ends.control[0];
        zygote->errors_fd = ends.errors[0];
        ends.control[0] = ends.errors[0] = CSB_FD_NONE;
        zygote->born_ns = csb_clock_now_ns();
    }
    close_ends(&ends);
    csb_strings_done(&environment);
    if (result == 0) {
        result = send_config(zygote, policy, preload, reterr);
    }
    if (result < 0) {
        csb_zygote_kill(zygote);
    }
    return result;
}

static int
send_request(int control_fd, const int *fds, struct csb_zygote_request request)
{
    const uint32_t count = request.fd_count;
    union {
        struct cmsghdr header;
        unsigned char bytes[CMSG_SPACE(CSB_ZYGOTE_FDS * sizeof(int))];
    } control = {.bytes = {0}};
    struct iovec vector = {&request, sizeof request};
    struct msghdr message = {.msg_iov = &vector,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = CMSG_SPACE(count * sizeof(int))};
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(&control.header), fds, count * sizeof(int));
    return sendmsg(control_fd, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int
csb_zygote_fork(struct csb_zygote *zygote, const struct csb_kit *kit, bool touch,
                int filter_fd, struct csb_start *ret, struct csb_error *reterr)
{
    struct csb_zygote_request request = {.fd_count = CSB_ZYGOTE_DIRECTORY + 1,
                                         .touch = touch,
                                         .has_ruleset = kit->ruleset_fd >= 0,
                                         .has_filter = filter_fd >= 0};
    int status[2];
    int fds[CSB_ZYGOTE_FDS];
    int result = csb_fd_socketpair(status, reterr);
    if (result < 0) {
        return result;
    }
    fds[CSB_ZYGOTE_STDIN] = kit->child_fds[CSB_KIT_STDIN];
    fds[CSB_ZYGOTE_STDOUT] = kit->child_fds[CSB_KIT_STDOUT];
    fds[CSB_ZYGOTE_STDERR] = kit->child_fds[CSB_KIT_STDERR];
    fds[CSB_ZYGOTE_CHANNEL] = kit->child_fds[CSB_KIT_CHANNEL];
    fds[CSB_ZYGOTE_STATUS] = status[1];
    fds[CSB_ZYGOTE_DIRECTORY] = kit->scratch.fd;
    if (kit->ruleset_fd >= 0) {
        fds[request.fd_count++] = kit->ruleset_fd;
    }
    if (filter_fd >= 0) {
        fds[request.fd_count++] = filter_fd;
    }
    (void)snprintf(request.directory, sizeof request.directory, "%s",
                   csb_kit_path(kit));
    result = send_request(zygote->control_fd, fds, request);
    csb_fd_close(&status[1]);
    if (result < 0) {
        csb_fd_close(&status[0]);
        return csb_fail(reterr, CSB_STEP_CLONE, -result, "ask a zygote for a child: %s",
                        strerror(-result));
    }
    ret->ends.status_fd = status[0];
    zygote->forks++;
    return 0;
}

void
csb_zygote_listen(struct csb_zygote *zygote)
{
    char chunk[CSB_ZYGOTE_TEXT_BYTES / 4];
    ssize_t count;
    while (zygote->errors_fd >= 0 &&
           (count = read(zygote->errors_fd, chunk, sizeof chunk)) != 0) {
        if (count < 0) {
            return;
        }
        if (zygote->error_bytes + (size_t)count >= sizeof zygote->errors) {
            /* The end is what says why. */
            const size_t kept = sizeof zygote->errors / 2;
            memmove(zygote->errors, zygote->errors + zygote->error_bytes - kept, kept);
            zygote->error_bytes = kept;
        }
        memcpy(zygote->errors + zygote->error_bytes, chunk, (size_t)count);
        zygote->error_bytes += (size_t)count;
    }
    csb_fd_close(&zygote->errors_fd);
}

/* The last line of a traceback says what it was. */
static const char *
last_line(struct csb_zygote *zygote)
{
    char *text = zygote->errors;
    char *line;
    text[zygote->error_bytes] = '\0';
    while (zygote->error_bytes > 0 && text[zygote->error_bytes - 1] == '\n') {
        text[--zygote->error_bytes] = '\0';
    }
    line = strrchr(text, '\n');
    return line == NULL ? text : line + 1;
}

void
csb_zygote_explain(struct csb_zygote *zygote, struct csb_error *reterr)
{
    struct csb_wire_record record;
    int stray = CSB_FD_NONE;
    const char *line;
    ssize_t count = zygote->control_fd < 0
                        ? -1
                        : csb_handshake_receive(zygote->control_fd, &record, &stray);
    csb_fd_close(&stray);
    csb_zygote_listen(zygote);
    line = last_line(zygote);
    if (line[0] != '\0') {
        (void)csb_fail(reterr, CSB_STEP_STARTUP, EPROTO,
                       "the warm interpreter could not start: %s", line);
    } else if (count == (ssize_t)sizeof record && record.magic == CSB_WIRE_MAGIC &&
               record.kind == CSB_WIRE_FAILED && record.step < CSB_STEP_COUNT) {
        (void)csb_fail(reterr, (enum csb_step)record.step, record.err,
                       "the warm interpreter could not %s: %s",
                       csb_step_name((enum csb_step)record.step), strerror(record.err));
    } else {
        (void)csb_fail(reterr, CSB_STEP_STARTUP, EPROTO,
                       "the warm interpreter ended before it was ready");
    }
}

void
csb_zygote_retire(struct csb_zygote *zygote)
{
    csb_fd_close(&zygote->control_fd);
}

void
csb_zygote_kill(struct csb_zygote *zygote)
{
    if (zygote->process.pidfd >= 0) {
        csb_process_kill(&zygote->process);
        if (!csb_process_reap(&zygote->process, REAP_NS, &zygote->ended)) {
            csb_process_abandon(&zygote->process);
        }
    }
    csb_fd_close(&zygote->control_fd);
    csb_fd_close(&zygote->errors_fd);
    csb_scratch_remove(&zygote->home);
}
