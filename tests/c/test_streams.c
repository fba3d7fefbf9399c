/* Theory of operation: what goes to a child and comes from it, with send(2) and read(2)
 * wrapped, so that a child that is infinitely fast can be played. Whatever it does, one call of ours
 * must end: the supervisor's deadline is looked at between calls. */
#include "streams.h"

#include "fd.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/* link: -Wl,--wrap=send -Wl,--wrap=read */

enum { BUFFER_BYTES = 65536, FAKE_FD = 900 };

static unsigned calls;

ssize_t __real_send(int fd, const void *bytes, size_t count, int flags);
ssize_t __wrap_send(int fd, const void *bytes, size_t count, int flags);
ssize_t __real_read(int fd, void *bytes, size_t count);
ssize_t __wrap_read(int fd, void *bytes, size_t count);

/* A socket whose reader has always emptied it already. */
static ssize_t
swallow(size_t count)
{
    calls++;
    return (ssize_t)(count < BUFFER_BYTES ? count : BUFFER_BYTES);
}

ssize_t
__wrap_send(int fd, const void *bytes, size_t count, int flags)
{
    return fd == FAKE_FD ? swallow(count) : __real_send(fd, bytes, count, flags);
}

ssize_t
__wrap_read(int fd, void *bytes, size_t count)
{
    if (fd == FAKE_FD) {
        calls++;
        memset(bytes, 'x', count);
        return (ssize_t)count;
    }
    return __real_read(fd, bytes, count);
}

static void
test_feeding_a_fast_reader_ends(void **state)
{
    const unsigned char byte = 0; /* never looked at: the wrapped call only counts */
    struct csb_feed feed = {FAKE_FD, &byte, (size_t)1 << 30};
    (void)state;
    calls = 0;
    assert_int_equal(csb_feed_push(&feed), 0);
    assert_true(feed.left > 0); /* 1 GiB in one call would be seconds */
    assert_true(feed.left < (size_t)1 << 30);
    assert_true(calls <= 1024);
}

static void
test_reading_a_fast_writer_ends(void **state)
{
    struct csb_capture capture;
    int fd = FAKE_FD;
    (void)state;
    csb_capture_init(&capture, 1000);
    calls = 0;
    assert_int_equal(csb_stream_pull(&fd, &capture), 0);
    assert_true(calls > 0 && calls <= 64);
    calls = 0;
    assert_int_equal(csb_stream_drain(&fd, &capture), 0);
    assert_true(calls > 0 && calls <= 64);
    assert_true(csb_capture_truncated(&capture));
    csb_capture_done(&capture);
}

static void
test_a_full_socket_keeps_the_rest_for_later(void **state)
{
    static unsigned char bytes[1 << 24];
    struct csb_error error = {0};
    struct csb_feed feed;
    int pair[2];
    (void)state;
    assert_int_equal(csb_fd_socketpair(pair, &error), 0);
    assert_int_equal(csb_fd_nonblocking(pair[1]), 0);
    feed = (struct csb_feed){pair[1], bytes, sizeof bytes};
    assert_int_equal(csb_feed_push(&feed), 0);
    assert_true(feed.left > 0 && feed.left < sizeof bytes);
    assert_ptr_equal(feed.bytes, bytes + sizeof bytes - feed.left);
    csb_fd_close(&pair[0]);
    csb_fd_close(&pair[1]);
}

static volatile sig_atomic_t pipe_signals;

static void
count_signal(int number)
{
    (void)number;
    pipe_signals++;
}

/* A reader that is gone ends the feed; the host never sees SIGPIPE, nor loses one. */
static void
test_a_closed_reader_is_quiet(void **state)
{
    const struct sigaction action = {.sa_handler = count_signal};
    struct sigaction before;
    struct csb_error error = {0};
    struct csb_feed feed;
    int pair[2];
    (void)state;
    assert_int_equal(sigaction(SIGPIPE, &action, &before), 0);
    assert_int_equal(csb_fd_socketpair(pair, &error), 0);
    csb_fd_close(&pair[0]);
    feed = (struct csb_feed){pair[1], (const unsigned char *)"x", 1};
    assert_int_equal(csb_feed_push(&feed), 0);
    assert_int_equal(feed.left, 0);
    csb_fd_close(&pair[1]);
    assert_int_equal(pipe_signals, 0);
    assert_int_equal(raise(SIGPIPE), 0);
    assert_int_equal(pipe_signals, 1);
    assert_int_equal(sigaction(SIGPIPE, &before, NULL), 0);
}

static void
test_end_of_file_closes_the_descriptor(void **state)
{
    struct csb_error error = {0};
    struct csb_capture capture;
    int pair[2];
    (void)state;
    csb_capture_init(&capture, 100);
    assert_int_equal(csb_fd_pipe(pair, &error), 0);
    assert_int_equal(csb_fd_nonblocking(pair[0]), 0);
    assert_int_equal(csb_stream_pull(&pair[0], &capture), 0);
    assert_true(pair[0] >= 0); /* nothing yet */
    assert_int_equal(write(pair[1], "abc", 3), 3);
    csb_fd_close(&pair[1]);
    assert_int_equal(csb_stream_pull(&pair[0], &capture), 0);
    assert_int_equal(csb_stream_pull(&pair[0], &capture), 0);
    assert_int_equal(pair[0], CSB_FD_NONE);
    assert_int_equal(capture.total, 3);
    csb_capture_done(&capture);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_feeding_a_fast_reader_ends),
        cmocka_unit_test(test_reading_a_fast_writer_ends),
        cmocka_unit_test(test_a_full_socket_keeps_the_rest_for_later),
        cmocka_unit_test(test_a_closed_reader_is_quiet),
        cmocka_unit_test(test_end_of_file_closes_the_descriptor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
