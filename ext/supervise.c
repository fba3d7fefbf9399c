/* Theory of operation: runs in the caller, one loop a run. It waits on the pipes, the
 * channel, the listener and the pidfd, looks at the meter when that is due, and kills when
 * a limit is passed. Until the READY record the child is trusted; from the moment the
 * source is sent nothing that it says is believed, and nothing that it does (stop itself,
 * close its ends, flood them, hold them open) can keep this loop from its deadline. */
#include "supervise.h"

#include "clock.h"
#include "fd.h"
#include "feature.h"
#include "handshake.h"
#include "inbox.h"
#include "meter.h"
#include "streams.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#define REAP_NS (150 * CSB_NS_PER_MS)
#define INTERRUPT_CHECK_NS (100 * CSB_NS_PER_MS)

struct run {
    struct csb_process *process;
    struct csb_ends *ends;
    const struct csb_job *job;
    struct csb_report *report;
    struct csb_error *reterr;
    struct csb_meter meter;
    struct csb_feed source;
    uint64_t source_length; /* sent before the source */
    struct csb_feed source_header;
    int64_t begun_ns;
    int64_t interrupt_check_ns;
    struct csb_inbox facts;
    unsigned char go; /* what is sent when the facts are accepted */
    struct csb_feed go_feed;
    bool ready;
    bool agreed; /* the submission may be executing */
    bool ended;
    int failure; /* -errno of a run that was not allowed to begin */
};

enum { POLL_PIDFD, POLL_OUTPUT, POLL_ERRORS, POLL_CHANNEL, POLL_LISTENER, POLLS };

void
csb_report_done(struct csb_report *report)
{
    csb_capture_done(&report->output);
    csb_capture_done(&report->errors);
    csb_notify_done(&report->notify);
}

static void
stop(struct run *run, enum csb_stop reason)
{
    if (run->report->facts.stop == CSB_STOP_NONE) {
        run->report->facts.stop = reason;
    }
    csb_meter_last_look(&run->meter);
    csb_process_kill(run->process);
    run->ended = true;
}

static void
refuse_start(struct run *run, int failure)
{
    run->failure = failure;
    csb_process_kill(run->process);
    run->ended = true;
}

static void
close_channel(struct run *run)
{
    csb_fd_close(&run->ends->channel_fd);
    run->source_header.fd = run->source.fd = run->go_feed.fd = CSB_FD_NONE;
    run->source_header.left = run->source.left = run->go_feed.left = 0;
}

static void
child_failed(struct run *run, const struct csb_wire_record *record)
{
    enum csb_step step =
        record->step < CSB_STEP_COUNT ? (enum csb_step)record->step : CSB_STEP_STARTUP;
    if (step == CSB_STEP_EXEC && record->err == E2BIG) {
        refuse_start(run,
                     csb_fail(run->reterr, CSB_STEP_ARGUMENT, E2BIG,
                              "env is too long: the kernel takes 128 KiB a variable"));
        return;
    }
    refuse_start(run,
                 csb_fail(run->reterr, step, record->err, "the child could not %s: %s",
                          csb_step_name(step), strerror(record->err)));
}

static void
child_ready(struct run *run, const struct csb_wire_record *record, int listener)
{
    const uint32_t confirmed = record->mask | run->job->seen;
    uint32_t missing = run->job->required & ~confirmed;
    run->report->confirmed = confirmed;
    run->report->notify.listener = listener;
    if (listener < 0 &&
        run->job->required & CSB_FEATURE_BIT(CSB_FEATURE_SECCOMP_NOTIFY)) {
        missing |= CSB_FEATURE_BIT(CSB_FEATURE_SECCOMP_NOTIFY);
    }
    for (unsigned feature = 0; feature < CSB_FEATURE_COUNT; feature++) {
        if (missing & CSB_FEATURE_BIT(feature)) {
            refuse_start(run, csb_fail(run->reterr, CSB_STEP_CONFIRM, EOPNOTSUPP, "%s",
                                       csb_feature_name((enum csb_feature)feature)));
            return;
        }
    }
    run->ready = true;
    csb_meter_start(&run->meter, csb_clock_now_ns());
    run->report->startup_ns = run->meter.ready_ns - run->begun_ns;
    csb_feed_push(&run->source_header);
    csb_feed_push(&run->source);
}

