/* Theory of operation: runs in the caller's supervisor loop; reacts to what a child says.
 * Until its READY record the child is trusted; from the moment the source is sent nothing
 * that it says is believed: facts are judged by the guard, replies are bytes. */
#include "run.h"

#include "clock.h"
#include "fd.h"
#include "feature.h"
#include "handshake.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void
child_failed(struct csb_run *run, const struct csb_wire_record *record)
{
    enum csb_step step =
        record->step < CSB_STEP_COUNT ? (enum csb_step)record->step : CSB_STEP_STARTUP;
    if (step == CSB_STEP_EXEC && record->err == E2BIG) {
        csb_run_refuse(run, csb_fail(run->reterr, CSB_STEP_ARGUMENT, E2BIG,
                                     "env is too long: the kernel takes 128 KiB a "
                                     "variable and a quarter of the stack limit "
                                     "(ulimit -s) for all"));
        return;
    }
    csb_run_refuse(run, csb_fail(run->reterr, step, record->err,
                                 "the child could not %s: %s", csb_step_name(step),
                                 strerror(record->err)));
}

static uint32_t
missing_features(const struct csb_run *run, uint32_t expected)
{
    uint32_t missing = run->job->required & expected & ~run->confirmed;
    if (run->notify.listener < 0) {
        missing |= run->job->required & CSB_FEATURE_BIT(CSB_FEATURE_SECCOMP_NOTIFY);
    }
    return missing;
}

