/* Theory of operation: in the keeper's thread. How many spares are made now: making one takes the
 * processors longer than a small run does. */
#include "pool_state.h"

#include "clock.h"

/* A grading takes its next spare sooner; who comes back later finds them all. */
#define REST_NS (3 * CSB_NS_PER_MS)

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

/* As many are made at once whatever else goes on. */
static unsigned
low_water(const struct csb_pool *pool)
{
    const struct csb_pool_options *options = &pool->options;
    const unsigned busy =
        2 * (options->workers < options->processors ? options->workers
                                                    : options->processors);
    return busy < options->spares ? busy : options->spares;
}

/* How many are to be ready: all of them when nobody takes any, so that a burst of runs does not
 * share the processors with the making of what comes after it. The lock is held. */
static unsigned
stock(struct csb_pool *pool, unsigned ready, int64_t now_ns)
{
    const int64_t rest_ns = pool->taken_ns + REST_NS;
    pool->rest_ns = 0;
    if (now_ns >= rest_ns || ready >= pool->options.spares) {
        return pool->options.spares;
    }
    pool->rest_ns = rest_ns;
    return low_water(pool);
}

unsigned
csb_pool_wanted(struct csb_pool *pool, int64_t now_ns)
{
    const unsigned ready = current_ready(pool);
    const unsigned wanted = stock(pool, ready, now_ns);
    return wanted > ready ? wanted - ready : 0;
}
