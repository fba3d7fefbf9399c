/* Theory of operation: unit test of what a pool's keeper does at once and what it leaves until
 * nobody takes spares. Two processors, eight places, twelve spares; times are given. */
#include "pool_state.h"

#include "clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SPARES = 12, LOW = 2 };

#define TAKEN_NS (100 * CSB_NS_PER_S)
#define AT_ONCE_NS (TAKEN_NS + CSB_NS_PER_MS)
#define AT_REST_NS (TAKEN_NS + 10 * CSB_NS_PER_MS)

struct stock {
    struct csb_pool pool;
    struct csb_spare spares[SPARES];
};

static void
fill(struct stock *stock, unsigned ready, unsigned used)
{
    *stock = (struct stock){
        .pool = {.options = {.workers = 8, .spares = SPARES, .processors = 2},
                 .generation = 1,
                 .ready_count = ready,
                 .used_count = used,
                 .taken_ns = TAKEN_NS}};
    for (unsigned i = 0; i < ready; i++) {
        stock->spares[i].generation = 1;
        stock->spares[i].next = stock->pool.ready;
        stock->pool.ready = &stock->spares[i];
    }
    stock->pool.used = used > 0 ? &stock->spares[SPARES - 1] : NULL;
}

static void
makes_all_of_them_at_rest_only(void **state)
{
    struct stock stock;
    (void)state;
    fill(&stock, 6, 0);
    assert_int_equal(csb_pool_wanted(&stock.pool, AT_ONCE_NS), 0);
    assert_true(stock.pool.rest_ns > AT_ONCE_NS);
    assert_int_equal(csb_pool_wanted(&stock.pool, AT_REST_NS), SPARES - 6);
    assert_int_equal(stock.pool.rest_ns, 0);
}

static void
makes_a_few_whatever_goes_on(void **state)
{
    struct stock stock;
    (void)state;
    fill(&stock, 1, 0);
    assert_int_equal(csb_pool_wanted(&stock.pool, AT_ONCE_NS), LOW - 1);
    fill(&stock, 0, 0);
    stock.pool.options.spares = 1; /* fewer than the processors keep busy */
    assert_int_equal(csb_pool_wanted(&stock.pool, AT_ONCE_NS), 1);
}

static void
spares_of_an_old_zygote_do_not_count(void **state)
{
    struct stock stock;
    (void)state;
    fill(&stock, 6, 0);
    stock.pool.generation = 2;
    assert_int_equal(csb_pool_wanted(&stock.pool, AT_ONCE_NS), LOW);
}

static void
touches_where_the_stock_is_not_low(void **state)
{
    struct stock stock;
    (void)state;
    fill(&stock, SPARES - 1, 0);
    assert_true(csb_pool_at_leisure(&stock.pool, AT_ONCE_NS));
    fill(&stock, SPARES - 3, 0);
    assert_false(csb_pool_at_leisure(&stock.pool, AT_ONCE_NS));
    stock.pool.pending_count = 2; /* on their way */
    assert_true(csb_pool_at_leisure(&stock.pool, AT_ONCE_NS));
    fill(&stock, 0, 0);
    assert_true(csb_pool_at_leisure(&stock.pool, AT_REST_NS));
    stock.pool.waiting = 1;
    assert_false(csb_pool_at_leisure(&stock.pool, AT_REST_NS));
}

static void
clears_at_rest_or_when_many_wait(void **state)
{
    struct stock stock;
    (void)state;
    fill(&stock, SPARES, 3);
    assert_false(csb_pool_to_clear(&stock.pool, AT_ONCE_NS));
    assert_true(stock.pool.rest_ns > AT_ONCE_NS); /* the keeper comes back by itself */
    assert_true(csb_pool_to_clear(&stock.pool, AT_REST_NS));
    fill(&stock, SPARES, SPARES + 1);
    assert_true(csb_pool_to_clear(&stock.pool, AT_ONCE_NS));
    fill(&stock, SPARES, 3);
    stock.pool.closing = true;
    assert_true(csb_pool_to_clear(&stock.pool, AT_ONCE_NS));
}

static void
the_keeper_is_woken_for_what_cannot_wait(void **state)
{
    struct stock stock;
    (void)state;
    fill(&stock, 6, 1);
    assert_true(csb_pool_is_urgent(&stock.pool)); /* it sleeps without a time to wake */
    stock.pool.rest_ns = AT_REST_NS;
    assert_false(csb_pool_is_urgent(&stock.pool));
    stock.pool.ready_count = LOW - 1;
    assert_true(csb_pool_is_urgent(&stock.pool));
    stock.pool.ready_count = LOW;
    stock.pool.used_count = SPARES + 1;
    assert_true(csb_pool_is_urgent(&stock.pool));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_all_of_them_at_rest_only),
        cmocka_unit_test(makes_a_few_whatever_goes_on),
        cmocka_unit_test(spares_of_an_old_zygote_do_not_count),
        cmocka_unit_test(touches_where_the_stock_is_not_low),
        cmocka_unit_test(clears_at_rest_or_when_many_wait),
        cmocka_unit_test(the_keeper_is_woken_for_what_cannot_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
