/* Theory of operation: pure functions over two strings. The pattern comes from the caller,
 * the path from hostile code. Within a part, matching goes back to the last star only, so it
 * takes at most pattern × name steps; not fnmatch(3), whose answer depends on the locale and
 * whose time on the name. */
#include "pattern.h"

#include <string.h>

static const char *
end_of_part(const char *at)
{
    return at + strcspn(at, "/");
}

static const char *
next_part(const char *at)
{
    at = end_of_part(at);
    return *at == '/' ? at + 1 : at;
}

/* Bytes of the character at `at`: 1 for what is not UTF-8. */
static size_t
width(const char *at, const char *end)
{
    unsigned char first = (unsigned char)*at;
    size_t wanted = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 1;
    for (size_t i = 1; i < wanted; i++) {
        if (at + i >= end || ((unsigned char)at[i] & 0xC0) != 0x80) {
            return 1;
        }
    }
    return wanted;
}

/* UTF-8 keeps the order of code points, so characters can be compared as bytes. */
static int
compare(const char *one, size_t one_bytes, const char *other, size_t other_bytes)
{
    size_t shorter = one_bytes < other_bytes ? one_bytes : other_bytes;
    int order = memcmp(one, other, shorter);
    return order != 0 ? order : (int)one_bytes - (int)other_bytes;
}

/* The `]` of the set that opens at `at`; NULL when it is not closed. */
static const char *
end_of_set(const char *at, const char *end)
{
    at++;
    if (at < end && *at == '!') {
        at++;
    }
    if (at < end && *at == ']') { /* first: one of the set */
        at++;
    }
    while (at < end && *at != ']') {
        at++;
    }
    return at < end ? at : NULL;
}

static bool
in_set(const char *at, const char *end, const char *name, size_t bytes)
{
    bool inverted = at[1] == '!';
    bool found = false;
    at += inverted ? 2 : 1;
    while (at < end) {
        size_t low = width(at, end);
        const char *high_at = at;
        size_t high = low;
        if (at + low + 1 < end && at[low] == '-') {
            high_at = at + low + 1;
            high = width(high_at, end);
        }
        found = found || (compare(at, low, name, bytes) <= 0 &&
                          compare(name, bytes, high_at, high) <= 0);
        at = high_at + high;
    }
    return found != inverted;
}

/* Does one character of the pattern match that of the name? *ret: what follows in the
 * pattern. */
static bool
one_matches(const char *at, const char *end, const char *name, size_t bytes,
            const char **ret)
{
    const char *set_end = *at == '[' ? end_of_set(at, end) : NULL;
    size_t own = width(at, end);
    if (set_end != NULL) {
        *ret = set_end + 1;
        return in_set(at, set_end, name, bytes);
    }
    *ret = at + own;
    return *at == '?' || compare(at, own, name, bytes) == 0;
}

static bool
part_matches(const char *pattern, const char *name)
{
    const char *pattern_end = end_of_part(pattern);
    const char *name_end = end_of_part(name);
    const char *star = NULL;   /* after the last one … */
    const char *resume = name; /* … and where the name goes on after it */
    if (*name == '.' && *pattern != '.') {
        return false;
    }
    while (name < name_end) {
        size_t bytes = width(name, name_end);
        const char *after = pattern;
        if (pattern < pattern_end && *pattern == '*') {
            star = ++pattern;
            resume = name;
        } else if (pattern < pattern_end &&
                   one_matches(pattern, pattern_end, name, bytes, &after)) {
            pattern = after;
            name += bytes;
        } else if (star != NULL) {
            pattern = star;
            resume += width(resume, name_end);
            name = resume;
        } else {
            return false;
        }
    }
    while (pattern < pattern_end && *pattern == '*') {
        pattern++;
    }
    return pattern == pattern_end;
}

static bool
any_folders(const char *pattern)
{
    return strncmp(pattern, "**", 2) == 0 && (pattern[2] == '/' || pattern[2] == '\0');
}

static unsigned
no_part_is_hidden(const char *path)
{
    for (; *path != '\0'; path = next_part(path)) {
        if (*path == '.') {
            return 0;
        }
    }
    return CSB_PATTERN_MATCHES | CSB_PATTERN_REACHES;
}

/* Deep as the path has parts; broad where there are many `**`, which is the caller's choice. */
unsigned
csb_pattern_match(const char *pattern, const char *path)
{
    while (*pattern != '\0' && *path != '\0') {
        if (any_folders(pattern)) {
            const char *rest = next_part(pattern);
            unsigned found =
                *rest == '\0' ? no_part_is_hidden(path) : csb_pattern_match(rest, path);
            return *path == '.' || *rest == '\0'
                       ? found
                       : found | csb_pattern_match(pattern, next_part(path));
        }
        if (!part_matches(pattern, path)) {
            return 0;
        }
        pattern = next_part(pattern);
        path = next_part(path);
    }
    if (*path != '\0') {
        return 0;
    }
    return *pattern == '\0' ? CSB_PATTERN_MATCHES : CSB_PATTERN_REACHES;
}
