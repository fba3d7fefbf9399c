/* Theory of operation: memory as the kernel tells it, in a folder that looks like /proc/PID: there
 * a machine need not have a swap device. The CPU clock is this process's own. */
#include "meter.h"

#include "clock.h"
#include "fd.h"
#include "folder.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { KIB = 1024, PATH_BYTES = 512, TEXT_BYTES = 1024 };

static const struct csb_limits limits = {.cpu_ns = 3600 * CSB_NS_PER_S,
                                         .wall_ns = 3600 * CSB_NS_PER_S,
                                         .memory_bytes = UINT64_C(100) * KIB * KIB,
                                         .threads = 1};

/* Figures in MiB. */
struct figures {
    unsigned anonymous;
    unsigned shared;
    unsigned files;
    unsigned swapped;
    unsigned tables;
};

static void
tell(const char *folder, const struct figures *figures)
{
    char path[PATH_BYTES];
    char text[TEXT_BYTES];
    (void)snprintf(text, sizeof text,
                   "Name:\tpython3\nVmHWM:\t%u kB\nVmData:\t1 kB\nRssAnon:\t%u kB\n"
                   "RssFile:\t%u kB\nRssShmem:\t%u kB\nVmPTE:\t%u kB\nVmSwap:\t%u kB\n",
                   (figures->anonymous + figures->shared + figures->files + 1) * KIB,
                   figures->anonymous * KIB, figures->files * KIB,
                   figures->shared * KIB, figures->tables * KIB,
                   figures->swapped * KIB);
    (void)below(folder, "status", path, sizeof path);
    (void)unlink(path);
    write_file(path, text);
}

static struct csb_procfs
opened(const char *folder)
{
    struct csb_procfs procfs;
    procfs.folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    procfs.status = openat(procfs.folder, "status", O_RDONLY | O_CLOEXEC);
    assert_true(procfs.folder >= 0 && procfs.status >= 0);
    return procfs;
}

static enum csb_stop
look(const char *folder, const struct figures *figures,
     const struct csb_memory *inherited)
{
    struct csb_procfs procfs;
    struct csb_meter meter;
    enum csb_stop stop;
    int64_t now = csb_clock_now_ns();
    tell(folder, figures);
    procfs = opened(folder);
    csb_meter_open(&meter, getpid(), &limits, &procfs, inherited);
    csb_meter_start(&meter, now);
    stop = csb_meter_look(&meter, now + CSB_NS_PER_S);
    csb_meter_close(&meter);
    return stop;
}

static int
set_up(void **state)
{
    *state = folder_make();
    return 0;
}

static int
tear_down(void **state)
{
    folder_remove(*state);
    return 0;
}

/* A leak that swaps is a leak: what is swapped out is not resident. */
static void
test_what_counts_as_memory(void **state)
{
    static const struct csb_memory nothing = {.peak_bytes = 1};
    static const struct {
        struct figures figures;
        enum csb_stop wanted;
    } table[] = {
        {{.anonymous = 99}, CSB_STOP_NONE},
        {{.anonymous = 101}, CSB_STOP_MEMORY},
        {{.anonymous = 10, .swapped = 89}, CSB_STOP_NONE},
        {{.anonymous = 10, .swapped = 95}, CSB_STOP_MEMORY},
        {{.swapped = 101}, CSB_STOP_MEMORY},
        {{.anonymous = 10, .tables = 95}, CSB_STOP_MEMORY},
        {{.anonymous = 10, .shared = 95}, CSB_STOP_MEMORY},
        {{.anonymous = 30, .shared = 30, .swapped = 30, .tables = 9}, CSB_STOP_NONE},
        {{.anonymous = 30, .shared = 30, .swapped = 30, .tables = 11}, CSB_STOP_MEMORY},
        /* of the interpreter and its libraries, and everybody's */
        {{.anonymous = 10, .files = 500}, CSB_STOP_NONE},
    };
    for (size_t i = 0; i < CSB_ARRAY_LEN(table); i++) {
        enum csb_stop stop = look(*state, &table[i].figures, &nothing);
        if (stop != table[i].wanted) {
            fail_msg("row %zu: %d", i, (int)stop);
        }
    }
}

static void
test_what_a_zygote_had_is_not_the_submissions(void **state)
{
    static const struct csb_memory had = {.private_bytes = UINT64_C(50) * KIB * KIB,
                                          .peak_bytes = UINT64_C(60) * KIB * KIB};
    const struct figures within = {.anonymous = 100, .swapped = 49};
    const struct figures beyond = {.anonymous = 100, .swapped = 51};
    assert_int_equal(look(*state, &within, &had), CSB_STOP_NONE);
    assert_int_equal(look(*state, &beyond, &had), CSB_STOP_MEMORY);
}

/* Its own status is empty then: that of a thread which lives counts. */
static void
test_a_first_thread_that_has_left_hides_nothing(void **state)
{
    static const struct csb_memory nothing = {.peak_bytes = 1};
    const struct figures beyond = {.anonymous = 10, .swapped = 95};
    const char *folder = *state;
    char path[PATH_BYTES];
    char inner[PATH_BYTES + TEXT_BYTES];
    struct csb_procfs procfs;
    struct csb_meter meter;
    int64_t now = csb_clock_now_ns();
    assert_int_equal(mkdir(below(folder, "task", path, sizeof path), 0700), 0);
    assert_int_equal(mkdir(below(path, "7", inner, sizeof inner), 0700), 0);
    tell(inner, &beyond);
    assert_int_equal(mkdir(below(path, "6", inner, sizeof inner), 0700), 0);
    write_file(below(folder, "task/6/status", path, sizeof path), "Name:\tx\n");
    write_file(below(folder, "status", path, sizeof path), "Name:\tx\n");
    procfs = opened(folder);
    csb_meter_open(&meter, getpid(), &limits, &procfs, &nothing);
    csb_meter_start(&meter, now);
    assert_int_equal(csb_meter_look(&meter, now + CSB_NS_PER_S), CSB_STOP_MEMORY);
    csb_meter_close(&meter);
}

/* What was asked for and given up again still exists, and is only known from the listener. */
static void
test_shared_memory_that_is_unmapped_counts(void **state)
{
    static const struct csb_memory nothing = {.peak_bytes = 1};
    const struct figures little = {.anonymous = 10, .shared = 5};
    uint64_t asked = UINT64_C(91) * KIB * KIB;
    struct csb_procfs procfs;
    struct csb_meter meter;
    int64_t now = csb_clock_now_ns();
    tell(*state, &little);
    procfs = opened(*state);
    csb_meter_open(&meter, getpid(), &limits, &procfs, &nothing);
    meter.shared_asked = &asked;
    csb_meter_start(&meter, now);
    assert_int_equal(csb_meter_look(&meter, now + CSB_NS_PER_S), CSB_STOP_MEMORY);
    asked = UINT64_C(89) * KIB * KIB;
    assert_int_equal(csb_meter_look(&meter, now + 2 * CSB_NS_PER_S), CSB_STOP_NONE);
    csb_meter_close(&meter);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(test_what_counts_as_memory),
        WITH_FOLDER(test_what_a_zygote_had_is_not_the_submissions),
        WITH_FOLDER(test_a_first_thread_that_has_left_hides_nothing),
        WITH_FOLDER(test_shared_memory_that_is_unmapped_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
