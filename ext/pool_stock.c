/* Theory of operation: asked by the keeper, and by callers whether it is to be woken; all with the
 * lock held. What is done now and what when nobody takes spares: making one, and clearing up
 * behind one, takes the processors longer than a small run does. */
#include "pool_state.h"

#include "clock.h"

/* A grading takes its next spare sooner; who comes back later finds them all. */
#define REST_NS (3 * CSB_NS_PER_MS)

/* Children of runs that are over, left standing: each holds some megabytes and descriptors. */
enum { STANDING_MAX = 16 };

/* Ready, of the zygote that is now. The lock is held. */
static unsigned
current_ready(const struct csb_pool *pool)
{
    unsigned count = 0;
    for (const struct csb_spare *spare = pool->ready; spare != NULL;
         spare = spare->next) {
        count += spare->generation == pool->generation;
    }
    return count;
}

/* As many are made at once whatever else goes on: what the processors are busy with. */
static unsigned
low_water(const struct csb_pool *pool)
{
    const struct csb_pool_options *options = &pool->options;
    const unsigned busy =
        options->workers < options->processors ? options->workers : options->processors;
    return busy < options->spares ? busy : options->spares;
}

/* Until then no work is done that could be done later, so that a burst of runs does not share the
 * processors with it. 0: it can be done now. */
static int64_t
rest_begins_ns(const struct csb_pool *pool, int64_t now_ns)
{
    const int64_t rest_ns = pool->taken_ns + REST_NS;
    return now_ns >= rest_ns || pool->closing ? 0 : rest_ns;
}

static unsigned
standing_max(const struct csb_pool *pool)
{
    return pool->options.spares < STANDING_MAX ? pool->options.spares : STANDING_MAX;
}

unsigned
csb_pool_wanted(struct csb_pool *pool, int64_t now_ns)
{
    const int64_t rest_ns = rest_begins_ns(pool, now_ns);
    const unsigned ready = current_ready(pool);
    const unsigned wanted = rest_ns == 0 ? pool->options.spares : low_water(pool);
    if (ready < pool->options.spares) {
        pool->rest_ns = rest_ns;
    }
    return wanted > ready ? wanted - ready : 0;
}

/* Touching takes the processor longer than it saves the run: it pays where a caller would wait
 * for it, and not where runs are as many as the processors can make spares for. Then the stock
 * is low. */
bool
csb_pool_at_leisure(const struct csb_pool *pool, int64_t now_ns)
{
    const unsigned there = current_ready(pool) + pool->pending_count;
    return pool->waiting == 0 &&
           (rest_begins_ns(pool, now_ns) == 0 || there + 1 >= pool->options.spares);
}

bool
csb_pool_to_clear(struct csb_pool *pool, int64_t now_ns)
{
    const int64_t rest_ns = rest_begins_ns(pool, now_ns);
    if (rest_ns == 0 || pool->used_count > standing_max(pool)) {
        pool->rest_ns = 0;
        return true;
    }
    pool->rest_ns = pool->used == NULL ? 0 : rest_ns;
    return false;
}

bool
csb_pool_is_low(const struct csb_pool *pool)
{
    return pool->ready_count < low_water(pool);
}

bool
csb_pool_is_urgent(const struct csb_pool *pool)
{
    return pool->rest_ns == 0 || csb_pool_is_low(pool) ||
           pool->used_count > standing_max(pool);
}
