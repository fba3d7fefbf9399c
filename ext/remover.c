/* Theory of operation: in the caller, after the child is dead; what is removed is hostile, how
 * that is done is scratch.c's. The count of threads and the process that it is true of are one
 * word, so that a forked copy, in which none of them is left, needs no lock of theirs. */
#include "remover.h"

#include "detached.h"
#include "fd.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define PID_SHIFT 32

struct csb_remover {
    _Atomic(uint64_t) working; /* pid << 32 | threads */
    atomic_uint references;
};

struct work {
    struct csb_remover *remover;
    struct csb_scratch scratch;
};

struct csb_remover *
csb_remover_new(void)
{
    struct csb_remover *remover = calloc(1, sizeof *remover);
    return remover == NULL ? NULL : csb_remover_keep(remover);
}

struct csb_remover *
csb_remover_keep(struct csb_remover *remover)
{
    if (remover != NULL) {
        (void)atomic_fetch_add(&remover->references, 1);
    }
    return remover;
}

void
csb_remover_drop(struct csb_remover *remover)
{
    if (remover != NULL && atomic_fetch_sub(&remover->references, 1) == 1) {
        free(remover);
    }
}

static unsigned
threads_of(uint64_t working, uint64_t process)
{
    return working >> PID_SHIFT == process ? (unsigned)(working & UINT32_MAX) : 0;
}

unsigned
csb_remover_busy(const struct csb_remover *remover)
{
    return threads_of(atomic_load(&remover->working), (uint64_t)getpid());
}

/* A thread's place, if there is one. */
static bool
begin(struct csb_remover *remover)
{
    const uint64_t process = (uint64_t)getpid();
    uint64_t working = atomic_load(&remover->working);
    unsigned threads;
    do {
        threads = threads_of(working, process);
        if (threads >= CSB_REMOVERS_MAX) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(&remover->working, &working,
                                           process << PID_SHIFT | (threads + 1)));
    return true;
}

static void
work_done(struct work *work)
{
    (void)atomic_fetch_sub(&work->remover->working, 1);
    csb_remover_drop(work->remover);
    free(work);
}

static void *
remove_in_thread(void *argument)
{
    struct work *work = argument;
    csb_scratch_remove(&work->scratch);
    work_done(work);
    return NULL;
}

void
csb_remover_take(struct csb_remover *remover, struct csb_scratch *scratch)
{
    struct work *work = NULL;
    if (scratch->name != NULL && remover != NULL && begin(remover)) {
        work = malloc(sizeof *work);
        if (work == NULL) {
            (void)atomic_fetch_sub(&remover->working, 1);
        }
    }
    if (work != NULL) {
        work->remover = csb_remover_keep(remover);
        csb_scratch_move(&work->scratch, scratch);
        if (csb_detached_start(remove_in_thread, work) < 0) {
            csb_scratch_move(scratch, &work->scratch);
            work_done(work);
        }
    }
    csb_scratch_remove(scratch); /* of one that a thread has, nothing is left here */
}
