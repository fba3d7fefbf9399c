/* Time and memory of one child, measured from outside, and when to look again.
 *
 * Looking is cheap but not free, so the meter says when the next look is due: never later
 * than a limit could be passed (every core busy), less and less often for a child that
 * sleeps. One thread at a time; no GIL. */
#ifndef CSB_METER_H
#define CSB_METER_H

#include "disk.h"
#include "outcome.h"
#include "procfs.h"

struct csb_meter {
    const struct csb_limits *limits; /* borrowed */
    pid_t pid;
    struct csb_procfs procfs; /* owned */
    struct csb_disk *disk;    /* borrowed; NULL: not looked at */
    /* shared memory ever asked for; borrowed; may be NULL */
    const uint64_t *shared_asked;
    int64_t ready_ns;        /* when the submission was allowed to begin */
    int64_t cpu_at_ready_ns; /* start-up, not the submission's */
    int64_t cpu_ns;          /* at the last look, submission only */
    int64_t next_ns;         /* the next look is due */
    int64_t pause_ns;
    struct csb_memory inherited; /* of a zygote: not the submission's */
    uint64_t private_bytes;      /* highest seen, what was inherited not counted */
    uint64_t peak_bytes;         /* highest resident size seen, the same */
};

/* Takes the descriptors of *procfs when they are open, else opens its own. */
void csb_meter_open(struct csb_meter *meter, pid_t pid, const struct csb_limits *limits,
                    struct csb_procfs *procfs, const struct csb_memory *inherited);
void csb_meter_close(struct csb_meter *meter);

/* The submission may begin now: everything used so far was start-up. */
void csb_meter_start(struct csb_meter *meter, int64_t now_ns);

/* A session's next cell: its time begins now, under other limits. */
void csb_meter_restart(struct csb_meter *meter, const struct csb_limits *limits,
                       int64_t now_ns);

/* Look; says which limit has been passed. Before csb_meter_start: CSB_STOP_NONE. */
enum csb_stop csb_meter_look(struct csb_meter *meter, int64_t now_ns);

/* Something was made in the scratch folder: the next look may be due earlier. */
void csb_meter_hurry(struct csb_meter *meter);

/* The process is gone: what it left on the disk counts, also when it ended by itself. */
void csb_meter_end(struct csb_meter *meter, struct csb_facts *facts);

/* Exact figures, for the moment before a child is killed. Harmless when it has ended. */
void csb_meter_last_look(struct csb_meter *meter);

/* The CPU time alone; the same moment. */
void csb_meter_last_clock(struct csb_meter *meter);

/* Figures that somebody else has read. */
void csb_meter_add(struct csb_meter *meter, const struct csb_memory *memory);

#endif
