/* Theory of operation: runs in the caller. Makes everything that a child needs before the
 * child exists, starts it, hands it to the supervisor and takes everything down again, in
 * one place, so that each exit leaves nothing behind. */
#include "launch.h"

#include "config.h"
#include "fd.h"
#include "submission.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SEND_TIMEOUT_MS = 10 * 1000 };

/* Loads the extension by path, without the import system, so that nothing but the two
 * listed folders is ever searched; everything else happens in C (child_*.c). */
static const char bootstrap[] = "import sys,_imp,_frozen_importlib as i\n"
                                "s=i.ModuleSpec('_child',None,origin=sys.argv[1])\n"
                                "m=_imp.create_dynamic(s)\n"
                                "_imp.exec_dynamic(m)\n"
                                "m.run()\n";

int
csb_launch_interpreter(struct csb_plan *plan, const struct csb_policy *policy,
                       struct csb_process *ret, struct csb_error *reterr)
{
    int result;
    char *argv[] = {policy->python,
                    "-I",
                    "-S",
                    "-B",
                    "-X",
                    "utf8",
                    "-c",
                    (char *)(uintptr_t)bootstrap,
                    policy->child_module,
                    NULL};
    plan->executable = policy->python;
    plan->argv = argv;
    plan->caller = getpid();
    plan->root = policy->root;
    result = csb_spawn(plan, ret, reterr);
    plan->argv = NULL; /* ours; the child has its copy since exec */
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
int
csb_request_environment(const struct csb_request *request,
                        const struct csb_policy *policy, const char *scratch,
                        struct csb_strings *ret, struct csb_error *reterr)
{
    int result = add_all(ret, request->environment);
    if (result == 0) {
        result = csb_strings_add_pair(ret, "HOME", scratch);
    }
    if (result == 0) {
        result = csb_strings_add_pair(ret, "TMPDIR", scratch);
    }
    if (result == 0) {
        result = add_all(ret, &policy->environment);
    }
    return result == 0 ? 0
                       : csb_fail(reterr, CSB_STEP_MEMORY, ENOMEM,
                                  "no memory for the environment");
}

struct csb_job
csb_request_job(const struct csb_request *request, const struct csb_policy *policy)
{
    struct csb_job job = request->job;
    job.required = policy->required;
    job.sets = policy->sets;
    job.kill_on_violation = policy->kill_on_violation;
    return job;
}

static void
fill_plan(struct csb_plan *plan, const struct csb_policy *policy,
          const struct csb_request *request, const struct csb_kit *kit)
{
    struct csb_rlimit late; /* comes with the submission, see late_limit */
    plan->directory = kit->scratch.path;
    plan->stdin_fd = kit->child_fds[CSB_KIT_STDIN];
    plan->stdout_fd = kit->child_fds[CSB_KIT_STDOUT];
    plan->stderr_fd = kit->child_fds[CSB_KIT_STDERR];
    plan->channel_fd = kit->child_fds[CSB_KIT_CHANNEL];
    plan->landlock_fds[0] = policy->paths.fine_ruleset;
    plan->landlock_fds[1] = kit->ruleset_fd;
    plan->cgroup_fd = kit->leaf.procs_fd;
    plan->namespaces = policy->namespaces;
    plan->wide_filter = policy->wide_filter;
    plan->rlimit_count = csb_limits_to_rlimits(request->job.limits, plan->rlimits);
    plan->rlimit_count =
        csb_rlimits_take(plan->rlimits, plan->rlimit_count, RLIMIT_NOFILE, &late);
    plan->skipped = policy->skipped;
}

int
csb_launch_send(int fd, const unsigned char *bytes, size_t count)
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
        } else if (errno == EPIPE) {
            return 0;
        } else if (errno != EINTR) {
            return -errno;
        }
    }
    return 0;
}