/* Before READY: our own code speaks. */
static void
read_start(struct run *run)
{
    struct csb_wire_record record;
    int listener;
    ssize_t count = csb_handshake_receive(run->ends->channel_fd, &record, &listener);
    bool valid = count == (ssize_t)sizeof record && record.magic == CSB_WIRE_MAGIC;
    if (valid && record.kind == CSB_WIRE_READY) {
        child_ready(run, &record, listener);
        return;
    }
    csb_fd_close(&listener);
    if (valid && record.kind == CSB_WIRE_FAILED) {
        child_failed(run, &record);
    } else if (count >= 0 || errno != EAGAIN) {
        refuse_start(run, csb_fail(run->reterr, CSB_STEP_STARTUP, EPROTO,
                                   "the interpreter ended before it was ready"));
    }
}

/* Room for the facts of a source: each of its bytes can name at most a few. */
static size_t
facts_limit(size_t source_bytes)
{
    const size_t base = (size_t)1 << 20;
    const size_t factor = 32;
    return source_bytes < SIZE_MAX / factor - base ? source_bytes * factor + base
                                                   : SIZE_MAX;
}

/* Ask for the second opinion. The time that we take is not the submission's. A list that can
 * not be taken whole is handed on as a broken one, which nobody agrees to. */
static bool
agrees(struct run *run, bool complete)
{
    static const unsigned char broken[1] = {0};
    const struct csb_job *job = run->job;
    const int64_t asked_ns = csb_clock_now_ns();
    bool answer = complete;
    if (job->agrees != NULL) {
        answer = complete ? job->agrees(job->agrees_argument, run->facts.bytes,
                                        run->facts.got)
                          : job->agrees(job->agrees_argument, broken, sizeof broken);
    }
    run->meter.ready_ns += csb_clock_now_ns() - asked_ns;
    return answer && complete;
}

/* After READY the child has compiled the submission and tells what came of it. When it can
 * not be compiled it closes the channel and goes on to say so on stderr. After GO nothing
 * is to be heard any more: whatever comes is dropped. */
static void
read_facts(struct run *run)
{
    enum csb_inbox_state state = csb_inbox_pull(&run->facts, run->ends->channel_fd);
    if (state == CSB_INBOX_MORE) {
        return;
    }
    if (state == CSB_INBOX_BROKEN && !run->agreed &&
        run->facts.length <= run->facts.limit) {
        stop(run, CSB_STOP_INTERRUPT); /* no memory, or the socket: our fault */
        return;
    }
    if (state == CSB_INBOX_CLOSED || run->agreed) {
        close_channel(run);
        return;
    }
    if (!agrees(run, state == CSB_INBOX_COMPLETE)) {
        stop(run, CSB_STOP_REFUSED);
        return;
    }
    run->agreed = true;
    run->go_feed.left = sizeof run->go;
    csb_feed_push(&run->go_feed);
}

static void
read_channel(struct run *run)
{
    if (run->ready) {
        read_facts(run);
    } else {
        read_start(run);
    }
}

static int
channel_events(const struct run *run)
{
    size_t left = run->source_header.left + run->source.left + run->go_feed.left;
    bool pending = run->ready && left > 0;
    return pending ? POLLIN | POLLOUT : POLLIN;
}

static void
fill_polls(const struct run *run, struct pollfd *polls, int64_t now_ns)
{
    const struct csb_notify *notify = &run->report->notify;
    bool listen = notify->listener >= 0 && notify->resume_ns <= now_ns;
    for (unsigned i = 0; i < POLLS; i++) {
        polls[i].fd = CSB_FD_NONE; /* one that is not filled below is not looked at */
    }
    polls[POLL_PIDFD] = (struct pollfd){run->process->pidfd, POLLIN, 0};
    polls[POLL_OUTPUT] = (struct pollfd){run->ends->stdout_fd, POLLIN, 0};
    polls[POLL_ERRORS] = (struct pollfd){run->ends->stderr_fd, POLLIN, 0};
    polls[POLL_CHANNEL] =
        (struct pollfd){run->ends->channel_fd, (short)channel_events(run), 0};
    polls[POLL_LISTENER] = (struct pollfd){listen ? notify->listener : -1, POLLIN, 0};
}

/* The next moment at which something has to be looked at without being woken. */
static int64_t
next_deadline_ns(const struct run *run)
{
    const struct csb_limits *limits = run->job->limits;
    const struct csb_notify *notify = &run->report->notify;
    int64_t next = run->begun_ns + limits->startup_ns;
    if (run->ready) {
        next = run->meter.ready_ns + limits->wall_ns;
        if (run->meter.next_ns < next) {
            next = run->meter.next_ns;
        }
        if (notify->resume_ns > 0 && notify->resume_ns < next) {
            next = notify->resume_ns;
        }
    }
    return run->interrupt_check_ns < next ? run->interrupt_check_ns : next;
}

