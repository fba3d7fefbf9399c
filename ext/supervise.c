/* Theory of operation: runs in the caller, one loop a run. It waits on the pipes, the
 * channel, the listener and the pidfd, looks at the meter when that is due, and kills when
 * a limit is passed. Nothing that the child does (stop itself, close its ends, flood them,
 * hold them open) can keep this loop from its deadline. */
#include "run.h"

#include "clock.h"
#include "fd.h"
#include "feature.h"
#include "streams.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "raw.h"

enum {
    POLL_PIDFD,
    POLL_OUTPUT,
    POLL_ERRORS,
    POLL_CHANNEL,
    POLL_LISTENER,
    POLL_CANCEL,
    POLLS
};

/* Nobody waits for what is over. Its teardown takes the processor longer than a small run does,
 * so a zygote's child of one thread, which waits for us, is left where it stands, and killed by
 * whoever clears up (pool_stock.c says when). Other threads would go on. */
static void
let_stand(struct csb_run *run)
{
    const struct csb_notify *notify = &run->notify;
    if (!notify->hold_end || notify->listener < 0 || notify->threads_made > 0 ||
        run->job->settle) {
        csb_process_kill(&run->child.process);
    }
    run->ended = true;
}

void
csb_run_stop(struct csb_run *run, enum csb_stop reason)
{
    if (run->report->facts.stop == CSB_STOP_NONE) {
        run->report->facts.stop = reason;
    }
    /* the last look was at its last reply, when there was one */
    if (reason != CSB_STOP_ANSWERED || run->report->reply_count == 0) {
        csb_meter_last_look(&run->meter);
    }
    if (reason == CSB_STOP_ANSWERED) {
        let_stand(run);
        return;
    }
    csb_process_kill(&run->child.process);
    run->ended = true;
}

void
csb_run_refuse(struct csb_run *run, int failure)
{
    run->failure = failure;
    csb_process_kill(&run->child.process);
    run->ended = true;
}

static void
fill_polls(const struct csb_run *run, struct pollfd *polls, int64_t now_ns)
{
    const struct csb_ends *ends = &run->child.ends;
    const struct csb_notify *notify = &run->notify;
    bool listen = notify->listener >= 0 && notify->resume_ns <= now_ns;
    for (unsigned i = 0; i < POLLS; i++) {
        polls[i].fd = CSB_FD_NONE; /* one that is not filled below is not looked at */
    }
    polls[POLL_PIDFD] = (struct pollfd){run->child.process.pidfd, POLLIN, 0};
    polls[POLL_OUTPUT] = (struct pollfd){ends->stdout_fd, POLLIN, 0};
    polls[POLL_ERRORS] = (struct pollfd){ends->stderr_fd, POLLIN, 0};
    polls[POLL_CHANNEL] = (struct pollfd){
        ends->channel_fd, run->ready ? csb_dialogue_events(&run->dialogue) : POLLIN, 0};
    polls[POLL_LISTENER] = (struct pollfd){listen ? notify->listener : -1, POLLIN, 0};
    polls[POLL_CANCEL] = (struct pollfd){run->job->cancel_fd, POLLIN, 0};
}

