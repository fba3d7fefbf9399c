/* Filling a difference. For the comparators of this folder. */
#ifndef CSB_TEXT_DIFFERENCE_H
#define CSB_TEXT_DIFFERENCE_H

#include "compare_text.h"
#include "cursor.h"

/* The place `offset` of a text, on the line that began at `line_start`. */
struct csb_text_place csb_text_place_at(struct csb_text_piece text, size_t line,
                                        size_t line_start, size_t offset);

/* Two spans differ: at their first different byte. Returns 1. */
int csb_text_differ(struct csb_text_difference *ret, struct csb_text_piece got,
                    const struct csb_span *got_span, struct csb_text_piece expected,
                    const struct csb_span *expected_span);

/* The comparators; each as csb_compare_text. */
int csb_compare_exact(struct csb_text_piece got, struct csb_text_piece expected,
                      const struct csb_compare_options *options,
                      struct csb_text_difference *ret) CSB_MUST_USE;
int csb_compare_lines(struct csb_text_piece got, struct csb_text_piece expected,
                      struct csb_text_difference *ret) CSB_MUST_USE;
int csb_compare_words(enum csb_text_kind kind, struct csb_text_piece got,
                      struct csb_text_piece expected,
                      const struct csb_compare_options *options,
                      struct csb_text_difference *ret) CSB_MUST_USE;
int csb_compare_unordered(struct csb_text_piece got, struct csb_text_piece expected,
                          struct csb_text_difference *ret) CSB_MUST_USE;
int csb_compare_json(struct csb_text_piece got, struct csb_text_piece expected,
                     const struct csb_compare_options *options,
                     struct csb_text_difference *ret) CSB_MUST_USE;

#endif
