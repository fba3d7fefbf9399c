/* Theory of operation: the two layers of file rules, entered by a forked child of this test,
 * which then tries paths. No path is written here but below a folder of the test's own. */
#include "path_rules.h"

#include "fd.h"
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATH_BYTES = 4096 };

/*  root/host/{shown,hidden}/file   root/host/tool
 *  root/scratch/{own,other}/file   root/scratch/{module,moduleX}/file   */
struct fixture {
    char *root;
    char base[PATH_BYTES];
    struct csb_path_rules rules;
    int own;
};

static const char *
at(const struct fixture *fixture, const char *name)
{
    static _Thread_local char path[PATH_BYTES];
    return below(fixture->root, name, path, sizeof path);
}

static int
set_up(void **state)
{
    static const char *const folders[] = {
        "host",        "host/shown",    "host/hidden",    "scratch",
        "scratch/own", "scratch/other", "scratch/module", "scratch/moduleX"};
    struct fixture *fixture = calloc(1, sizeof *fixture);
    char file[PATH_BYTES];
    fixture->root = folder_make();
    for (size_t i = 0; i < CSB_ARRAY_LEN(folders); i++) {
        assert_int_equal(mkdir(at(fixture, folders[i]), 0755), 0);
        below(at(fixture, folders[i]), "file", file, sizeof file);
        write_file(file, "x");
    }
    below(fixture->root, "scratch", fixture->base, sizeof fixture->base);
    csb_path_rules_init(&fixture->rules);
    fixture->own = open(at(fixture, "scratch/own"), O_PATH | O_CLOEXEC);
    assert_true(fixture->own >= 0);
    *state = fixture;
    return 0;
}

static int
tear_down(void **state)
{
    struct fixture *fixture = *state;
    csb_path_rules_done(&fixture->rules);
    csb_path_rules_done(&fixture->rules);
    assert_int_equal(close(fixture->own), 0);
    folder_remove(fixture->root);
    free(fixture);
    return 0;
}

static void
add(struct fixture *fixture, enum csb_path_access access, const char *name)
{
    struct csb_error error = {0};
    if (csb_path_rules_add(&fixture->rules, access,
                           name[0] == '/' ? name : at(fixture, name), fixture->base,
                           &error) != 0) {
        fail_msg("%s", error.message);
    }
}

/* errno of an open in a child that entered both layers; 0 = it worked. */
static int
try_open(const struct fixture *fixture, int coarse, const char *path, int flags)
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
            syscall(SYS_landlock_restrict_self, fixture->rules.fine_ruleset, 0) != 0 ||
            syscall(SYS_landlock_restrict_self, coarse, 0) != 0) {
            _exit(255);
        }
        _exit(open(path, flags | O_CLOEXEC, 0600) < 0 ? errno : 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_not_equal(WEXITSTATUS(status), 255);
    return WEXITSTATUS(status);
}

struct attempt {
    const char *name;
    int flags;
    int wanted;
};

static void
check(struct fixture *fixture, bool writable, const struct attempt *attempts,
      size_t count)
{
    struct csb_error error = {0};
    int abi = csb_landlock_abi();
    int coarse;
    if (abi == 0) {
        print_message("SKIPPED: this kernel has no Landlock\n");
        skip();
    }
    assert_int_equal(
        csb_path_rules_seal(&fixture->rules, fixture->base, writable, abi, &error), 0);
    assert_int_equal(csb_path_rules_for_run(&fixture->rules, fixture->own, writable,
                                            abi, &coarse, &error),
                     0);
    assert_true(coarse >= CSB_FD_MIN && fixture->rules.fine_ruleset >= CSB_FD_MIN);
    for (size_t i = 0; i < count; i++) {
        const char *name = attempts[i].name;
        const char *path = name[0] == '/' ? name : at(fixture, name);
        int got = try_open(fixture, coarse, path, attempts[i].flags);
        if (got != attempts[i].wanted) {
            fail_msg("%s: errno %d, wanted %d", name, got, attempts[i].wanted);
        }
    }
    assert_int_equal(close(coarse), 0);
}

#define CHECK(fixture, writable, ...)                                                  \
    check(fixture, writable, (const struct attempt[]){__VA_ARGS__},                    \
          sizeof((const struct attempt[]){__VA_ARGS__}) / sizeof(struct attempt))

static void
test_only_what_is_listed_and_the_own_folder(void **state)
{
    struct fixture *fixture = *state;
    add(fixture, CSB_PATH_READ, "host/shown");
    CHECK(fixture, true, {"host/shown/file", O_RDONLY, 0},
          {"host/shown/file", O_WRONLY, EACCES},
          {"host/shown", O_RDONLY | O_DIRECTORY, 0},
          {"host/hidden/file", O_RDONLY, EACCES},
          {"host", O_RDONLY | O_DIRECTORY, EACCES}, {"/etc/passwd", O_RDONLY, EACCES},
          {"/", O_RDONLY | O_DIRECTORY, EACCES}, {"scratch/own/file", O_RDWR, 0},
          {"scratch/own/new", O_WRONLY | O_CREAT, 0},
          {"scratch/own", O_RDONLY | O_DIRECTORY, 0});
}

