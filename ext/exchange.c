/* Theory of operation: in the caller, for a child that lives on between exchanges: a session, or
 * a branch of one. Each exchange is driven by the loop of supervise.c and believes nothing that
 * the child says; between two of them the child is stopped. */
#include "run.h"

#include "clock.h"
#include "fd.h"
#include "feature.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* The exchange is over and the child, which nobody has killed meanwhile, can have another one. */
static bool
lives_on(struct csb_run *run)
{
    if (!run->paused || run->ended) {
        return false;
    }
    csb_meter_last_look(&run->meter);
    csb_run_take_figures(run);
    if (run->report->facts.stop == CSB_STOP_INTERRUPT) {
        csb_run_stop(run, CSB_STOP_INTERRUPT); /* no memory for its output */
        return false;
    }
    /* no thread of it works between exchanges; when it ended meanwhile, the next one tells */
    (void)csb_run_signal(run, SIGSTOP);
    return true;
}

int
csb_run_open(struct csb_start *start, const struct csb_job *job,
             struct csb_run **ret_run, struct csb_report *ret, struct csb_error *reterr)
{
    struct csb_run *run = malloc(sizeof *run);
    int result = 0;
    *ret_run = NULL;
    if (run == NULL) {
        csb_start_discard(start);
        memset(ret, 0, sizeof *ret);
        return csb_fail(reterr, CSB_STEP_MEMORY, ENOMEM, "no memory for a session");
    }
    csb_run_init(run, start, job, ret, reterr);
    csb_run_loop(run);
    if (lives_on(run)) {
        *ret_run = run;
        return 0;
    }
    result = csb_run_ended(run);
    csb_run_close(run);
    return result;
}

bool
csb_run_exchange(struct csb_run *run, const struct csb_job *job, struct csb_report *ret)
{
    struct csb_error error;
    long result;
    csb_run_report(run, job, ret);
    run->reterr = &error; /* a step that fails now is the end of a session, no set-up */
    run->paused = false;
    run->calls_sent = 0;
    run->notify.threads_allowed = job->limits->threads;
    csb_run_watch_disk(run, job);
    csb_meter_restart(&run->meter, job->limits, csb_clock_now_ns());
    run->interrupt_check_ns = run->meter.ready_ns + CSB_RUN_INTERRUPT_NS;
    csb_talk_call(run);
    result = csb_run_signal(run, SIGCONT);
    if (result < 0 && result != -ESRCH) { /* ESRCH: it is dead, which is heard below */
        csb_run_stop(run, CSB_STOP_INTERRUPT);
    }
    csb_run_loop(run);
    if (lives_on(run)) {
        return true;
    }
    csb_run_finish(run);
    return false;
}

/* What is known of the original holds for it, too: rights are inherited, figures are copied. */
static int
take_over(struct csb_run *run, const struct csb_run *of)
{
    int listener = fcntl(of->notify.listener, F_DUPFD_CLOEXEC, (int)CSB_FD_MIN);
    if (listener < 0) {
        return -errno; /* nobody would hear what it asks for, its end included */
    }
    run->child.ready = run->ready = run->agreed = run->executed = true;
    run->child.mask = of->child.mask;
    run->confirmed =
        (of->confirmed & ~CSB_FEATURE_BIT(CSB_FEATURE_CGROUP)) | run->job->seen;
    run->notify = of->notify;
    run->notify.listener = listener;
    run->notify.own_pid = run->child.process.pid;
    return 0;
}

int
csb_run_branched(const struct csb_run *of, struct csb_start *start,
                 const struct csb_job *job, struct csb_run **ret_run,
                 struct csb_error *reterr)
{
    struct csb_run *run = malloc(sizeof *run);
    struct csb_report report;
    int result;
    *ret_run = NULL;
    if (run == NULL) {
        return csb_fail(reterr, CSB_STEP_MEMORY, ENOMEM, "no memory for a session");
    }
    start->inherited = of->meter.inherited;
    csb_run_init(run, start, job, &report, reterr);
    result = take_over(run, of);
    csb_meter_restart(&run->meter, job->limits, csb_clock_now_ns());
    csb_dialogue_expect(&run->dialogue, job->reply_bytes);
    if (result == 0 &&
        csb_notify_answer(&run->notify, of->notify.order.notification, 0) == 0) {
        csb_run_loop(run);
    }
    csb_report_done(&report);
    run->notify.order.state = CSB_ORDER_NONE;
    if (!run->paused) {
        csb_run_close(run);
        return result < 0 ? csb_fail(reterr, CSB_STEP_FDS, -result,
                                     "no descriptor to hear a branch by")
                          : csb_fail(reterr, CSB_STEP_CLONE, ECHILD,
                                     "the branch ended at once");
    }
    (void)csb_run_signal(run, SIGSTOP); /* it has ended: the next exchange tells */
    *ret_run = run;
    return 0;
}
