/* Theory of operation: threads that remove are held at a gate in unlinkat(2), so that it can be
 * counted how many there are, and what whoever comes next does. */
#include "remover.h"

#include "fd.h"
#include "folder.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* link: -Wl,--wrap=unlinkat,--wrap=pthread_create */

enum { MORE = 3, PATIENCE = 3000 };

static struct {
    sem_t gate;
    pthread_t main;
    bool closed;
    bool no_thread;
    bool signals_reached;
} held;

int __real_unlinkat(int folder, const char *name, int flags);
int __wrap_unlinkat(int folder, const char *name, int flags);

int
__wrap_unlinkat(int folder, const char *name, int flags)
{
    if (!pthread_equal(pthread_self(), held.main)) {
        sigset_t blocked;
        (void)pthread_sigmask(SIG_SETMASK, NULL, &blocked);
        if (!sigismember(&blocked, SIGINT) || !sigismember(&blocked, SIGCHLD)) {
            held.signals_reached = true;
        }
        if (held.closed) {
            (void)sem_wait(&held.gate);
            (void)sem_post(&held.gate);
        }
    }
    return __real_unlinkat(folder, name, flags);
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*body)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*body)(void *), void *argument);

int
__wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                      void *(*body)(void *), void *argument)
{
    return held.no_thread ? EAGAIN
                          : __real_pthread_create(thread, attributes, body, argument);
}

static void
plant(struct csb_scratch *scratch, const char *base)
{
    struct csb_error error = {0};
    assert_int_equal(csb_scratch_make(scratch, base, 0, &error), 0);
    assert_int_equal(csb_scratch_write(scratch, "folder/file", "x", 1, &error), 0);
}

static void
take(struct csb_remover *remover, const char *base)
{
    struct csb_scratch scratch;
    plant(&scratch, base);
    csb_remover_take(remover, &scratch);
    assert_int_equal(scratch.fd, CSB_FD_NONE);
    assert_int_equal(scratch.base_fd, CSB_FD_NONE);
    assert_null(scratch.name);
    csb_scratch_remove(&scratch); /* harmless */
}

static void
wait_until_idle(const struct csb_remover *remover)
{
    for (int i = 0; i < PATIENCE && csb_remover_busy(remover) > 0; i++) {
        (void)usleep(10000);
    }
    assert_int_equal(csb_remover_busy(remover), 0);
}

static int
set_up(void **state)
{
    assert_int_equal(sem_init(&held.gate, 0, 0), 0);
    held.main = pthread_self();
    held.closed = held.no_thread = held.signals_reached = false;
    *state = folder_make();
    return 0;
}

static int
tear_down(void **state)
{
    folder_remove(*state);
    return sem_destroy(&held.gate);
}

static void
test_so_many_at_a_time_and_the_next_one_is_removed_by_who_brings_it(void **state)
{
    const char *base = *state;
    struct csb_remover *remover = csb_remover_new();
    held.closed = true;
    for (unsigned i = 1; i <= CSB_REMOVERS_MAX; i++) {
        take(remover, base);
        assert_int_equal(csb_remover_busy(remover), i);
    }
    for (int i = 0; i < MORE; i++) {
        take(remover, base);
        assert_int_equal(csb_remover_busy(remover), CSB_REMOVERS_MAX);
        assert_int_equal(folder_count(base), CSB_REMOVERS_MAX);
    }
    (void)sem_post(&held.gate);
    wait_until_idle(remover);
    assert_int_equal(folder_count(base), 0);
    take(remover, base); /* places are free again */
    wait_until_idle(remover);
    assert_int_equal(folder_count(base), 0);
    assert_false(held.signals_reached);
    csb_remover_drop(remover);
}

/* The policies and the module may be gone while threads are still at work. */
static void
test_it_may_be_given_back_meanwhile(void **state)
{
    const char *base = *state;
    struct csb_remover *remover = csb_remover_new();
    held.closed = true;
    take(remover, base);
    take(csb_remover_keep(remover), base);
    csb_remover_drop(remover);
    csb_remover_drop(remover);
    (void)sem_post(&held.gate);
    for (int i = 0; i < PATIENCE && folder_count(base) > 0; i++) {
        (void)usleep(10000);
    }
    assert_int_equal(folder_count(base), 0);
    csb_remover_drop(NULL);
}

static void
test_without_a_thread_or_without_a_remover_it_is_removed_at_once(void **state)
{
    const char *base = *state;
    struct csb_remover *remover = csb_remover_new();
    held.no_thread = true;
    take(remover, base);
    assert_int_equal(folder_count(base), 0);
    assert_int_equal(csb_remover_busy(remover), 0);
    take(NULL, base);
    assert_int_equal(folder_count(base), 0);
    csb_remover_drop(remover);
}

/* All places are taken by threads that the copy does not have. */
static void
test_a_forked_copy_begins_anew(void **state)
{
    const char *base = *state;
    struct csb_remover *remover = csb_remover_new();
    int status = -1;
    pid_t pid;
    held.closed = true;
    for (int i = 0; i < CSB_REMOVERS_MAX; i++) {
        take(remover, base);
    }
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct csb_scratch scratch;
        bool good = csb_remover_busy(remover) == 0;
        plant(&scratch, base);
        csb_remover_take(remover,
                         &scratch); /* a thread has it, and stands at the gate */
        good = good && csb_remover_busy(remover) == 1 &&
               folder_count(base) == CSB_REMOVERS_MAX + 1;
        _exit(good ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(csb_remover_busy(remover), CSB_REMOVERS_MAX);
    (void)sem_post(&held.gate);
    wait_until_idle(remover);
    csb_remover_drop(remover);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(
            test_so_many_at_a_time_and_the_next_one_is_removed_by_who_brings_it),
        WITH_FOLDER(test_it_may_be_given_back_meanwhile),
        WITH_FOLDER(test_without_a_thread_or_without_a_remover_it_is_removed_at_once),
        WITH_FOLDER(test_a_forked_copy_begins_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