static int
send_config(const struct csb_policy *policy, const struct csb_plan *plan, int channel,
            struct csb_error *reterr)
{
    struct csb_message config = {0};
    int result =
        csb_config_build(policy, plan->rlimits, plan->rlimit_count, &config, reterr);
    if (result < 0) {
        return result;
    }
    result = csb_launch_send(channel, config.bytes, config.count);
    csb_message_done(&config);
    return result == 0
               ? 0
               : csb_fail(reterr, CSB_STEP_STARTUP, -result,
                          "send the configuration to the child: %s", strerror(-result));
}

int
csb_launch_start(const struct csb_policy *policy, const struct csb_request *request,
                 struct csb_kit *kit, struct csb_start *ret, struct csb_error *reterr)
{
    struct csb_strings environment = {0};
    struct csb_plan plan;
    int result = csb_kit_make(kit, policy, &ret->ends, reterr);
    memset(&plan, 0, sizeof plan);
    if (result == 0) {
        result = csb_kit_make_leaf(kit, policy, request->job.limits, reterr);
    }
    if (result == 0) {
        result = csb_kit_fill(kit, &request->input, request->files, request->file_count,
                              reterr);
    }
    if (result == 0) {
        result = csb_request_environment(request, policy, kit->scratch.path,
                                         &environment, reterr);
    }
    if (result == 0) {
        fill_plan(&plan, policy, request, kit);
        plan.envp = environment.items;
        result = csb_launch_interpreter(&plan, policy, &ret->process, reterr);
    }
    csb_strings_done(&environment);
    csb_kit_close_child_fds(kit);
    return result < 0 ? result
                      : send_config(policy, &plan, ret->ends.channel_fd, reterr);
}

/* Descriptors in flight are counted per user and held against the sender's RLIMIT_NOFILE
 * (unix(7)): lowered before the listener was handed over, another child of the uid that
 * sends itself descriptors could keep this one from starting. */
static size_t
late_limit(const struct csb_limits *limits, struct csb_rlimit *ret)
{
    struct csb_rlimit all[CSB_RLIMITS_MAX];
    size_t count = csb_limits_to_rlimits(limits, all);
    return count - csb_rlimits_take(all, count, RLIMIT_NOFILE, ret);
}

int
csb_launch(const struct csb_policy *policy, const struct csb_request *request,
           struct csb_report *ret, struct csb_error *reterr)
{
    struct csb_rlimit late;
    const struct csb_submission submission = {
        .rlimits = &late,
        .rlimit_count = late_limit(request->job.limits, &late),
        .mode = request->job.mode,
        .file_name = request->file_name,
        .arguments = request->arguments,
        .prelude = request->prelude,
        .source_bytes = request->job.source.count};
    struct csb_job job = csb_request_job(request, policy);
    struct csb_message message = {0};
    struct csb_start start;
    struct csb_kit kit;
    struct csb_disk disk;
    int result;
    memset(ret, 0, sizeof *ret);
    csb_kit_init(&kit);
    csb_start_init(&start);
    result = csb_submission_build(&submission, &message, reterr);
    if (result == 0) {
        result = csb_launch_start(policy, request, &kit, &start, reterr);
    }
    if (result == 0) {
        job.submission = (struct csb_bytes){message.bytes, message.count};
        disk = csb_kit_disk(&kit, job.limits);
        job.disk = policy->scratch_writable ? &disk : NULL;
        job.seen = csb_leaf_holds(&kit.leaf, start.process.pid)
                       ? CSB_FEATURE_BIT(CSB_FEATURE_CGROUP)
                       : 0;
        result = csb_supervise(&start, &job, ret, reterr);
        csb_kit_blame_memory(&kit, &ret->facts);
    }
    if (result == 0 && request->collection != NULL) {
        csb_collect(request->collection, kit.scratch.fd);
    }
    csb_start_discard(&start);
    csb_kit_done(&kit, ret->notify.files_made);
    csb_message_done(&message);
    return result;
}
