/* Theory of operation: runs in the caller. Makes everything that a child needs before the
 * child exists, starts it, hands it to the supervisor and takes everything down again, in
 * one place, so that each exit leaves nothing behind. */
#include "launch.h"

#include "cgroup.h"
#include "config.h"
#include "fd.h"
#include "input.h"
#include "scratch.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SEND_TIMEOUT_MS = 10 * 1000, FILES_REMOVED_AT_ONCE = 200 };

/* Loads the extension by path, without the import system, so that nothing but the two
 * listed folders is ever searched; everything else happens in C (child_*.c). */
static const char bootstrap[] = "import sys,_imp,_frozen_importlib as i\n"
                                "s=i.ModuleSpec('_child',None,origin=sys.argv[1])\n"
                                "m=_imp.create_dynamic(s)\n"
                                "_imp.exec_dynamic(m)\n"
                                "m.run()\n";

struct launch {
    struct csb_scratch scratch;
    struct csb_strings environment;
    int child_ends[4]; /* stdin, stdout, stderr, channel */
    struct csb_ends ends;
    int landlock_fd;
    struct csb_leaf leaf;
    struct csb_plan plan;
    char *argv[10];
};

static void
close_child_ends(struct launch *launch)
{
    for (size_t i = 0; i < CSB_ARRAY_LEN(launch->child_ends); i++) {
        csb_fd_close(&launch->child_ends[i]);
    }
    csb_fd_close(&launch->landlock_fd);
}

static void
launch_init(struct launch *launch)
{
    memset(launch, 0, sizeof *launch);
    launch->scratch.fd = launch->scratch.base_fd = CSB_FD_NONE;
    launch->landlock_fd = CSB_FD_NONE;
    csb_leaf_init(&launch->leaf);
    for (size_t i = 0; i < CSB_ARRAY_LEN(launch->child_ends); i++) {
        launch->child_ends[i] = CSB_FD_NONE;
    }
    launch->ends = (struct csb_ends){CSB_FD_NONE, CSB_FD_NONE, CSB_FD_NONE};
}

static void
launch_done(struct launch *launch, uint32_t files_made)
{
    close_child_ends(launch);
    csb_fd_close(&launch->ends.stdout_fd);
    csb_fd_close(&launch->ends.stderr_fd);
    csb_fd_close(&launch->ends.channel_fd);
    csb_leaf_end(&launch->leaf);
    if (files_made > FILES_REMOVED_AT_ONCE) {
        csb_scratch_remove_later(&launch->scratch);
    } else {
        csb_scratch_remove(&launch->scratch);
    }
    csb_strings_done(&launch->environment);
}

static int
make_scratch(struct launch *launch, const struct csb_policy *policy,
             const struct csb_request *request, struct csb_error *reterr)
{
    uint32_t owner = policy->root ? policy->uid : 0;
    int result =
        csb_scratch_make(&launch->scratch, policy->scratch_base, owner, reterr);
    for (size_t i = 0; i < request->file_count && result == 0; i++) {
        const struct csb_file *file = &request->files[i];
        result = csb_scratch_write(&launch->scratch, file->name, file->content.bytes,
                                   file->content.count, reterr);
    }
    return result;
}

static int
add_all(struct csb_strings *strings, const struct csb_strings *more)
{
    int result = 0;
    for (size_t i = 0; i < more->count && result == 0; i++) {
        result = csb_strings_add(strings, more->items[i]);
    }
    return result;
}

/* Of two variables of one name getenv(3) and CPython take the first: what the caller asked
 * for comes before the scratch folder's, that before the profile's. */
static int
make_environment(struct launch *launch, const struct csb_policy *policy,
                 const struct csb_request *request, struct csb_error *reterr)
{
    struct csb_strings *all = &launch->environment;
    int result = add_all(all, request->environment);
    if (result == 0) {
        result = csb_strings_add_pair(all, "HOME", launch->scratch.path);
    }
    if (result == 0) {
        result = csb_strings_add_pair(all, "TMPDIR", launch->scratch.path);
    }
    if (result == 0) {
        result = add_all(all, &policy->environment);
    }
    return result == 0 ? 0
                       : csb_fail(reterr, CSB_STEP_MEMORY, ENOMEM,
                                  "no memory for the environment");
}

static int
make_pipes(struct launch *launch, const struct csb_request *request,
           struct csb_error *reterr)
{
    int *const ours[] = {NULL, &launch->ends.stdout_fd, &launch->ends.stderr_fd,
                         &launch->ends.channel_fd};
    const size_t channel = CSB_ARRAY_LEN(ours) - 1;
    int result = csb_input_make(request->input.bytes, request->input.count,
                                &launch->child_ends[0], reterr);
    for (size_t i = 1; i <= channel && result == 0; i++) {
        int pair[2];
        result =
            i == channel ? csb_fd_socketpair(pair, reterr) : csb_fd_pipe(pair, reterr);
        if (result < 0) {
            return result;
        }
        *ours[i] = pair[0];
        launch->child_ends[i] = pair[1];
        result = csb_fd_nonblocking(pair[0]);
        if (result < 0) {
            return csb_fail(reterr, CSB_STEP_PIPE, -result, "make a pipe non-blocking");
        }
    }
    return result;
}

static int
make_ruleset(struct launch *launch, const struct csb_policy *policy,
             struct csb_error *reterr)
{
    if (policy->landlock_abi == 0) {
        return 0;
    }
    return csb_path_rules_for_run(&policy->paths, launch->scratch.fd,
                                  policy->scratch_writable, policy->landlock_abi,
                                  &launch->landlock_fd, reterr);
}