/* The next moment at which something has to be looked at without being woken. */
static int64_t
next_deadline_ns(const struct csb_run *run)
{
    const struct csb_limits *limits = run->job->limits;
    const struct csb_notify *notify = &run->notify;
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
wait_for_events(struct csb_run *run, struct pollfd *polls)
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
check_interrupt(struct csb_run *run, int64_t now_ns, bool signalled)
{
    const struct csb_job *job = run->job;
    if (!signalled && now_ns < run->interrupt_check_ns) {
        return;
    }
    run->interrupt_check_ns = now_ns + CSB_RUN_INTERRUPT_NS;
    if (job->interrupted != NULL && job->interrupted(job->interrupted_argument)) {
        csb_run_stop(run, CSB_STOP_INTERRUPT);
    }
}

static void
check_limits(struct csb_run *run, int64_t now_ns)
{
    enum csb_stop reason = csb_meter_look(&run->meter, now_ns);
    const struct csb_limits *limits = run->job->limits;
    if (reason != CSB_STOP_NONE) {
        csb_run_stop(run, reason);
    } else if (run->ready && now_ns >= run->meter.ready_ns + limits->wall_ns) {
        csb_run_stop(run, CSB_STOP_WALL);
    } else if (!run->ready && now_ns >= run->begun_ns + limits->startup_ns) {
        csb_run_refuse(run, csb_fail(run->reterr, CSB_STEP_STARTUP, ETIMEDOUT,
                                     "the interpreter was not ready within its time"));
    }
}

static void
pull_stream(struct csb_run *run, int *fd, struct csb_capture *capture)
{
    if (csb_stream_pull(fd, capture) < 0) {
        /* no memory for it: our fault, not the child's, whatever it has answered */
        run->report->facts.stop = CSB_STOP_INTERRUPT;
        csb_run_stop(run, CSB_STOP_INTERRUPT);
    } else if (csb_capture_truncated(capture)) {
        csb_run_stop(run, CSB_STOP_OUTPUT);
    }
}

void
csb_run_pull(struct csb_run *run)
{
    pull_stream(run, &run->child.ends.stdout_fd, &run->report->output);
    pull_stream(run, &run->child.ends.stderr_fd, &run->report->errors);
}

static void
serve_channel(struct csb_run *run, short events)
{
    if (events & POLLOUT && run->ready) {
        csb_dialogue_push(&run->dialogue);
    }
    if (events & (POLLIN | POLLHUP | POLLERR)) {
        csb_talk_hear(run);
    }
}

/* A zygote's child that asks to end is let wait: what it had to say is said. */
static void
serve_listener(struct csb_run *run, short events)
{
    struct csb_notify *notify = &run->notify;
    if (events & POLLIN) {
        bool denied = csb_notify_serve(notify, &run->meter.procfs, csb_clock_now_ns());
        csb_meter_hurry(&run->meter);
        if (denied && run->job->kill_on_violation) {
            csb_run_stop(run, CSB_STOP_VIOLATION);
        } else if (notify->end_seen && notify->hold_end) {
            csb_meter_last_clock(&run->meter);
            let_stand(run);
        }
    } else if (events & (POLLHUP | POLLERR)) {
        csb_fd_close(&notify->listener); /* nobody is left under the filter */
    }
}

static void
serve(struct csb_run *run, const struct pollfd *polls)
{
    if (polls[POLL_CHANNEL].revents != 0) {
        serve_channel(run, polls[POLL_CHANNEL].revents);
    }
    if (polls[POLL_OUTPUT].revents != 0) {
        pull_stream(run, &run->child.ends.stdout_fd, &run->report->output);
    }
    if (polls[POLL_ERRORS].revents != 0) {
        pull_stream(run, &run->child.ends.stderr_fd, &run->report->errors);
    }
    if (polls[POLL_LISTENER].revents != 0) {
        serve_listener(run, polls[POLL_LISTENER].revents);
    }
    if (polls[POLL_CANCEL].revents != 0) {
        csb_run_stop(run, CSB_STOP_INTERRUPT);
    }
    if (polls[POLL_PIDFD].revents != 0) {
        if (polls[POLL_CHANNEL].revents == 0 && run->child.ends.channel_fd >= 0) {
            csb_talk_hear(run); /* a record may have arrived together with the end */
        }
        run->ended = true;
    }
}

void
csb_run_loop(struct csb_run *run)
{
    struct pollfd polls[POLLS];
    while (!run->ended && !run->paused) {
        int count;
        bool signalled;
        int64_t now;
        if (run->dialogue.failed) {
            csb_run_stop(run, CSB_STOP_INTERRUPT);
            break;
        }
        count = wait_for_events(run, polls);
        signalled = count < 0 && errno == EINTR;
        if (count < 0 && !signalled) {
            csb_run_refuse(run, csb_fail(run->reterr, CSB_STEP_SUPERVISE, errno,
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

void
csb_run_report(struct csb_run *run, const struct csb_job *job, struct csb_report *ret)
{
    struct csb_capture *const captures[] = {&ret->output, &ret->errors};
    memset(ret, 0, sizeof *ret);
    run->job = job;
    run->report = ret;
    for (int i = 0; i < 2; i++) {
        csb_capture_init(captures[i], (size_t)job->limits->output_bytes);
        captures[i]->tap = job->tap;
        captures[i]->tap_argument = job->tap_argument;
        captures[i]->stream = i + 1;
    }
}

void
csb_run_watch_disk(struct csb_run *run, const struct csb_job *job)
{
    run->meter.disk = NULL;
    if (job->disk != NULL) {
        run->disk = *job->disk;
        run->disk.files_made =
            run->ready && run->notify.listener < 0 ? NULL : &run->notify.files_made;
        run->meter.disk = &run->disk;
    }
}

void
csb_run_init(struct csb_run *run, struct csb_start *start, const struct csb_job *job,
             struct csb_report *ret, struct csb_error *reterr)
{
    memset(run, 0, sizeof *run);
    run->child = *start;
    csb_start_init(start);
    run->reterr = reterr;
    run->begun_ns = csb_clock_now_ns();
    run->interrupt_check_ns = run->begun_ns + CSB_RUN_INTERRUPT_NS;
    csb_run_report(run, job, ret);
    csb_notify_init(&run->notify, job->sets, job->limits);
    run->notify.kill_on_denial = job->kill_on_violation;
    run->notify.hold_end = run->child.ready;
    run->notify.shared_listener = job->shared_listener;
    run->notify.own_pid = run->child.process.pid;
    csb_meter_open(&run->meter, run->child.process.pid, job->limits, &run->child.procfs,
                   &run->child.inherited);
    run->meter.shared_asked = &run->notify.shared_bytes;
    csb_run_watch_disk(run, job);
    csb_dialogue_init(&run->dialogue, &run->child.ends.channel_fd);
    if (run->child.ready) {
        csb_talk_begin(run);
    }
}

/* A report of a run that began, or the error of one that did not. */
int
csb_run_ended(struct csb_run *run)
{
    csb_run_finish(run);
    if (!run->ready && run->failure == 0) {
        run->failure = csb_fail(run->reterr, CSB_STEP_STARTUP, EPROTO,
                                "the interpreter ended before it was ready");
    }
    return run->failure;
}

static void
csb_run_done(struct csb_run *run)
{
    csb_meter_close(&run->meter);
    csb_dialogue_done(&run->dialogue);
    csb_notify_done(&run->notify);
    csb_start_discard(&run->child);
}

/* What is left of a spare is closed by whoever clears up, when nobody waits for it. */
static void
give_back(struct csb_run *run, struct csb_start *start)
{
    run->child.procfs = run->meter.procfs;
    run->meter.procfs = (struct csb_procfs){CSB_FD_NONE, CSB_FD_NONE};
    run->child.listener = run->notify.listener;
    run->notify.listener = CSB_FD_NONE;
    *start = run->child;
    csb_start_init(&run->child);
}

struct csb_run *
csb_run_start(struct csb_start *start, const struct csb_job *job,
              struct csb_report *ret, struct csb_error *reterr)
{
    struct csb_run *run = malloc(sizeof *run);
    if (run == NULL) {
        csb_start_discard(start);
        memset(ret, 0, sizeof *ret);
        (void)csb_fail(reterr, CSB_STEP_MEMORY, ENOMEM, "no memory for a run");
        return NULL;
    }
    csb_run_init(run, start, job, ret, reterr);
    return run;
}

int
csb_run_complete(struct csb_run *run, struct csb_start *start)
{
    int result;
    /* what the caller did meanwhile is not the submission's time */
    run->meter.ready_ns += run->ready ? csb_clock_now_ns() - run->begun_ns : 0;
    csb_run_loop(run);
    result = csb_run_ended(run);
    if (run->notify.hold_end) {
        give_back(run, start);
    }
    csb_run_close(run);
    return result;
}

int
csb_supervise(struct csb_start *start, const struct csb_job *job,
              struct csb_report *ret, struct csb_error *reterr)
{
    struct csb_run *run = csb_run_start(start, job, ret, reterr);
    return run == NULL ? -ENOMEM : csb_run_complete(run, start);
}

long
csb_run_signal(const struct csb_run *run, int number)
{
    return run->child.process.pidfd >= 0
               ? csb_syscall(SYS_pidfd_send_signal, run->child.process.pidfd, number, 0,
                             0)
               : 0;
}

void
csb_run_interrupt(const struct csb_run *run)
{
    (void)csb_run_signal(run, SIGINT); /* it has ended: nothing to interrupt */
}

pid_t
csb_run_pid(const struct csb_run *run)
{
    return run->child.process.pid;
}

void
csb_run_close(struct csb_run *run)
{
    if (run != NULL) {
        csb_run_done(run);
        free(run);
    }
}
