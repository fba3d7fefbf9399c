/* A folder of a test's own, and small looks at what is in it. Fails the test on error. */
#ifndef TEST_FOLDER_H
#define TEST_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* Make an empty folder below $TMPDIR, mode 0755. The caller frees the path. */
char *folder_make(void);

/* Remove it with everything in it, by rm(1): nothing of the code under test. Frees. */
void folder_remove(char *path);

/* Remove what is in it, also by rm(1), and make it anew. */
void folder_empty(const char *path);

/* Entries, "." and ".." not counted; -1 when it can not be listed. */
int folder_count(const char *path);

bool exists(const char *path);

/* "folder/name" in a buffer of the caller's. */
const char *below(const char *folder, const char *name, char *buffer, size_t size);

/* Make a file with that text. */
void write_file(const char *path, const char *text);

#endif
