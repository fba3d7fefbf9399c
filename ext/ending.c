/* Theory of operation: runs in the caller when a run is over: waits for the death of the
 * child within a bound, reads what is left in the pipes, and gathers the figures that the
 * verdict is made of. Trusts the kernel and a zygote's word about its child. */
#include "run.h"

#include "clock.h"
#include "fd.h"
#include "handshake.h"

#include <stdlib.h>
#include <string.h>

#define REAP_NS (150 * CSB_NS_PER_MS)

void
csb_report_done(struct csb_report *report)
{
    csb_capture_done(&report->output);
    csb_capture_done(&report->errors);
    for (size_t i = 0; i < report->reply_count; i++) {
        free(report->replies[i].bytes);
    }
    free(report->replies);
    report->replies = NULL;
    report->reply_count = 0;
}

void
csb_start_init(struct csb_start *start)
{
    *start = (struct csb_start){
        .process = {-1, CSB_FD_NONE},
        .ends = {CSB_FD_NONE, CSB_FD_NONE, CSB_FD_NONE, CSB_FD_NONE},
        .procfs = {CSB_FD_NONE, CSB_FD_NONE},
        .listener = CSB_FD_NONE,
    };
}

/* A zygote's child is reaped by its zygote; one of ours by us, later if need be. */
void
csb_start_discard(struct csb_start *start)
{
    struct csb_exit ended;
    csb_process_kill(&start->process);
    if (start->process.pidfd >= 0 && start->ends.status_fd < 0 &&
        !csb_process_reap(&start->process, REAP_NS, &ended)) {
        csb_process_abandon(&start->process);
    }
    csb_fd_close(&start->process.pidfd);
    csb_fd_close(&start->ends.stdout_fd);
    csb_fd_close(&start->ends.stderr_fd);
    csb_fd_close(&start->ends.channel_fd);
    csb_fd_close(&start->ends.status_fd);
    csb_fd_close(&start->listener);
    csb_procfs_close(&start->procfs);
}

/* The report stands on its own: its notify holds figures, no descriptor. */
static void
copy_violations(struct csb_run *run)
{
    run->report->notify = run->notify;
    run->report->notify.listener = CSB_FD_NONE;
}

void
csb_run_take_figures(struct csb_run *run)
{
    struct csb_report *report = run->report;
    struct csb_facts *facts = &report->facts;
    const struct csb_memory *last = &run->notify.memory_at_end;
    csb_meter_add(&run->meter, last);
    facts->cpu_ns = run->meter.cpu_ns;
    facts->wall_ns = run->ready ? csb_clock_now_ns() - run->meter.ready_ns : 0;
    facts->memory_bytes = run->meter.private_bytes;
    report->peak_bytes = run->meter.peak_bytes;
    facts->threads_denied = run->notify.threads_denied;
    facts->files_denied = run->notify.files_denied;
    facts->disk_denied = run->notify.disk_denied;
    facts->begun = run->agreed;
    facts->end = run->notify.end;
    if (run->agreed && facts->end == CSB_END_COMPILE_ERROR) {
        facts->end = CSB_END_OTHER; /* it did compile: a lie */
    }
    if (csb_stream_pull(&run->child.ends.stdout_fd, &report->output) < 0 ||
        csb_stream_pull(&run->child.ends.stderr_fd, &report->errors) < 0) {
        facts->stop = CSB_STOP_INTERRUPT;
    }
    facts->output_over = csb_capture_truncated(&report->output) ||
                         csb_capture_truncated(&report->errors);
    report->confirmed = run->confirmed;
    copy_violations(run);
}

static void
take_exit(struct csb_run *run, const struct csb_exit *ended)
{
    struct csb_facts *facts = &run->report->facts;
    const struct timeval *user = &ended->usage.ru_utime;
    const struct timeval *system = &ended->usage.ru_stime;
    int64_t used = ((int64_t)user->tv_sec + system->tv_sec) * CSB_NS_PER_S +
                   ((int64_t)user->tv_usec + system->tv_usec) * 1000 -
                   run->meter.cpu_at_ready_ns;
    facts->exit_known = ended->known;
    facts->exit_code = ended->exit_code;
    facts->signal = ended->signal;
    if (!ended->known && run->notify.end_seen) {
        facts->exit_known = true; /* its last call told us */
        facts->exit_code = run->notify.exit_code;
    }
    if (ended->known && used > facts->cpu_ns) {
        facts->cpu_ns = used;
    }
}

/* How the child ended. One of a zygote that has been heard to exit, or that was killed because it
 * has answered all, needs no waiting. */
static struct csb_exit
wait_for_exit(struct csb_run *run)
{
    struct csb_start *child = &run->child;
    struct csb_exit ended = {.known = false, .exit_code = -1};
    if (child->ends.status_fd >= 0) {
        if ((!run->notify.end_seen && run->report->facts.stop != CSB_STOP_ANSWERED) ||
            run->job->settle) {
            csb_handshake_exit(child->ends.status_fd, REAP_NS, &ended);
        }
        if (run->notify.end_seen) {
            /* it was killed where it ended: its own word counts */
            ended = (struct csb_exit){.known = false, .exit_code = -1};
        }
    } else if (!csb_process_reap(&child->process, REAP_NS, &ended)) {
        csb_process_abandon(&child->process);
    }
    return ended;
}

void
csb_run_finish(struct csb_run *run)
{
    struct csb_report *report = run->report;
    struct csb_exit ended;
    int64_t end_ns = csb_clock_now_ns();
    ended = wait_for_exit(run);
    if (csb_stream_drain(&run->child.ends.stdout_fd, &report->output) < 0 ||
        csb_stream_drain(&run->child.ends.stderr_fd, &report->errors) < 0) {
        report->facts.stop = CSB_STOP_INTERRUPT;
    }
    csb_run_take_figures(run);
    report->facts.wall_ns = run->ready ? end_ns - run->meter.ready_ns : 0;
    report->facts.unanswered = run->job->mode != CSB_MODE_SCRIPT;
    take_exit(run, &ended);
    csb_meter_end(&run->meter, &report->facts);
}
