/* Theory of operation: in the caller, GIL released. Two collections of lines are equal when
 * their numbers and the sums of their lines' keyed hashes are: one pass, no memory, and nobody
 * without the key can make different lines add up. Only when they differ is a table made, to
 * say which line is too many or missing. */
#include "text_difference.h"

#include "hash_table.h"

#include <errno.h>
#include <stdio.h>

struct total {
    struct csb_hash sum;
    size_t lines; /* empty ones at the end left out */
};

static struct csb_hash
hash_line(const struct csb_hash_secret *secret, struct csb_text_piece text,
          const struct csb_span *line)
{
    struct csb_hasher hasher;
    csb_hasher_init(&hasher, secret);
    csb_hasher_add(&hasher, text.bytes + line->start, line->end - line->start);
    return csb_hasher_end(&hasher);
}

static struct total
add_up(const struct csb_hash_secret *secret, struct csb_text_piece text)
{
    struct total total = {{{0, 0}}, 0};
    struct csb_hash empty_lines = {{0, 0}};
    struct csb_cursor cursor;
    struct csb_span line;
    size_t read = 0;
    csb_cursor_init(&cursor, text.bytes, text.count);
    while (csb_cursor_line(&cursor, &line)) {
        struct csb_hash hash = hash_line(secret, text, &line);
        read++;
        csb_hash_add_to(&empty_lines, hash);
        if (line.end > line.start) {
            /* Empty lines count when another line follows. */
            csb_hash_add_to(&total.sum, empty_lines);
            empty_lines = (struct csb_hash){{0, 0}};
            total.lines = read;
        }
    }
    return total;
}

/* How often each line is there. 0, -ENOMEM, or -E2BIG when there are too many. */
static int
count_lines(const struct csb_hash_secret *secret, struct csb_text_piece text,
            size_t lines, struct csb_hash_table *ret)
{
    struct csb_cursor cursor;
    struct csb_span line;
    int result =
        csb_hash_table_init(ret, lines < CSB_MOST_LINES ? lines : CSB_MOST_LINES);
    csb_cursor_init(&cursor, text.bytes, text.count);
    for (size_t i = 0; i < lines && result == 0 && csb_cursor_line(&cursor, &line);
         i++) {
        struct csb_hash_slot *slot =
            csb_hash_table_get(ret, hash_line(secret, text, &line));
        if (slot == NULL) {
            csb_hash_table_done(ret);
            result = -E2BIG;
        } else {
            slot->number++;
        }
    }
    return result;
}

/* The first line of `text` that is oftener there than in the other, whose lines `table` has.
 * False when there is none. */
static bool
find_surplus(const struct csb_hash_secret *secret, struct csb_text_piece text,
             size_t lines, struct csb_hash_table *table, struct csb_text_place *ret)
{
    struct csb_cursor cursor;
    struct csb_span line;
    csb_cursor_init(&cursor, text.bytes, text.count);
    for (size_t i = 0; i < lines && csb_cursor_line(&cursor, &line); i++) {
        struct csb_hash_slot *slot =
            csb_hash_table_find(table, hash_line(secret, text, &line));
        if (slot == NULL || slot->number == 0) {
            *ret = csb_text_place_at(text, line.line, line.line_start, line.start);
            return true;
        }
        slot->number--;
    }
    return false;
}

/* Place of the first line of `text` that `other` has not, or has less often. 0 or -ENOMEM. */
static int
locate(const struct csb_hash_secret *secret, struct csb_text_piece text, size_t lines,
       struct csb_text_piece other, size_t other_lines, struct csb_text_place *ret)
{
    struct csb_hash_table table;
    int result = count_lines(secret, other, other_lines, &table);
    if (result == -E2BIG) {
        return 0; /* then its place stays unknown */
    }
    if (result == 0) {
        if (!find_surplus(secret, text, lines, &table, ret)) {
            *ret = (struct csb_text_place){.at_end = true};
        }
        csb_hash_table_done(&table);
    }
    return result;
}

int
csb_compare_unordered(struct csb_text_piece got, struct csb_text_piece expected,
                      struct csb_text_difference *ret)
{
    const struct csb_hash_secret secret = csb_hash_secret_new();
    struct total one = add_up(&secret, got);
    struct total two = add_up(&secret, expected);
    int result;
    if (one.lines == two.lines && csb_hash_equal(one.sum, two.sum)) {
        return 0;
    }
    (void)snprintf(ret->what, sizeof ret->what, "%zu lines, expected %zu, in any order",
                   one.lines, two.lines);
    result = locate(&secret, got, one.lines, expected, two.lines, &ret->got);
    if (result == 0) {
        result = locate(&secret, expected, two.lines, got, one.lines, &ret->expected);
    }
    return result < 0 ? result : 1;
}
