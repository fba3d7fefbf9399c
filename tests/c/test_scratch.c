/* Theory of operation: the scratch folder under a hostile child's hands: whatever is left in
 * it goes, and nothing outside it ever does. */
#include "scratch.h"

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
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATH_BYTES = 4096, DEEP = 1000, MANY = 10000 };

struct fixture {
    char *base;
    struct csb_scratch scratch;
};

static int
set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct csb_error error = {0};
    fixture->base = folder_make();
    assert_int_equal(csb_scratch_make(&fixture->scratch, fixture->base, 0, &error), 0);
    *state = fixture;
    return 0;
}

static int
tear_down(void **state)
{
    struct fixture *fixture = *state;
    folder_remove(fixture->base);
    free(fixture);
    return 0;
}

static void
remove_and_check(struct fixture *fixture)
{
    csb_scratch_remove(&fixture->scratch);
    assert_int_equal(folder_count(fixture->base), 0);
    assert_int_equal(fixture->scratch.fd, CSB_FD_NONE);
    assert_int_equal(fixture->scratch.base_fd, CSB_FD_NONE);
    csb_scratch_remove(&fixture->scratch); /* twice is harmless */
}

static void
test_it_is_private_and_empty(void **state)
{
    struct fixture *fixture = *state;
    struct stat status;
    assert_int_equal(stat(fixture->scratch.path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
    assert_int_equal(folder_count(fixture->scratch.path), 0);
    assert_int_equal(
        strncmp(fixture->scratch.path, fixture->base, strlen(fixture->base)), 0);
    remove_and_check(fixture);
}

static void
test_deep_folders_go(void **state)
{
    struct fixture *fixture = *state;
    int at = open(fixture->scratch.path, O_PATH | O_DIRECTORY);
    for (int depth = 0; depth < DEEP; depth++) {
        int next;
        assert_int_equal(mkdirat(at, "d", 0700), 0);
        next = openat(at, "d", O_PATH | O_DIRECTORY);
        assert_true(next >= 0);
        assert_int_equal(close(at), 0);
        at = next;
    }
    assert_int_equal(close(at), 0);
    remove_and_check(fixture);
}

static void
test_many_files_go(void **state)
{
    struct fixture *fixture = *state;
    int folder = open(fixture->scratch.path, O_PATH | O_DIRECTORY);
    for (int i = 0; i < MANY; i++) {
        char name[32];
        int fd;
        (void)snprintf(name, sizeof name, "%d", i);
        fd = openat(folder, name, O_WRONLY | O_CREAT, 0600);
        assert_true(fd >= 0);
        assert_int_equal(close(fd), 0);
    }
    assert_int_equal(close(folder), 0);
    remove_and_check(fixture);
}

static void
test_broad_and_deep_trees_go(void **state)
{
    struct fixture *fixture = *state;
    char path[PATH_BYTES];
    for (int i = 0; i < 10; i++) {
        for (int j = 0; j < 10; j++) {
            for (int k = 0; k < 10; k++) {
                const int parts[] = {i, j, k};
                size_t length =
                    (size_t)snprintf(path, sizeof path, "%s", fixture->scratch.path);
                for (size_t p = 0; p < 3; p++) {
                    length += (size_t)snprintf(path + length, sizeof path - length,
                                               "/%d", parts[p]);
                    assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
                }
                (void)snprintf(path + length, sizeof path - length, "/file");
                write_file(path, "x");
            }
        }
    }
    remove_and_check(fixture);
}

/* Modes that keep the owner out (root is not kept out: this bites for a normal uid). */
static void
test_closed_folders_and_files_go(void **state)
{
    struct fixture *fixture = *state;
    char path[PATH_BYTES];
    char inner[PATH_BYTES + 32];
    for (int mode = 0; mode < 8; mode++) {
        char name[32];
        (void)snprintf(name, sizeof name, "mode %d", mode);
        below(fixture->scratch.path, name, path, sizeof path);
        assert_int_equal(mkdir(path, 0700), 0);
        below(path, "inner", inner, sizeof inner);
        assert_int_equal(mkdir(inner, 0700), 0);
        below(path, "inner/file", inner, sizeof inner);
        write_file(inner, "x");
        assert_int_equal(chmod(inner, 0), 0);
        below(path, "inner", inner, sizeof inner);
        assert_int_equal(chmod(inner, (mode_t)mode << 6), 0);
        assert_int_equal(chmod(path, (mode_t)mode << 6), 0);
    }
    assert_int_equal(chmod(fixture->scratch.path, 0700), 0);
    remove_and_check(fixture);
}

static void
test_odd_names_go(void **state)
{
    struct fixture *fixture = *state;
    char longest[256];
    char path[PATH_BYTES];
    memset(longest, 'n', 255);
    longest[255] = '\0';
    const char *const names[] = {"...",  " ",    "-rf",       "\n",       "\xFF\xFE",
                                 "\x01", "*",    ".gone-0-0", "\x1B[2Jx", "~",
                                 "a\\b", "\"'`", longest};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        below(fixture->scratch.path, names[i], path, sizeof path);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    remove_and_check(fixture);
}

static void
test_sparse_terabyte_and_fifo_go_at_once(void **state)
{
    struct fixture *fixture = *state;
    char path[PATH_BYTES];
    below(fixture->scratch.path, "sparse", path, sizeof path);
    write_file(path, "");
    assert_true(truncate(path, (off_t)1 << 40) == 0 || errno == EFBIG);
    below(fixture->scratch.path, "fifo", path, sizeof path);
    assert_int_equal(mkfifo(path, 0600), 0);
    remove_and_check(fixture);
}

/* Links are removed, never followed: to a file, to a folder, to the parent, to itself. */
static void
test_links_are_not_followed(void **state)
{
    struct fixture *fixture = *state;
    char *outside = folder_make();
    char kept[PATH_BYTES];
    char path[PATH_BYTES];
    write_file(below(outside, "kept", kept, sizeof kept), "x");
    assert_int_equal(
        symlink(outside, below(fixture->scratch.path, "out", path, sizeof path)), 0);
    assert_int_equal(
        symlink(kept, below(fixture->scratch.path, "file", path, sizeof path)), 0);
    assert_int_equal(
        symlink("..", below(fixture->scratch.path, "up", path, sizeof path)), 0);
    assert_int_equal(
        symlink("loop", below(fixture->scratch.path, "loop", path, sizeof path)), 0);
    below(fixture->scratch.path, "inner", path, sizeof path);
    assert_int_equal(mkdir(path, 0700), 0);
    below(fixture->scratch.path, "inner/out", path, sizeof path);
    assert_int_equal(symlink(outside, path), 0);
    remove_and_check(fixture);
    assert_true(exists(kept));
    folder_remove(outside);
}

/* A stray close() in the host and the number reused: another folder must stay whole. */
static void
test_a_swapped_descriptor_removes_nothing(void **state)
{
    struct fixture *fixture = *state;
    char *victim = folder_make();
    char kept[PATH_BYTES];
    int other = open(victim, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    write_file(below(victim, "kept", kept, sizeof kept), "x");
    assert_true(other >= 0);
    assert_int_equal(dup2(other, fixture->scratch.fd), fixture->scratch.fd);
    csb_scratch_remove(&fixture->scratch);
    assert_true(exists(kept));
    assert_true(exists(fixture->scratch.path)); /* left rather than guessed at */
    assert_int_equal(close(other), 0);
    folder_remove(victim);
}

static void
test_a_swapped_base_removes_nothing(void **state)
{
    struct fixture *fixture = *state;
    char *other_base = folder_make();
    char twin[PATH_BYTES];
    char kept[PATH_BYTES];
    int other = open(other_base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    below(other_base, fixture->scratch.name, twin, sizeof twin);
    assert_int_equal(mkdir(twin, 0700), 0); /* empty: rmdir would succeed */
    write_file(below(fixture->scratch.path, "kept", kept, sizeof kept), "x");
    assert_int_equal(dup2(other, fixture->scratch.base_fd), fixture->scratch.base_fd);
    csb_scratch_remove(&fixture->scratch);
    assert_true(exists(twin));
    assert_int_equal(close(other), 0);
    folder_remove(other_base);
}

/* The folder's name now means another folder: neither is touched. */
static void
test_a_renamed_folder_removes_nothing_else(void **state)
{
    struct fixture *fixture = *state;
    char moved[PATH_BYTES];
    char kept[PATH_BYTES];
    below(fixture->base, "moved", moved, sizeof moved);
    assert_int_equal(rename(fixture->scratch.path, moved), 0);
    assert_int_equal(mkdir(fixture->scratch.path, 0700), 0);
    write_file(below(fixture->scratch.path, "kept", kept, sizeof kept), "x");
    csb_scratch_remove(&fixture->scratch);
    assert_true(exists(kept));
}

static void
test_files_are_written_below_only(void **state)
{
    struct fixture *fixture = *state;
    struct csb_error error = {0};
    char path[PATH_BYTES];
    static const char *const good[] = {"a",
                                       "b/c",
                                       "b/d/e.txt",
                                       "...",
                                       "a b",
                                       "-x",
                                       "1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/f"};
    static const char *const bad[] = {"",
                                      "/x",
                                      "../x",
                                      "q/../x",
                                      ".",
                                      "..",
                                      "b/..",
                                      "b//c",
                                      "b/./c",
                                      "b/",
                                      "./x",
                                      "//",
                                      "1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/f"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(
            csb_scratch_write(&fixture->scratch, good[i], "text", 4, &error), 0);
        assert_true(exists(below(fixture->scratch.path, good[i], path, sizeof path)));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(
            csb_scratch_write(&fixture->scratch, bad[i], "text", 4, &error), -EINVAL);
    }
    /* twice the same name, a file as a folder, a link that the caller's program left */
    assert_true(csb_scratch_write(&fixture->scratch, "a", "text", 4, &error) < 0);
    assert_true(csb_scratch_write(&fixture->scratch, "a/b", "text", 4, &error) < 0);
    assert_int_equal(
        symlink("/", below(fixture->scratch.path, "root", path, sizeof path)), 0);
    assert_true(csb_scratch_write(&fixture->scratch, "root/x", "text", 4, &error) < 0);
    assert_int_equal(folder_count(fixture->base), 1);
    remove_and_check(fixture);
}

static void
test_too_long_names_are_errors(void **state)
{
    struct fixture *fixture = *state;
    struct csb_error error = {0};
    char name[300];
    memset(name, 'a', sizeof name);
    name[299] = '\0';
    assert_int_equal(csb_scratch_write(&fixture->scratch, name, "", 0, &error),
                     -EINVAL);
    name[255] = '\0';
    assert_int_equal(csb_scratch_write(&fixture->scratch, name, "", 0, &error), 0);
    remove_and_check(fixture);
}

static void
test_a_base_that_is_not_there_is_an_error(void **state)
{
    struct csb_scratch scratch;
    struct csb_error error = {0};
    char long_base[600];
    (void)state;
    assert_int_equal(csb_scratch_make(&scratch, "/nonexistent/base", 0, &error),
                     -ENOENT);
    assert_int_equal(error.step, CSB_STEP_SCRATCH);
    csb_scratch_remove(&scratch);
    memset(long_base, '/', sizeof long_base);
    long_base[sizeof long_base - 1] = '\0';
    assert_int_equal(csb_scratch_make(&scratch, long_base, 0, &error), -ENAMETOOLONG);
    csb_scratch_remove(&scratch);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(test_it_is_private_and_empty),
        WITH_FOLDER(test_deep_folders_go),
        WITH_FOLDER(test_many_files_go),
        WITH_FOLDER(test_broad_and_deep_trees_go),
        WITH_FOLDER(test_closed_folders_and_files_go),
        WITH_FOLDER(test_odd_names_go),
        WITH_FOLDER(test_sparse_terabyte_and_fifo_go_at_once),
        WITH_FOLDER(test_links_are_not_followed),
        WITH_FOLDER(test_a_swapped_descriptor_removes_nothing),
        WITH_FOLDER(test_a_swapped_base_removes_nothing),
        WITH_FOLDER(test_a_renamed_folder_removes_nothing_else),
        WITH_FOLDER(test_files_are_written_below_only),
        WITH_FOLDER(test_too_long_names_are_errors),
        cmocka_unit_test(test_a_base_that_is_not_there_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
