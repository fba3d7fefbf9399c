/* Theory of operation: sets of module and builtin names from a profile; sorted once, searched by
 * bisection. Profiles are trusted, the names looked up are not. */
#include "nameset.h"

#include "tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int
compare_items(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

int
csb_nameset_init(struct csb_nameset *ret, const char *const *items, size_t len)
{
    memset(ret, 0, sizeof *ret);
    ret->items = calloc(len == 0 ? 1 : len, sizeof *ret->items);
    if (ret->items == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < len; i++) {
        ret->items[i] = strdup(items[i]);
        if (ret->items[i] == NULL) {
            csb_nameset_done(ret);
            return -ENOMEM;
        }
        ret->len++;
    }
    if (len > 1) {
        qsort(ret->items, len, sizeof *ret->items, compare_items);
    }
    return 0;
}

void
csb_nameset_done(struct csb_nameset *set)
{
    for (size_t i = 0; i < set->len; i++) {
        free(set->items[i]);
    }
    free(set->items);
    memset(set, 0, sizeof *set);
}

bool
csb_nameset_has(const struct csb_nameset *set, const char *name, size_t len)
{
    size_t low = 0;
    size_t high = set->len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = csb_name_compare(name, len, set->items[middle]);
        if (order == 0) {
            return true;
        }
        if (order > 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return false;
}

size_t
csb_nameset_longest_prefix(const struct csb_nameset *set, const char *dotted,
                           size_t len)
{
    size_t at = len;
    while (at > 0) {
        if (csb_nameset_has(set, dotted, at)) {
            return at;
        }
        do {
            at--;
        } while (at > 0 && dotted[at] != '.');
    }
    return 0;
}

#define LONGEST_NAME 40

size_t
csb_edit_distance(const char *left, size_t left_len, const char *right,
                  size_t right_len, size_t limit)
{
    size_t rows[3][LONGEST_NAME + 1];
    if (left_len > LONGEST_NAME || right_len > LONGEST_NAME) {
        return limit + 1;
    }
    for (size_t j = 0; j <= right_len; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= left_len; i++) {
        size_t *row = rows[i % 3];
        const size_t *previous = rows[(i - 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= right_len; j++) {
            size_t best = previous[j - 1] + (left[i - 1] != right[j - 1]);
            best = previous[j] + 1 < best ? previous[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            if (i > 1 && j > 1 && left[i - 1] == right[j - 2] &&
                left[i - 2] == right[j - 1] && rows[(i - 2) % 3][j - 2] + 1 < best) {
                best = rows[(i - 2) % 3][j - 2] + 1;
            }
            row[j] = best;
        }
    }
    return rows[left_len % 3][right_len];
}
