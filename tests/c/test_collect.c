/* Theory of operation: what hostile code can leave in its folder, and what is taken of it.
 * Each test has a folder of its own; nothing outside it may ever be read. */
#include "collect.h"

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
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATH_BYTES = 4096, MANY = 150 };

struct fixture {
    char *base;
    int fd;
    struct csb_strings patterns;
    struct csb_collection found;
};

static int
set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture->base = folder_make();
    fixture->fd = open(fixture->base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fixture->fd >= 0);
    fixture->found.patterns = &fixture->patterns;
    *state = fixture;
    return 0;
}

static int
tear_down(void **state)
{
    struct fixture *fixture = *state;
    csb_collection_done(&fixture->found);
    csb_strings_done(&fixture->patterns);
    csb_fd_close(&fixture->fd);
    folder_remove(fixture->base);
    free(fixture);
    return 0;
}

static void
collect(struct fixture *fixture, const char *pattern)
{
    assert_int_equal(csb_strings_add(&fixture->patterns, pattern), 0);
    csb_collect(&fixture->found, fixture->fd);
}

static void
make(const struct fixture *fixture, const char *name, const char *text)
{
    char path[PATH_BYTES];
    write_file(below(fixture->base, name, path, sizeof path), text);
}

static void
make_folder(const struct fixture *fixture, const char *name)
{
    char path[PATH_BYTES];
    assert_int_equal(mkdir(below(fixture->base, name, path, sizeof path), 0700), 0);
}

static const struct csb_collected *
find(const struct fixture *fixture, const char *name)
{
    for (size_t i = 0; i < fixture->found.count; i++) {
        if (strcmp(fixture->found.items[i].name, name) == 0) {
            return &fixture->found.items[i];
        }
    }
    fail_msg("%s was neither taken nor named", name);
    return NULL;
}

static void
assert_taken(const struct fixture *fixture, const char *name, const char *text)
{
    const struct csb_collected *item = find(fixture, name);
    assert_null(item->skipped);
    assert_int_equal(item->count, strlen(text));
    assert_memory_equal(item->bytes, text, item->count);
}

static void
assert_skipped(const struct fixture *fixture, const char *name, const char *reason)
{
    const struct csb_collected *item = find(fixture, name);
    assert_non_null(item->skipped);
    assert_non_null(strstr(item->skipped, reason));
    assert_null(item->bytes);
}

static void
test_what_matches_is_taken_in_order(void **state)
{
    struct fixture *fixture = *state;
    make_folder(fixture, "sub");
    make(fixture, "b.txt", "second");
    make(fixture, "a.txt", "first");
    make(fixture, "sub/c.txt", "third");
    make(fixture, "sub/empty.txt", "");
    make(fixture, ".hidden.txt", "x");
    make(fixture, "other", "x");
    assert_int_equal(csb_strings_add(&fixture->patterns, "sub/*"), 0);
    collect(fixture, "*.txt");
    assert_int_equal(fixture->found.count, 4);
    assert_int_equal(fixture->found.taken, 4);
    assert_string_equal(fixture->found.items[0].name, "a.txt");
    assert_taken(fixture, "a.txt", "first");
    assert_taken(fixture, "b.txt", "second");
    assert_taken(fixture, "sub/c.txt", "third");
    assert_taken(fixture, "sub/empty.txt", "");
}

static void
test_without_patterns_nothing_is_taken(void **state)
{
    struct fixture *fixture = *state;
    make(fixture, "a", "x");
    csb_collect(&fixture->found, fixture->fd);
    assert_int_equal(fixture->found.count, 0);
}

static void
test_links_are_named_and_never_followed(void **state)
{
    struct fixture *fixture = *state;
    char *outside = folder_make();
    char path[PATH_BYTES];
    char target[PATH_BYTES];
    write_file(below(outside, "secret", target, sizeof target), "secret");
    assert_int_equal(symlink(target, below(fixture->base, "file", path, sizeof path)),
                     0);
    assert_int_equal(
        symlink(outside, below(fixture->base, "folder", path, sizeof path)), 0);
    assert_int_equal(symlink("loop", below(fixture->base, "loop", path, sizeof path)),
                     0);
    assert_int_equal(csb_strings_add(&fixture->patterns, "folder/*"), 0);
    collect(fixture, "**");
    assert_int_equal(fixture->found.taken, 0);
    assert_skipped(fixture, "file", "symbolic link");
    assert_skipped(fixture, "folder", "symbolic link");
    assert_skipped(fixture, "loop", "symbolic link");
    folder_remove(outside);
}

static void
test_what_could_block_or_act_is_not_opened(void **state)
{
    struct fixture *fixture = *state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char path[PATH_BYTES];
    int socket_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(mkfifo(below(fixture->base, "fifo", path, sizeof path), 0600), 0);
    below(fixture->base, "socket", path, sizeof path);
    assert_true(strlen(path) < sizeof address.sun_path);
    memcpy(address.sun_path, path, strlen(path) + 1);
    assert_int_equal(bind(socket_fd, (struct sockaddr *)&address, sizeof address), 0);
    csb_fd_close(&socket_fd);
    collect(fixture, "*");
    assert_skipped(fixture, "fifo", "FIFO");
    assert_skipped(fixture, "socket", "socket");
    if (mknod(below(fixture->base, "device", path, sizeof path), S_IFCHR | 0600,
              0x103) == 0) {
        csb_collection_done(&fixture->found);
        csb_collect(&fixture->found, fixture->fd);
        assert_skipped(fixture, "device", "device");
    }
}