static int
wait_for_events(struct run *run, struct pollfd *polls)
{
    int64_t now = csb_clock_now_ns();
    int64_t left = next_deadline_ns(run) - now;
    struct timespec timeout = {0, 0};
    fill_polls(run, polls, now);
    if (left > 0) {
        timeout.tv_sec = (time_t)(left / CSB_NS_PER_S);
        timeout.tv_nsec = (long)(left % CSB_NS_PER_S);
    }
    return ppoll(polls, POLLS, &timeout, NULL);
}

static void
check_interrupt(struct run *run, int64_t now_ns, bool signalled)
{
    const struct csb_job *job = run->job;
    if (!signalled && now_ns < run->interrupt_check_ns) {
        return;
    }
    run->interrupt_check_ns = now_ns + INTERRUPT_CHECK_NS;
    if (job->interrupted != NULL && job->interrupted(job->interrupted_argument)) {
        stop(run, CSB_STOP_INTERRUPT);
    }
}

static void
check_limits(struct run *run, int64_t now_ns)
{
    enum csb_stop reason = csb_meter_look(&run->meter, now_ns);
    const struct csb_limits *limits = run->job->limits;
    if (run->ended) {
        return;
    }
    if (reason != CSB_STOP_NONE) {
        stop(run, reason);
    } else if (run->ready && now_ns >= run->meter.ready_ns + limits->wall_ns) {
        stop(run, CSB_STOP_WALL);
    } else if (!run->ready && now_ns >= run->begun_ns + limits->startup_ns) {
        refuse_start(run, csb_fail(run->reterr, CSB_STEP_STARTUP, ETIMEDOUT,
                                   "the interpreter was not ready within its time"));
    }
}

static void
pull_stream(struct run *run, int *fd, struct csb_capture *capture)
{
    if (csb_stream_pull(fd, capture) < 0) {
        stop(run,
             CSB_STOP_INTERRUPT); /* no memory for it: our fault, not the child's */
    } else if (csb_capture_truncated(capture)) {
        stop(run, CSB_STOP_OUTPUT);
    }
}

static void
serve_channel(struct run *run, short events)
{
    if (events & (POLLIN | POLLHUP | POLLERR)) {
        read_channel(run);
    }
    if (events & POLLOUT && run->ready) {
        csb_feed_push(&run->source_header);
        if (run->source_header.left == 0) {
            csb_feed_push(&run->source);
        }
        csb_feed_push(&run->go_feed);
    }
}

static void
serve_listener(struct run *run, short events)
{
    struct csb_notify *notify = &run->report->notify;
    if (events & POLLIN) {
        bool denied = csb_notify_serve(notify, &run->meter.procfs, csb_clock_now_ns());
        if (denied && run->job->kill_on_violation) {
            stop(run, CSB_STOP_VIOLATION);
        }
    } else if (events & (POLLHUP | POLLERR)) {
        csb_fd_close(&notify->listener); /* nobody is left under the filter */
    }
}

static void
serve(struct run *run, const struct pollfd *polls)
{
    if (polls[POLL_CHANNEL].revents != 0) {
        serve_channel(run, polls[POLL_CHANNEL].revents);
    }
    if (polls[POLL_LISTENER].revents != 0) {
        serve_listener(run, polls[POLL_LISTENER].revents);
    }
    if (polls[POLL_OUTPUT].revents != 0) {
        pull_stream(run, &run->ends->stdout_fd, &run->report->output);
    }
    if (polls[POLL_ERRORS].revents != 0) {
        pull_stream(run, &run->ends->stderr_fd, &run->report->errors);
    }
    if (polls[POLL_PIDFD].revents != 0) {
        if (polls[POLL_CHANNEL].revents == 0 && run->ends->channel_fd >= 0) {
            read_channel(run); /* a record may have arrived together with the end */
        }
        run->ended = true;
    }
}

