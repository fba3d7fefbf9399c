/* Theory of operation: unit test of the bounded stream buffer, held against the obvious
 * model: keep everything, then cut out the middle. */
#include "capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { STREAM_BYTES = 300 };

static void
check_against_model(size_t limit, size_t total, size_t chunk)
{
    struct csb_capture capture;
    unsigned char stream[STREAM_BYTES];
    unsigned char kept[STREAM_BYTES];
    unsigned char wanted[STREAM_BYTES];
    size_t head = limit - limit / 2;
    size_t tail = limit / 2;
    for (size_t i = 0; i < total; i++) {
        stream[i] = (unsigned char)(i * 7 + 1);
    }
    csb_capture_init(&capture, limit);
    for (size_t at = 0; at < total; at += chunk) {
        size_t count = total - at < chunk ? total - at : chunk;
        assert_int_equal(csb_capture_add(&capture, stream + at, count), 0);
    }
    assert_int_equal(capture.total, total);
    assert_int_equal(csb_capture_truncated(&capture), total > limit);
    if (total <= limit) {
        assert_int_equal(csb_capture_kept(&capture), total);
        memcpy(wanted, stream, total);
    } else {
        assert_int_equal(csb_capture_kept(&capture), limit);
        memcpy(wanted, stream, head);
        memcpy(wanted + head, stream + total - tail, tail);
    }
    csb_capture_copy(&capture, kept);
    assert_memory_equal(kept, wanted, csb_capture_kept(&capture));
    csb_capture_done(&capture);
}

static void
test_head_and_tail_are_kept_however_the_bytes_arrive(void **state)
{
    (void)state;
    for (size_t limit = 0; limit < 40; limit++) {
        for (size_t total = 0; total < 120; total++) {
            for (size_t chunk = 1; chunk < 60; chunk += chunk < 9 ? 1 : 10) {
                check_against_model(limit, total, chunk);
            }
        }
    }
}

static void
test_memory_never_passes_the_limit(void **state)
{
    enum { LIMIT = 10000 };
    struct csb_capture capture;
    unsigned char chunk[4097];
    (void)state;
    memset(chunk, 'x', sizeof chunk);
    csb_capture_init(&capture, LIMIT);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(csb_capture_add(&capture, chunk, sizeof chunk), 0);
        assert_true(capture.capacity <= LIMIT);
    }
    assert_int_equal(capture.total, 1000 * sizeof chunk);
    csb_capture_done(&capture);
    assert_null(capture.bytes);
}

static void
test_a_large_limit_costs_nothing_until_bytes_arrive(void **state)
{
    struct csb_capture capture;
    (void)state;
    csb_capture_init(&capture, SIZE_MAX);
    assert_int_equal(csb_capture_add(&capture, (const unsigned char *)"x", 1), 0);
    assert_true(capture.capacity <= 4096);
    assert_false(csb_capture_truncated(&capture));
    csb_capture_done(&capture);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_head_and_tail_are_kept_however_the_bytes_arrive),
        cmocka_unit_test(test_memory_never_passes_the_limit),
        cmocka_unit_test(test_a_large_limit_costs_nothing_until_bytes_arrive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