static void
test_a_closed_mode_does_not_matter(void **state)
{
    struct fixture *fixture = *state;
    char path[PATH_BYTES];
    make_folder(fixture, "sub");
    make(fixture, "sub/inner", "inner");
    make(fixture, "file", "text");
    assert_int_equal(chmod(below(fixture->base, "file", path, sizeof path), 0), 0);
    assert_int_equal(chmod(below(fixture->base, "sub", path, sizeof path), 0), 0);
    collect(fixture, "**");
    assert_taken(fixture, "file", "text");
    assert_taken(fixture, "sub/inner", "inner");
}

static void
test_large_and_sparse_files_are_named_not_read(void **state)
{
    struct fixture *fixture = *state;
    char path[PATH_BYTES];
    make(fixture, "sparse", "");
    below(fixture->base, "sparse", path, sizeof path);
    if (truncate(path, (off_t)1 << 40) != 0) {
        assert_int_equal(truncate(path, (off_t)1 << 32), 0);
    }
    make(fixture, "z-small", "text");
    collect(fixture, "*");
    assert_skipped(fixture, "sparse", "in sum");
    assert_taken(fixture, "z-small", "text");
}

static void
test_the_sum_of_the_sizes_is_bounded(void **state)
{
    struct fixture *fixture = *state;
    char path[PATH_BYTES];
    for (char name[] = "0"; name[0] < '5'; name[0]++) {
        make(fixture, name, "");
        assert_int_equal(truncate(below(fixture->base, name, path, sizeof path),
                                  CSB_COLLECT_BYTES_MAX / 3),
                         0);
    }
    collect(fixture, "*");
    assert_int_equal(fixture->found.taken, 3);
    assert_true(fixture->found.taken_bytes <= CSB_COLLECT_BYTES_MAX);
    assert_skipped(fixture, "4", "in sum");
}

static void
test_the_number_is_bounded(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < MANY + CSB_COLLECT_SKIPPED_MAX; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "%03d", i);
        make(fixture, name, "x");
    }
    collect(fixture, "*");
    assert_int_equal(fixture->found.taken, CSB_COLLECT_FILES_MAX);
    assert_int_equal(fixture->found.count,
                     CSB_COLLECT_FILES_MAX + CSB_COLLECT_SKIPPED_MAX);
    assert_int_equal(fixture->found.unnamed, MANY - CSB_COLLECT_FILES_MAX);
    assert_taken(fixture, "099", "x");
    assert_skipped(fixture, "100", "more files");
}

static void
test_the_depth_is_bounded(void **state)
{
    struct fixture *fixture = *state;
    char name[PATH_BYTES] = "";
    for (int depth = 0; depth < CSB_COLLECT_DEPTH_MAX + 4; depth++) {
        strncat(name, depth == 0 ? "d" : "/d", sizeof name - strlen(name) - 1);
        make_folder(fixture, name);
        if (depth == CSB_COLLECT_DEPTH_MAX - 2) {
            char inside[PATH_BYTES + 8];
            (void)snprintf(inside, sizeof inside, "%s/file", name);
            make(fixture, inside, "deep");
        }
    }
    collect(fixture, "**");
    assert_int_equal(fixture->found.taken, 1);
    assert_int_equal(fixture->found.count, 2);
    assert_non_null(strstr(fixture->found.items[0].skipped != NULL
                               ? fixture->found.items[0].skipped
                               : fixture->found.items[1].skipped,
                           "deeper"));
}

static void
test_names_that_are_no_text_are_named_only(void **state)
{
    struct fixture *fixture = *state;
    static const char *const bad[] = {"\x1B[2J", "a\nb", "\xFF",
                                      "\xC3",    "\x7F", "\xC2\x9B\x32J"};
    static const char *const good[] = {" ", "-rf", "\xC3\xA9", "a\\b", "...x", "'"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        make(fixture, bad[i], "x");
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        make(fixture, good[i], "x");
    }
    assert_int_equal(csb_strings_add(&fixture->patterns, ".*"), 0);
    collect(fixture, "*");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_skipped(fixture, bad[i], "its name");
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_taken(fixture, good[i], "x");
    }
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(test_what_matches_is_taken_in_order),
        WITH_FOLDER(test_without_patterns_nothing_is_taken),
        WITH_FOLDER(test_links_are_named_and_never_followed),
        WITH_FOLDER(test_what_could_block_or_act_is_not_opened),
        WITH_FOLDER(test_a_closed_mode_does_not_matter),
        WITH_FOLDER(test_large_and_sparse_files_are_named_not_read),
        WITH_FOLDER(test_the_sum_of_the_sizes_is_bounded),
        WITH_FOLDER(test_the_number_is_bounded),
        WITH_FOLDER(test_the_depth_is_bounded),
        WITH_FOLDER(test_names_that_are_no_text_are_named_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