static void
take_figures(struct run *run, const struct csb_exit *ended)
{
    struct csb_report *report = run->report;
    struct csb_facts *facts = &report->facts;
    const struct csb_memory *last = &report->notify.memory_at_end;
    const struct timeval *user = &ended->usage.ru_utime;
    const struct timeval *system = &ended->usage.ru_stime;
    int64_t used = ((int64_t)user->tv_sec + system->tv_sec) * CSB_NS_PER_S +
                   ((int64_t)user->tv_usec + system->tv_usec) * 1000;
    facts->exit_known = ended->known;
    facts->exit_code = ended->exit_code;
    facts->signal = ended->signal;
    if (!ended->known && report->notify.end_seen) {
        facts->exit_known = true; /* somebody else reaped it; its last call told us */
        facts->exit_code = report->notify.exit_code;
    }
    used -= run->meter.cpu_at_ready_ns;
    facts->cpu_ns = ended->known && used > run->meter.cpu_ns ? used : run->meter.cpu_ns;
    report->peak_bytes = run->meter.peak_bytes;
    if (last->peak_bytes > report->peak_bytes) {
        report->peak_bytes = last->peak_bytes;
    }
    facts->memory_bytes = run->meter.private_bytes;
    if (last->private_bytes > facts->memory_bytes) {
        facts->memory_bytes = last->private_bytes;
    }
    facts->threads_denied = report->notify.threads_denied;
    facts->files_denied = report->notify.files_denied;
    facts->begun = run->agreed;
    facts->end = report->notify.end;
    if (run->agreed && facts->end == CSB_END_COMPILE_ERROR) {
        facts->end = CSB_END_OTHER; /* it did compile: a lie */
    }
    facts->output_over = csb_capture_truncated(&report->output) ||
                         csb_capture_truncated(&report->errors);
}

static void
finish(struct run *run)
{
    struct csb_report *report = run->report;
    struct csb_exit ended;
    int64_t end_ns = csb_clock_now_ns();
    if (!csb_process_reap(run->process, REAP_NS, &ended)) {
        csb_process_abandon(run->process);
    }
    report->facts.wall_ns = run->ready ? end_ns - run->meter.ready_ns : 0;
    if (csb_stream_drain(&run->ends->stdout_fd, &report->output) < 0 ||
        csb_stream_drain(&run->ends->stderr_fd, &report->errors) < 0) {
        report->facts.stop = CSB_STOP_INTERRUPT;
    }
    take_figures(run, &ended);
}

static void
loop(struct run *run)
{
    struct pollfd polls[POLLS];
    while (!run->ended) {
        int count = wait_for_events(run, polls);
        bool signalled = count < 0 && errno == EINTR;
        int64_t now;
        if (count < 0 && !signalled) {
            refuse_start(run, csb_fail(run->reterr, CSB_STEP_SUPERVISE, errno,
                                       "wait for the child: %s", strerror(errno)));
            return;
        }
        if (count > 0) {
            serve(run, polls);
        }
        now = csb_clock_now_ns();
        if (!run->ended) {
            check_limits(run, now);
        }
        if (!run->ended) {
            check_interrupt(run, now, signalled);
        }
    }
}

int
csb_supervise(struct csb_process *process, struct csb_ends *ends,
              const struct csb_job *job, struct csb_report *ret,
              struct csb_error *reterr)
{
    struct run run = {.process = process,
                      .ends = ends,
                      .job = job,
                      .report = ret,
                      .reterr = reterr,
                      .begun_ns = csb_clock_now_ns()};
    memset(ret, 0, sizeof *ret);
    csb_capture_init(&ret->output, (size_t)job->limits->output_bytes);
    csb_capture_init(&ret->errors, (size_t)job->limits->output_bytes);
    csb_notify_init(&ret->notify, job->sets, job->limits);
    ret->notify.kill_on_denial = job->kill_on_violation;
    csb_meter_open(&run.meter, process->pid, job->limits);
    run.interrupt_check_ns = run.begun_ns + INTERRUPT_CHECK_NS;
    run.source_length = job->source.count;
    run.source_header =
        (struct csb_feed){ends->channel_fd, (const unsigned char *)&run.source_length,
                          sizeof run.source_length};
    run.source =
        (struct csb_feed){ends->channel_fd, job->source.bytes, job->source.count};
    run.go = CSB_WIRE_GO;
    run.go_feed = (struct csb_feed){ends->channel_fd, &run.go, 0};
    csb_inbox_init(&run.facts, facts_limit(job->source.count));
    loop(&run);
    finish(&run);
    if (!run.ready && run.failure == 0) {
        /* However it ended: nothing was allowed to begin, so there is nothing to report. */
        run.failure = csb_fail(reterr, CSB_STEP_STARTUP, EPROTO,
                               "the interpreter ended before it was ready");
    }
    csb_meter_close(&run.meter);
    csb_inbox_done(&run.facts);
    csb_notify_done(&ret->notify);
    csb_fd_close(&ends->stdout_fd);
    csb_fd_close(&ends->stderr_fd);
    csb_fd_close(&ends->channel_fd);
    return run.failure;
}
