/* What a program printed against what was expected, as judges compare; the first difference.
 *
 *   exact             every byte; with final_newline one newline at the end may be missing or
 *                     too many
 *   lines             white space at the end of lines and empty lines at the end do not count
 *   tokens            words, divided by any white space
 *   float             as tokens; two decimal numbers may differ within `absolute`, or within
 *                     `relative` times the expected one. "nan" is close to "nan" only with
 *                     nan_equal, "inf" to "inf" of its sign
 *   case_insensitive  as tokens; A to Z are a to z
 *   yes_no            as case_insensitive; every word must be yes or no
 *   unordered_lines   as lines, in any order, each as often as expected
 *   json              the same JSON value: order of keys and white space do not count, 1 is
 *                     1.0, and with a tolerance numbers may be close
 *
 * Linear in both texts. Memory besides them: none for the first six; for unordered_lines none
 * while they are equal, else up to 128 bytes for each different line, 64 MiB at most (beyond
 * CSB_MOST_LINES the place is not told); for json about 60 bytes an item and the values.
 * Any thread, no GIL; pure C. */
#ifndef CSB_COMPARE_TEXT_H
#define CSB_COMPARE_TEXT_H

#include "csb.h"

enum csb_text_kind {
    CSB_TEXT_EXACT,
    CSB_TEXT_LINES,
    CSB_TEXT_TOKENS,
    CSB_TEXT_FLOAT,
    CSB_TEXT_CASE_INSENSITIVE,
    CSB_TEXT_YES_NO,
    CSB_TEXT_UNORDERED_LINES,
    CSB_TEXT_JSON,
    CSB_TEXT_KINDS
};

enum { CSB_MOST_LINES = 1 << 20 };

struct csb_compare_options {
    double relative;
    double absolute;
    bool nan_equal;
    bool final_newline;
};

struct csb_text_piece {
    const unsigned char *bytes;
    size_t count;
};

/* One side of a difference. */
struct csb_text_place {
    size_t line;                   /* 1-based; 0: unknown */
    size_t column;                 /* 1-based, in characters of UTF-8 */
    struct csb_text_piece excerpt; /* of the line, around the place; borrowed */
    bool at_end;                   /* there is nothing more */
};

struct csb_text_difference {
    bool
        presentation; /* the words are the same: only white space differs (exact, lines) */
    struct csb_text_place got;
    struct csb_text_place expected;
    char what[256]; /* more about it, may be "" */
    /* json: where in the value, and both sides of it, cut; else "" */
    char path[200];
    char got_value[200];
    char expected_value[200];
};

/* The kind of that name, or CSB_TEXT_KINDS. */
enum csb_text_kind csb_text_kind_of(const char *name);

/* 0 equal, 1 with *ret filled, -ENOMEM, or -EINVAL when `expected` is not what its kind needs
 * (no JSON; words other than yes and no): the caller's mistake, `what` says which. */
int csb_compare_text(enum csb_text_kind kind, struct csb_text_piece got,
                     struct csb_text_piece expected,
                     const struct csb_compare_options *options,
                     struct csb_text_difference *ret) CSB_MUST_USE;

#endif
