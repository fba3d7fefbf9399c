/* Theory of operation: helpers of C tests, in the test's process. */
#include "folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

char *
folder_make(void)
{
    const char *base = getenv("TMPDIR");
    char path[4096];
    char real[4096];
    (void)snprintf(path, sizeof path, "%s/csb-ctest-XXXXXX",
                   base == NULL ? "/tmp" : base);
    assert_non_null(mkdtemp(path));
    assert_int_equal(chmod(path, 0755), 0);
    assert_non_null(realpath(path, real));
    return strdup(real);
}

static void
remove_all(const char *path)
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)execl("/bin/rm", "rm", "-rf", "--", path, (char *)NULL);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

void
folder_remove(char *path)
{
    remove_all(path);
    free(path);
}

void
folder_empty(const char *path)
{
    remove_all(path);
    assert_int_equal(mkdir(path, 0755), 0);
}

int
folder_count(const char *path)
{
    DIR *listing = opendir(path);
    int count = 0;
    if (listing == NULL) {
        return -1;
    }
    while (readdir(listing) != NULL) {
        count++;
    }
    assert_int_equal(closedir(listing), 0);
    return count - 2;
}

bool
exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

const char *
below(const char *folder, const char *name, char *buffer, size_t size)
{
    int length = snprintf(buffer, size, "%s/%s", folder, name);
    assert_true(length > 0 && (size_t)length < size);
    return buffer;
}

void
write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(close(fd), 0);
}
