/* The caller's hold on a zygote: start it, ask it for children, let it go.
 *
 * Owned by one thread, the one that started it: a zygote dies with that thread
 * (PR_SET_PDEATHSIG), so a process that is killed leaves none. No GIL. */
#ifndef CSB_ZYGOTE_H
#define CSB_ZYGOTE_H

#include "kit.h"

enum { CSB_ZYGOTE_TEXT_BYTES = 1024 };

struct csb_zygote {
    struct csb_process process;
    struct csb_exit ended;   /* after csb_zygote_kill: how */
    struct csb_scratch home; /* for what packages write when they are imported */
    int control_fd;
    int errors_fd; /* what it prints: why it could not start */
    char errors[CSB_ZYGOTE_TEXT_BYTES];
    size_t error_bytes;
    int64_t born_ns;
    uint64_t forks;
};

void csb_zygote_init(struct csb_zygote *zygote);

/* Returns when it was started; that it works shows with its first child. `preload`: modules
 * to import before the first fork. */
int csb_zygote_start(struct csb_zygote *zygote, const struct csb_policy *policy,
                     const struct csb_strings *preload,
                     struct csb_error *reterr) CSB_MUST_USE;

/* Ask for a child on the kit's descriptors; its status socket goes to ret->ends. A touched
 * one answers sooner and costs more in all, so only when nobody waits for it. With a filter
 * (a memfd, CSB_FD_NONE: none) it is one that may be branched. */
int csb_zygote_fork(struct csb_zygote *zygote, const struct csb_kit *kit, bool touch,
                    int filter_fd, struct csb_start *ret,
                    struct csb_error *reterr) CSB_MUST_USE;

/* Hand it over to another struct; the first is as after csb_zygote_init. */
void csb_zygote_move(struct csb_zygote *to, struct csb_zygote *from);

/* Keep what it has printed so far. */
void csb_zygote_listen(struct csb_zygote *zygote);

/* Why it failed to start, from its record and what it printed. */
void csb_zygote_explain(struct csb_zygote *zygote, struct csb_error *reterr);

/* No more children: it ends after those that it has. */
void csb_zygote_retire(struct csb_zygote *zygote);

/* Kill, with its children, reap and close. Safe on an initialised one. */
void csb_zygote_kill(struct csb_zygote *zygote);

#endif
