/* Drive one child from its start to its end, and say everything that was seen.
 *
 * Blocks without the GIL, from any thread, with no signal handler and no other thread. It
 * returns by the wall limit plus a fraction of a second whatever the child does. On return
 * the child is dead (and reaped, or handed to a reaper when the kernel needs longer), and
 * every descriptor of the run is closed; only a session lives on between its cells. */
#ifndef CSB_SUPERVISE_H
#define CSB_SUPERVISE_H

#include "capture.h"
#include "disk.h"
#include "meter.h"
#include "notify.h"
#include "outcome.h"
#include "spawn.h"

struct csb_bytes {
    const unsigned char *bytes;
    size_t count;
};

/* What the caller wants of the run; everything is borrowed. */
struct csb_job {
    const struct csb_limits *limits;
    uint32_t required; /* feature bits that must be confirmed */
    uint32_t seen;     /* feature bits that the caller itself saw in force */
    uint32_t sets;     /* system call sets of the policy */
    bool kill_on_violation;
    bool shared_listener; /* the child may be branched (notify.h) */
    enum csb_wire_mode mode;
    struct csb_bytes submission; /* submission.h */
    struct csb_bytes source;
    const struct csb_disk *disk; /* of the run's scratch folder; NULL: not looked at */
    /* Frames that are sent one by one, each when the reply to the one before has come; the
     * run ends with the last reply. A session has one call an exchange. */
    const struct csb_bytes *calls;
    size_t call_count;
    enum csb_wire_frame_kind call_kind;
    size_t reply_bytes; /* the longest reply that is taken */
    /* The second opinion: may the program that CPython compiled (facts.h) be executed? Asked
     * once, in the thread of the run. NULL: yes. */
    bool (*agrees)(void *argument, const unsigned char *facts, size_t count);
    void *agrees_argument;
    /* Asked now and then and after a signal; true ends the run (CSB_STOP_INTERRUPT). May be
     * NULL. */
    bool (*interrupted)(void *argument);
    void *interrupted_argument;
    /* the child must be dead on return, not only ended: its files are read */
    bool settle;
    int cancel_fd; /* readable: end the run (CSB_STOP_INTERRUPT); CSB_FD_NONE: never */
    /* Told of output as it arrives, in the thread of the run; stream 1 or 2. May be NULL. */
    void (*tap)(void *argument, int stream, const unsigned char *bytes, size_t count);
    void *tap_argument;
    /* Answers what a session's child asks while a frame is carried out, in the thread of the
     * run; may take its time, the child stands still. False: there is no answer. *ret stays
     * as it is until the next question or the end of the exchange. NULL: nobody answers. */
    bool (*ask)(void *argument, const unsigned char *bytes, size_t count,
                struct csb_bytes *ret);
    void *ask_argument;
};

/* The caller's ends. */
struct csb_ends {
    int stdout_fd;
    int stderr_fd;
    int channel_fd;
    int status_fd; /* where a zygote says how the child ended; CSB_FD_NONE: it is ours */
};

/* A child that was started: it will say READY, or has done so (a spare). Given to the run,
 * which owns it from the call on. */
struct csb_start {
    struct csb_process process;
    struct csb_ends ends;
    struct csb_procfs procfs;
    bool ready;                  /* the next three are known */
    uint32_t mask;               /* feature bits confirmed, rlimits later */
    int listener;                /* CSB_FD_NONE without one */
    struct csb_memory inherited; /* what it had of its zygote's memory */
    int64_t waited_ns;           /* for this spare */
};

/* Everything closed and unknown. */
void csb_start_init(struct csb_start *start);

/* Kill, close, forget. For a child that no run will have. */
void csb_start_discard(struct csb_start *start);

struct csb_reply {
    unsigned char *bytes; /* owned */
    size_t count;
    int64_t cpu_ns;  /* of the run when it came */
    int64_t wall_ns; /* the same */
};

struct csb_report {
    struct csb_facts facts;
    uint32_t confirmed; /* feature bits, by the child before untrusted code */
    struct csb_capture output;
    struct csb_capture errors;
    int64_t startup_ns;
    uint64_t peak_bytes;
    struct csb_notify notify;  /* violations; its listener is closed */
    struct csb_reply *replies; /* owned */
    size_t reply_count;
};

void csb_report_done(struct csb_report *report);

/* Returns 0 when the submission was allowed to begin (*ret then says how it ended), or
 * -errno with *reterr when it was not: a failed step in the child (FAILED record), a
 * required feature that was not confirmed (step CSB_STEP_CONFIRM, reterr->message names
 * it), start-up longer than its limit. *ret must be released in every case. What is left of
 * a spare is given back in *start, dead or dying: csb_start_discard closes it. */
int csb_supervise(struct csb_start *start, const struct csb_job *job,
                  struct csb_report *ret, struct csb_error *reterr) CSB_MUST_USE;

/* The same in two steps. A child that is ready reads and compiles its source between them; it
 * does not go on before the second. csb_run_start: NULL without memory, *start is then
 * discarded. What both are given must stay until csb_run_complete has returned; that, or
 * csb_run_close (the child is killed), releases the run. */
struct csb_run;
struct csb_run *csb_run_start(struct csb_start *start, const struct csb_job *job,
                              struct csb_report *ret, struct csb_error *reterr);
int csb_run_complete(struct csb_run *run, struct csb_start *start) CSB_MUST_USE;

/* The same in steps, for a child that lives on between exchanges (CSB_MODE_SESSION). */
/* Execute the source; on success the child waits for its first cell and *ret_run is the
 * caller's. A child that ended instead is reported, *ret_run is then NULL. */
int csb_run_open(struct csb_start *start, const struct csb_job *job,
                 struct csb_run **ret_run, struct csb_report *ret,
                 struct csb_error *reterr) CSB_MUST_USE;

/* Send job->calls[0] and supervise until its reply or the end of the child. Returns whether
 * the child lives on. */
bool csb_run_exchange(struct csb_run *run, const struct csb_job *job,
                      struct csb_report *ret) CSB_MUST_USE;

/* A run of a process that was branched off that of `of` (branch.h) and waits in its first call:
 * answered, it says that it is there, and waits for a cell. *start is taken. */
int csb_run_branched(const struct csb_run *of, struct csb_start *start,
                     const struct csb_job *job, struct csb_run **ret_run,
                     struct csb_error *reterr) CSB_MUST_USE;

/* SIGINT to the child: KeyboardInterrupt in the cell. From any thread while the run is
 * open. */
void csb_run_interrupt(const struct csb_run *run);

/* Outer pid of the child. */
pid_t csb_run_pid(const struct csb_run *run);

/* Kill and release; NULL is harmless. */
void csb_run_close(struct csb_run *run);

#endif