static void
test_other_runs_folders_are_out_of_reach(void **state)
{
    struct fixture *fixture = *state;
    add(fixture, CSB_PATH_READ, "host/shown");
    CHECK(fixture, true, {"scratch/other/file", O_RDONLY, EACCES},
          {"scratch/other/file", O_WRONLY, EACCES},
          {"scratch/other/new", O_WRONLY | O_CREAT, EACCES},
          {"scratch/other", O_RDONLY | O_DIRECTORY, EACCES},
          {"scratch", O_RDONLY | O_DIRECTORY, EACCES},
          {"scratch/new", O_WRONLY | O_CREAT, EACCES},
          {"scratch/own/../other/file", O_RDONLY, EACCES},
          {"scratch/file", O_RDONLY, EACCES});
}

/* A virtual environment in the temporary folder: its own path, and nothing beside it. */
static void
test_paths_below_the_scratch_base_are_exact(void **state)
{
    struct fixture *fixture = *state;
    add(fixture, CSB_PATH_READ, "scratch/module");
    add(fixture, CSB_PATH_READ, "scratch/moduleX/file");
    CHECK(fixture, true, {"scratch/module/file", O_RDONLY, 0},
          {"scratch/module/file", O_WRONLY, EACCES},
          {"scratch/module/new", O_WRONLY | O_CREAT, EACCES},
          {"scratch/moduleX/file", O_RDONLY, 0},
          {"scratch/moduleX", O_RDONLY | O_DIRECTORY, EACCES},
          {"scratch/other/file", O_RDONLY, EACCES}, {"scratch/file", O_RDONLY, EACCES});
}

/* Neighbours of the base: their parent holds the scratch folders, so it is never granted. */
static void
test_a_neighbour_of_the_base_grants_itself_only(void **state)
{
    struct fixture *fixture = *state;
    add(fixture, CSB_PATH_READ, "host");
    CHECK(fixture, true, {"host/hidden/file", O_RDONLY, 0},
          {"scratch/other/file", O_RDONLY, EACCES},
          {"scratch/other/file", O_WRONLY, EACCES});
}

static void
test_a_read_only_scratch(void **state)
{
    struct fixture *fixture = *state;
    CHECK(fixture, false, {"scratch/own/file", O_RDONLY, 0},
          {"scratch/own/file", O_WRONLY, EACCES},
          {"scratch/own/new", O_WRONLY | O_CREAT, EACCES},
          {"scratch/other/file", O_RDONLY, EACCES});
}

static void
test_listing_shows_names_only(void **state)
{
    struct fixture *fixture = *state;
    add(fixture, CSB_PATH_LIST, "host");
    CHECK(fixture, true, {"host", O_RDONLY | O_DIRECTORY, 0},
          {"host/hidden", O_RDONLY | O_DIRECTORY, 0},
          {"host/hidden/file", O_RDONLY, EACCES}, {"host/file", O_RDONLY, EACCES});
}

static void
test_a_device_is_the_only_thing_to_write(void **state)
{
    struct fixture *fixture = *state;
    add(fixture, CSB_PATH_DEVICE, "/dev/null");
    add(fixture, CSB_PATH_READ, "/dev/zero");
    CHECK(fixture, true, {"/dev/null", O_RDWR, 0}, {"/dev/zero", O_RDONLY, 0},
          {"/dev/zero", O_RDWR, EACCES}, {"/dev/full", O_RDONLY, EACCES},
          {"/dev", O_RDONLY | O_DIRECTORY, EACCES});
}

static void
test_many_rules_make_few_coarse_ones(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < 100; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "host/hidden/%d", i);
        write_file(at(fixture, name), "x");
        add(fixture, CSB_PATH_READ, name);
    }
    assert_int_equal(fixture->rules.fine_count, 100);
    assert_int_equal(fixture->rules.coarse_count, 1);
    CHECK(fixture, true, {"host/hidden/99", O_RDONLY, 0},
          {"host/hidden/file", O_RDONLY, EACCES});
}

static void
test_what_can_not_be_a_rule(void **state)
{
    struct fixture *fixture = *state;
    struct csb_error error = {0};
    const char *const bad[] = {"",     "/",   "//",          "/..",         "/.",
                               "host", "./x", fixture->base, fixture->root, "/../"};
    for (size_t i = 0; i < CSB_ARRAY_LEN(bad); i++) {
        assert_int_equal(csb_path_rules_add(&fixture->rules, CSB_PATH_READ, bad[i],
                                            fixture->base, &error),
                         -EINVAL);
    }
    assert_int_equal(fixture->rules.fine_count, 0);
    add(fixture, CSB_PATH_READ, "host/not there");
    assert_int_equal(fixture->rules.fine_count, 0); /* nothing to grant */
}

static void
test_a_base_that_is_gone_is_an_error(void **state)
{
    struct fixture *fixture = *state;
    struct csb_error error = {0};
    assert_int_equal(
        csb_path_rules_seal(&fixture->rules, "/nonexistent/base", true, 1, &error),
        -ENOENT);
    assert_int_equal(fixture->rules.fine_ruleset, CSB_FD_NONE);
}

#define WITH_FOLDERS(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDERS(test_only_what_is_listed_and_the_own_folder),
        WITH_FOLDERS(test_other_runs_folders_are_out_of_reach),
        WITH_FOLDERS(test_paths_below_the_scratch_base_are_exact),
        WITH_FOLDERS(test_a_neighbour_of_the_base_grants_itself_only),
        WITH_FOLDERS(test_a_read_only_scratch),
        WITH_FOLDERS(test_listing_shows_names_only),
        WITH_FOLDERS(test_a_device_is_the_only_thing_to_write),
        WITH_FOLDERS(test_many_rules_make_few_coarse_ones),
        WITH_FOLDERS(test_what_can_not_be_a_rule),
        WITH_FOLDERS(test_a_base_that_is_gone_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
