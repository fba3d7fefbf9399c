/* The state of one supervised run, shared by supervise.c (the loop), exchange.c (a child that
 * lives on), talk.c (what is said over the channel) and ending.c (how it ended). Private to
 * these. */
#ifndef CSB_RUN_H
#define CSB_RUN_H

#include "dialogue.h"
#include "supervise.h"

/* How often job->interrupted is asked without a signal. */
#define CSB_RUN_INTERRUPT_NS (100 * CSB_NS_PER_MS)

struct csb_run {
    struct csb_start child; /* process and ends, owned */
    const struct csb_job *job;
    struct csb_report *report;
    struct csb_error *reterr;
    struct csb_meter meter;
    struct csb_notify notify;
    struct csb_disk disk; /* of the job, when it has one */
    struct csb_dialogue dialogue;
    struct csb_wire_frame frame; /* header of the call, or answer, that is being sent */
    size_t calls_sent;
    int64_t begun_ns;
    int64_t interrupt_check_ns;
    uint32_t confirmed;
    unsigned char word; /* what is sent when the facts are known */
    bool ready;
    bool agreed;   /* the submission may be executing */
    bool asked;    /* facts were judged in this exchange */
    bool executed; /* it was executed: the child takes calls */
    bool ended;
    bool paused; /* a session's exchange is over, the child waits */
    int failure; /* -errno of a run that was not allowed to begin */
};

/* End the run for a reason (the first one counts) and kill the child. */
void csb_run_stop(struct csb_run *run, enum csb_stop reason);

/* End a run whose submission was not allowed to begin. */
void csb_run_refuse(struct csb_run *run, int failure);

/* Take what the child has written so far. */
void csb_run_pull(struct csb_run *run);

/* A new run of a child, which is taken out of *start; one that is ready is sent its submission. */
void csb_run_init(struct csb_run *run, struct csb_start *start,
                  const struct csb_job *job, struct csb_report *ret,
                  struct csb_error *reterr);

/* What belongs to one exchange: an empty report, the folder that is looked at. */
void csb_run_report(struct csb_run *run, const struct csb_job *job,
                    struct csb_report *ret);
void csb_run_watch_disk(struct csb_run *run, const struct csb_job *job);

/* Until the run has ended or waits for its next exchange. */
void csb_run_loop(struct csb_run *run);

/* A report of a run that began, or the error of one that did not. */
int csb_run_ended(struct csb_run *run);

/* A signal for the child, by its pidfd; 0 or -errno, ESRCH: it has ended. */
long csb_run_signal(const struct csb_run *run, int number);

/* talk.c: a child that is ready is sent its submission. */
void csb_talk_begin(struct csb_run *run);

/* A session's next exchange. */
void csb_talk_call(struct csb_run *run);

/* Something is to be heard on the channel. */
void csb_talk_hear(struct csb_run *run);

/* ending.c: wait for the death, take the figures, fill the report. */
void csb_run_finish(struct csb_run *run);

/* The figures that were read so far; the child may live on. */
void csb_run_take_figures(struct csb_run *run);

#endif