static int
make_leaf(struct launch *launch, const struct csb_policy *policy,
          const struct csb_request *request, struct csb_error *reterr)
{
    const struct csb_limits *limits = request->job.limits;
    int result;
    if (policy->cgroup.fd < 0) {
        return 0;
    }
    result = csb_leaf_make(&launch->leaf, &policy->cgroup,
                           csb_leaf_memory_max(limits->memory_bytes), limits->threads,
                           reterr);
    /* Without one the run goes on unless it must have it; `isolation` says so. */
    return policy->required & CSB_FEATURE_BIT(CSB_FEATURE_CGROUP) ? result : 0;
}

static void
fill_plan(struct launch *launch, const struct csb_policy *policy,
          const struct csb_request *request)
{
    char *const argv[] = {policy->python,
                          "-I",
                          "-S",
                          "-B",
                          "-X",
                          "utf8",
                          "-c",
                          (char *)(uintptr_t)bootstrap,
                          policy->child_module,
                          NULL};
    struct csb_plan *plan = &launch->plan;
    memcpy(launch->argv, argv, sizeof argv);
    plan->executable = policy->python;
    plan->argv = launch->argv;
    plan->envp = launch->environment.items;
    plan->directory = launch->scratch.path;
    plan->stdin_fd = launch->child_ends[0];
    plan->stdout_fd = launch->child_ends[1];
    plan->stderr_fd = launch->child_ends[2];
    plan->channel_fd = launch->child_ends[3];
    plan->landlock_fds[0] = policy->paths.fine_ruleset;
    plan->landlock_fds[1] = launch->landlock_fd;
    plan->cgroup_fd = launch->leaf.procs_fd;
    plan->namespaces = policy->namespaces;
    plan->wide_filter = policy->wide_filter;
    plan->rlimit_count = csb_limits_to_rlimits(request->job.limits, plan->rlimits);
    plan->caller = getpid();
    plan->root = policy->root;
    plan->skipped = policy->skipped;
}

/* On a non-blocking socket whose buffer may be smaller than the message. */
static int
send_all(int fd, const unsigned char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t sent = send(fd, bytes, count, MSG_NOSIGNAL);
        struct pollfd writable = {fd, POLLOUT, 0};
        if (sent >= 0) {
            bytes += sent;
            count -= (size_t)sent;
        } else if (errno == EAGAIN) {
            if (poll(&writable, 1, SEND_TIMEOUT_MS) == 0) {
                return -ETIMEDOUT;
            }
        } else if (errno != EINTR) {
            return -errno;
        }
    }
    return 0;
}

static int
send_config(struct launch *launch, const struct csb_policy *policy,
            const struct csb_request *request, const struct csb_process *process,
            struct csb_error *reterr)
{
    struct csb_config config = {0};
    int result =
        csb_config_build(policy, &launch->plan, process->pid, request->file_name,
                         request->arguments, &config, reterr);
    if (result < 0) {
        return result;
    }
    result = send_all(launch->ends.channel_fd, config.bytes, config.count);
    /* EPIPE: the child has failed and says why in its record, which the supervisor reads. */
    if (result == -EPIPE) {
        result = 0;
    }
    if (result < 0) {
        (void)csb_fail(reterr, CSB_STEP_STARTUP, -result,
                       "send the configuration to the child: %s", strerror(-result));
    }
    csb_config_done(&config);
    return result;
}

static int
start_and_supervise(struct launch *launch, const struct csb_policy *policy,
                    const struct csb_request *request, struct csb_report *ret,
                    struct csb_error *reterr)
{
    struct csb_job job = request->job;
    struct csb_process process;
    struct csb_exit ended;
    int result = csb_spawn(&launch->plan, &process, reterr);
    close_child_ends(launch);
    if (result < 0) {
        return result;
    }
    job.required = policy->required;
    job.seen = csb_leaf_holds(&launch->leaf, process.pid)
                   ? CSB_FEATURE_BIT(CSB_FEATURE_CGROUP)
                   : 0;
    job.sets = policy->sets;
    job.kill_on_violation = policy->kill_on_violation;
    result = send_config(launch, policy, request, &process, reterr);
    if (result < 0) {
        csb_process_kill(&process);
        if (!csb_process_reap(&process, INT64_C(1000000000), &ended)) {
            csb_process_abandon(&process);
        }
        return result;
    }
    result = csb_supervise(&process, &launch->ends, &job, ret, reterr);
    if (ret->facts.stop == CSB_STOP_NONE && csb_leaf_out_of_memory(&launch->leaf)) {
        ret->facts.stop = CSB_STOP_MEMORY;
    }
    return result;
}

int
csb_launch(const struct csb_policy *policy, const struct csb_request *request,
           struct csb_report *ret, struct csb_error *reterr)
{
    struct launch launch;
    int result;
    memset(ret, 0, sizeof *ret);
    csb_notify_init(&ret->notify, policy->sets, request->job.limits);
    launch_init(&launch);
    result = make_scratch(&launch, policy, request, reterr);
    if (result == 0) {
        result = make_environment(&launch, policy, request, reterr);
    }
    if (result == 0) {
        result = make_pipes(&launch, request, reterr);
    }
    if (result == 0) {
        result = make_ruleset(&launch, policy, reterr);
    }
    if (result == 0) {
        result = make_leaf(&launch, policy, request, reterr);
    }
    if (result == 0) {
        fill_plan(&launch, policy, request);
        result = start_and_supervise(&launch, policy, request, ret, reterr);
    }
    launch_done(&launch, ret->notify.files_made);
    return result;
}
