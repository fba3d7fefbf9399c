/* A configuration of the guard for C tests, and checks of literal sources. */
#ifndef CSB_TEST_GUARD_FIXTURE_H
#define CSB_TEST_GUARD_FIXTURE_H

#include "engine.h"

/* Allows math, random, sys and collections; denies collections.abc; caps at 3 per rule.
 * The caller frees it with csb_guard_config_free. */
struct csb_guard_config *guard_fixture(void);

/* The codes found, blocking or not, separated by blanks, in the order of the source; valid
 * until the next call. */
const char *guard_codes(const char *source);
const char *guard_codes_of(const char *bytes, size_t len);

/* The same of `count` times `part` between `head` and `tail`. */
const char *guard_codes_of_many(const char *head, const char *part, size_t count,
                                const char *tail);

/* The codes of `count` parts between head and tail under limits of a megabyte, each once in the
 * order of the source, and what the check has spent. */
const char *guard_spent_of_many(const char *head, const char *part, size_t count,
                                const char *tail, struct csb_spent *ret);

#endif