static bool
all_confirmed(struct csb_run *run, uint32_t expected)
{
    uint32_t missing = missing_features(run, expected);
    for (unsigned feature = 0; feature < CSB_FEATURE_COUNT; feature++) {
        if (missing & CSB_FEATURE_BIT(feature)) {
            csb_run_refuse(run,
                           csb_fail(run->reterr, CSB_STEP_CONFIRM, EOPNOTSUPP, "%s",
                                    csb_feature_name((enum csb_feature)feature)));
            return false;
        }
    }
    return true;
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

/* The limits of a spare are set after READY, so they are confirmed with the facts. */
void
csb_talk_begin(struct csb_run *run)
{
    const struct csb_job *job = run->job;
    const uint32_t later =
        run->child.ready ? CSB_FEATURE_BIT(CSB_FEATURE_RLIMITS) : UINT32_C(0);
    run->confirmed = run->child.mask | job->seen;
    run->notify.listener = run->child.listener;
    run->child.listener = CSB_FD_NONE;
    if (run->notify.listener < 0) {
        run->disk.files_made = NULL; /* nobody counts them */
    }
    if (!all_confirmed(run, ~later)) {
        return;
    }
    run->ready = true;
    csb_meter_start(&run->meter, csb_clock_now_ns());
    run->report->startup_ns =
        run->child.ready ? run->child.waited_ns : run->meter.ready_ns - run->begun_ns;
    csb_dialogue_expect(&run->dialogue, facts_limit(job->source.count));
    csb_dialogue_say(&run->dialogue, job->submission.bytes, job->submission.count);
    csb_dialogue_say(&run->dialogue, job->source.bytes, job->source.count);
}

/* Before READY: our own code speaks. */
static void
hear_start(struct csb_run *run)
{
    struct csb_wire_record record;
    int listener;
    ssize_t count =
        csb_handshake_receive(run->child.ends.channel_fd, &record, &listener);
    bool valid = count == (ssize_t)sizeof record && record.magic == CSB_WIRE_MAGIC;
    if (valid && record.kind == CSB_WIRE_READY) {
        run->child.mask = record.mask;
        run->child.listener = listener;
        csb_talk_begin(run);
        return;
    }
    csb_fd_close(&listener);
    if (valid && record.kind == CSB_WIRE_FAILED) {
        child_failed(run, &record);
    } else if (count >= 0 || errno != EAGAIN) {
        csb_run_refuse(run, csb_fail(run->reterr, CSB_STEP_STARTUP, EPROTO,
                                     "the interpreter ended before it was ready"));
    }
}

/* Ask for the second opinion. The time that we take is not the submission's. A list that can
 * not be taken whole is handed on as a broken one, which nobody agrees to. */
static bool
agrees(struct csb_run *run, bool complete)
{
    static const unsigned char broken[1] = {0};
    const struct csb_inbox *inbox = &run->dialogue.inbox;
    const struct csb_job *job = run->job;
    const int64_t asked_ns = csb_clock_now_ns();
    bool answer = complete;
    if (job->agrees != NULL) {
        answer = complete ? job->agrees(job->agrees_argument, inbox->bytes, inbox->got)
                          : job->agrees(job->agrees_argument, broken, sizeof broken);
    }
    run->meter.ready_ns += csb_clock_now_ns() - asked_ns;
    return answer && complete;
}

/* A refused cell leaves its session alive: nothing of it was executed. */
static void
hear_facts(struct csb_run *run, bool complete)
{
    bool good;
    run->asked = true;
    run->confirmed |= run->dialogue.inbox.header.mask;
    if (!run->executed && !all_confirmed(run, UINT32_MAX)) {
        return;
    }
    good = agrees(run, complete);
    if (!good && !(run->executed && complete)) {
        csb_run_stop(run, CSB_STOP_REFUSED);
        return;
    }
    if (!good) {
        run->report->facts.stop = CSB_STOP_REFUSED;
    }
    run->agreed = good || run->agreed;
    run->word = good ? CSB_WIRE_GO : CSB_WIRE_NO;
    csb_dialogue_say(&run->dialogue, &run->word, sizeof run->word);
    if (good && run->job->mode == CSB_MODE_SCRIPT && run->dialogue.feed_count == 0) {
        csb_dialogue_close(&run->dialogue); /* nobody listens any more */
        return;
    }
    csb_dialogue_expect(&run->dialogue, run->job->reply_bytes);
}

static bool
keep_reply(struct csb_run *run)
{
    struct csb_report *report = run->report;
    struct csb_inbox *inbox = &run->dialogue.inbox;
    struct csb_reply *grown =
        realloc(report->replies, (report->reply_count + 1) * sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    csb_meter_last_look(&run->meter);
    report->replies = grown;
    grown[report->reply_count++] =
        (struct csb_reply){.bytes = inbox->bytes,
                           .count = inbox->got,
                           .cpu_ns = run->meter.cpu_ns,
                           .wall_ns = csb_clock_now_ns() - run->meter.ready_ns};
    inbox->bytes = NULL;
    return true;
}

void
csb_talk_call(struct csb_run *run)
{
    const struct csb_job *job = run->job;
    const struct csb_bytes *call = &job->calls[run->calls_sent++];
    bool cell = job->call_kind == CSB_FRAME_CELL;
    run->asked = false;
    run->frame = (struct csb_wire_frame){.length = call->count, .kind = job->call_kind};
    csb_dialogue_expect(&run->dialogue,
                        cell ? facts_limit(call->count) : job->reply_bytes);
    csb_dialogue_say(&run->dialogue, &run->frame, sizeof run->frame);
    csb_dialogue_say(&run->dialogue, call->bytes, call->count);
}

static void
hear_reply(struct csb_run *run)
{
    bool first = !run->executed;
    run->executed = true;
    if (!first && !keep_reply(run)) {
        csb_run_stop(run, CSB_STOP_INTERRUPT); /* no memory: our fault */
    } else if (run->calls_sent < run->job->call_count) {
        csb_talk_call(run);
    } else if (run->job->mode == CSB_MODE_SESSION) {
        run->paused = true;
        if (run->report->facts.stop == CSB_STOP_NONE) {
            run->report->facts.stop = CSB_STOP_ANSWERED;
        }
    } else {
        csb_run_stop(run, CSB_STOP_ANSWERED);
    }
}

/* What the child wrote before it asked comes first; it stands still, so that the time that
 * an answer takes is not its own. */
static void
hear_question(struct csb_run *run)
{
    const struct csb_job *job = run->job;
    const struct csb_inbox *inbox = &run->dialogue.inbox;
    const int64_t asked_ns = csb_clock_now_ns();
    struct csb_bytes answer = {NULL, 0};
    bool answered = false;
    (void)csb_run_signal(run, SIGSTOP); /* it has ended: which is heard next */
    csb_run_pull(run);
    if (job->ask != NULL && !run->ended) {
        answered = job->ask(job->ask_argument, inbox->bytes, inbox->got, &answer);
    }
    run->meter.ready_ns += csb_clock_now_ns() - asked_ns;
    run->frame = (struct csb_wire_frame){
        .length = answered ? answer.count : 0,
        .kind = answered ? CSB_FRAME_ANSWER : CSB_FRAME_NO_ANSWER,
    };
    csb_dialogue_expect(&run->dialogue, job->reply_bytes);
    csb_dialogue_say(&run->dialogue, &run->frame, sizeof run->frame);
    if (answered) {
        csb_dialogue_say(&run->dialogue, answer.bytes, answer.count);
    }
    (void)csb_run_signal(run, SIGCONT); /* likewise */
}

static void
hear_frame(struct csb_run *run, bool complete)
{
    uint32_t kind = run->dialogue.inbox.header.kind;
    bool cell = run->executed && run->job->call_kind == CSB_FRAME_CELL;
    bool session = run->job->mode == CSB_MODE_SESSION && run->executed;
    /* Who speaks before all was sent to it has not read it: our own code in the child never
     * does. What is unsent is the caller's only until the exchange is over. */
    bool unread = run->dialogue.feed_count > 0;
    if (kind == CSB_FRAME_FACTS && !run->asked && (!run->agreed || cell)) {
        hear_facts(run, complete);
    } else if (kind == CSB_FRAME_BROKEN && !run->asked && !run->agreed) {
        run->confirmed |= run->dialogue.inbox.header.mask;
        csb_dialogue_close(&run->dialogue); /* it goes on to say why, and ends */
    } else if (kind == CSB_FRAME_REPLY && complete && !unread &&
               run->job->mode != CSB_MODE_SCRIPT && run->agreed) {
        hear_reply(run);
    } else if (kind == CSB_FRAME_ASK && complete && !unread && session) {
        hear_question(run);
    } else if (run->agreed && run->job->mode == CSB_MODE_SCRIPT) {
        csb_dialogue_close(&run->dialogue); /* nobody listens any more */
    } else {
        csb_run_stop(run, CSB_STOP_GARBAGE);
    }
}

/* A child that can not compile the source closes the channel and says so on stderr. */
void
csb_talk_hear(struct csb_run *run)
{
    if (!run->ready) {
        hear_start(run);
        return;
    }
    switch (csb_dialogue_hear(&run->dialogue)) {
    case CSB_INBOX_MORE:
        break;
    case CSB_INBOX_COMPLETE:
        hear_frame(run, true);
        break;
    case CSB_INBOX_TOO_LONG:
        hear_frame(run, false);
        break;
    case CSB_INBOX_CLOSED:
        csb_dialogue_close(&run->dialogue);
        break;
    default:
        if (run->agreed && run->job->mode == CSB_MODE_SCRIPT) {
            csb_dialogue_close(&run->dialogue);
        } else {
            csb_run_stop(run,
                         CSB_STOP_INTERRUPT); /* no memory, or the socket: our fault */
        }
    }
}
