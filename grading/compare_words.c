/* Theory of operation: in the caller, GIL released. Word for word; only what makes two words
 * equal differs between the comparators. Nothing is allocated but one locale, so that the
 * host's does not decide what a decimal point is. */
#include "text_difference.h"

#include "number.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A longer word is no number that anybody prints; it is compared as a word. */
enum { MOST_DIGITS = 400 };

struct words {
    enum csb_text_kind kind;
    const struct csb_compare_options *options;
    locale_t locale; /* float only */
};

static unsigned char
lower(unsigned char byte)
{
    return byte >= 'A' && byte <= 'Z' ? (unsigned char)(byte | 0x20) : byte;
}

static bool
is_word(const unsigned char *bytes, size_t count, const char *word)
{
    if (count != strlen(word)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (lower(bytes[i]) != (unsigned char)word[i]) {
            return false;
        }
    }
    return true;
}

static size_t
digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* [+-] digits [. digits] [e [+-] digits], at least one digit before the exponent. */
static bool
is_decimal(const char *text)
{
    size_t whole;
    size_t part = 0;
    text += *text == '+' || *text == '-';
    whole = digits(text);
    text += whole;
    if (*text == '.') {
        part = digits(text + 1);
        text += 1 + part;
    }
    if (whole + part == 0) {
        return false;
    }
    if (*text == 'e' || *text == 'E') {
        text++;
        text += *text == '+' || *text == '-';
        if (digits(text) == 0) {
            return false;
        }
        text += digits(text);
    }
    return *text == '\0';
}

static bool
to_number(const struct words *words, const unsigned char *bytes, size_t count,
          double *ret)
{
    char text[MOST_DIGITS + 1];
    size_t sign = count > 0 && (bytes[0] == '+' || bytes[0] == '-') ? 1 : 0;
    if (count > MOST_DIGITS || memchr(bytes, '\0', count) != NULL) {
        return false;
    }
    if (is_word(bytes + sign, count - sign, "nan")) {
        *ret = (double)NAN;
        return true;
    }
    if (is_word(bytes + sign, count - sign, "inf") ||
        is_word(bytes + sign, count - sign, "infinity")) {
        *ret = bytes[0] == '-' ? -(double)INFINITY : (double)INFINITY;
        return true;
    }
    memcpy(text, bytes, count);
    text[count] = '\0';
    if (!is_decimal(text)) {
        return false;
    }
    *ret =
        strtod_l(text, NULL, words->locale); /* beyond its range: an infinity, or 0 */
    return isfinite(*ret);
}

static bool
close_numbers(const struct words *words, const unsigned char *got, size_t got_count,
              const unsigned char *expected, size_t expected_count)
{
    double one;
    double two;
    if (!to_number(words, got, got_count, &one) ||
        !to_number(words, expected, expected_count, &two)) {
        return false;
    }
    if (isnan(one) || isnan(two)) {
        return isnan(one) && isnan(two) && words->options->nan_equal;
    }
    return csb_number_close(one, two, words->options->relative,
                            words->options->absolute);
}

static bool
equal(const struct words *words, const unsigned char *got, size_t got_count,
      const unsigned char *expected, size_t expected_count)
{
    bool same = got_count == expected_count;
    switch (words->kind) {
    case CSB_TEXT_FLOAT:
        same = same && memcmp(got, expected, got_count) == 0;
        if (same && !words->options->nan_equal) {
            double number;
            same = lower(got[got_count - 1]) != 'n' ||
                   !to_number(words, got, got_count, &number) || !isnan(number);
        }
        return same || close_numbers(words, got, got_count, expected, expected_count);
    case CSB_TEXT_CASE_INSENSITIVE:
    case CSB_TEXT_YES_NO:
        for (size_t i = 0; same && i < got_count; i++) {
            same = lower(got[i]) == lower(expected[i]);
        }
        return same;
    default:
        return same && memcmp(got, expected, got_count) == 0;
    }
}

static int
no_answer(struct csb_text_difference *ret, struct csb_text_piece text,
          const struct csb_span *word)
{
    ret->expected = csb_text_place_at(text, word->line, word->line_start, word->start);
    (void)snprintf(ret->what, sizeof ret->what,
                   "line %zu: yes_no compares answers that are yes or no", word->line);
    return -EINVAL;
}

static int
compare(const struct words *words, struct csb_text_piece got,
        struct csb_text_piece expected, struct csb_text_difference *ret)
{
    struct csb_cursor one;
    struct csb_cursor two;
    csb_cursor_init(&one, got.bytes, got.count);
    csb_cursor_init(&two, expected.bytes, expected.count);
    for (;;) {
        struct csb_span got_word;
        struct csb_span expected_word;
        bool has_got = csb_cursor_word(&one, &got_word);
        bool has_expected = csb_cursor_word(&two, &expected_word);
        const unsigned char *word = expected.bytes + expected_word.start;
        size_t length = expected_word.end - expected_word.start;
        if (words->kind == CSB_TEXT_YES_NO && has_expected &&
            !is_word(word, length, "yes") && !is_word(word, length, "no")) {
            return no_answer(ret, expected, &expected_word);
        }
        if (!has_got && !has_expected) {
            return 0;
        }
        if (!has_got || !has_expected ||
            !equal(words, got.bytes + got_word.start, got_word.end - got_word.start,
                   word, length)) {
            return csb_text_differ(ret, got, &got_word, expected, &expected_word);
        }
    }
}

int
csb_compare_words(enum csb_text_kind kind, struct csb_text_piece got,
                  struct csb_text_piece expected,
                  const struct csb_compare_options *options,
                  struct csb_text_difference *ret)
{
    struct words words = {.kind = kind, .options = options};
    int result;
    if (kind == CSB_TEXT_FLOAT) {
        words.locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        if (words.locale == (locale_t)0) {
            return -ENOMEM;
        }
    }
    result = compare(&words, got, expected, ret);
    if (words.locale != (locale_t)0) {
        freelocale(words.locale);
    }
    return result;
}
