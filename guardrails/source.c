/* Theory of operation: turns the caller's bytes into the one text that the parser reads, that
 * the messages quote and that the child compiles, so that nobody can be shown another program
 * than the one that runs. Trusts nothing about the bytes; never interprets a coding cookie. */
#include "source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Length of the valid UTF-8 sequence at bytes[0], 0 when it is broken: overlong forms,
 * surrogates and values above U+10FFFF are refused as CPython refuses them. */
static size_t
sequence_length(const unsigned char *bytes, size_t len)
{
    unsigned char lead = bytes[0];
    size_t need;
    unsigned char low = 0x80;
    unsigned char high = 0xbf;
    if (lead >= 0xc2 && lead <= 0xdf) {
        need = 2;
    } else if (lead >= 0xe0 && lead <= 0xef) {
        need = 3;
        low = lead == 0xe0 ? 0xa0 : 0x80;
        high = lead == 0xed ? 0x9f : 0xbf;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
        need = 4;
        low = lead == 0xf0 ? 0x90 : 0x80;
        high = lead == 0xf4 ? 0x8f : 0xbf;
    } else {
        return 0;
    }
    if (len < need || bytes[1] < low || bytes[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < need; i++) {
        if ((bytes[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return need;
}

/* Length of the run of ASCII at the beginning, eight bytes at a time. */
static size_t
ascii_run(const unsigned char *bytes, size_t len)
{
    size_t at = 0;
    uint64_t word;
    for (; len - at >= sizeof word; at += sizeof word) {
        memcpy(&word, bytes + at, sizeof word);
        if ((word & UINT64_C(0x8080808080808080)) != 0) {
            break;
        }
    }
    /* The analyzer loses track of how long the normalised copy is.
     * NOLINTNEXTLINE(clang-analyzer-security.ArrayBound) */
    while (at < len && bytes[at] < 0x80) {
        at++;
    }
    return at;
}

static void
validate(struct csb_source *source)
{
    const unsigned char *bytes = (const unsigned char *)source->text;
    const char *nul = memchr(source->text, '\0', source->len);
    size_t at = ascii_run(bytes, source->len);
    source->nul = nul == NULL ? CSB_NOWHERE : (size_t)(nul - source->text);
    source->invalid_utf8 = CSB_NOWHERE;
    source->ascii = at == source->len;
    while (at < source->len) {
        size_t used = sequence_length(bytes + at, source->len - at);
        if (used == 0) {
            source->invalid_utf8 = at;
            return;
        }
        at += used;
        at += ascii_run(bytes + at, source->len - at);
    }
}

/* CR and CRLF become LF, as CPython's tokenizer does for a str and for a file. */
static void
copy_normalised(struct csb_source *source, const char *bytes, size_t len)
{
    size_t out = 0;
    size_t at = 0;
    while (at < len) {
        const char *cr = memchr(bytes + at, '\r', len - at);
        size_t run = cr == NULL ? len - at : (size_t)(cr - (bytes + at));
        memcpy(source->text + out, bytes + at, run);
        out += run;
        at += run;
        if (cr != NULL) {
            source->text[out++] = '\n';
            at++;
            if (at < len && bytes[at] == '\n') {
                at++;
            }
        }
    }
    source->text[out] = '\0';
    source->len = out;
}

static int
index_lines(struct csb_source *source)
{
    size_t cap = 64;
    const char *end = source->text + source->len;
    const char *at = source->text;
    source->line_starts = malloc(cap * sizeof *source->line_starts);
    if (source->line_starts == NULL) {
        return -ENOMEM;
    }
    source->line_starts[0] = 0;
    source->line_count = 1;
    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        at++;
        if (source->line_count == cap) {
            size_t *bigger;
            cap *= 2;
            bigger = realloc(source->line_starts, cap * sizeof *bigger);
            if (bigger == NULL) {
                return -ENOMEM;
            }
            source->line_starts = bigger;
        }
        source->line_starts[source->line_count++] = (size_t)(at - source->text);
    }
    return 0;
}

int
csb_source_init(struct csb_source *ret, const char *bytes, size_t len, size_t keep)
{
    int r;
    memset(ret, 0, sizeof *ret);
    ret->raw_len = len;
    ret->cut = len > keep;
    len = ret->cut ? keep : len;
    if (len >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
        bytes += 3;
        len -= 3;
    }
    ret->text = malloc(len + 1);
    if (ret->text == NULL) {
        return -ENOMEM;
    }
    copy_normalised(ret, bytes, len);
    r = index_lines(ret);
    if (r < 0) {
        csb_source_done(ret);
        return r;
    }
    validate(ret);
    return 0;
}

void
csb_source_done(struct csb_source *source)
{
    free(source->text);
    free(source->line_starts);
    memset(source, 0, sizeof *source);
}

size_t
csb_char_count(const char *bytes, size_t len)
{
    size_t count = 0;
    for (size_t i = 0; i < len; i++) {
        count += ((unsigned char)bytes[i] & 0xc0) != 0x80;
    }
    return count;
}

struct csb_place
csb_source_place(const struct csb_source *source, size_t offset)
{
    size_t low = 0;
    size_t high = source->line_count;
    struct csb_place place;
    if (offset > source->len) {
        offset = source->len;
    }
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (source->line_starts[middle] <= offset) {
            low = middle;
        } else {
            high = middle;
        }
    }
    place.line = (uint32_t)(low + 1);
    place.column =
        (uint32_t)(1 + csb_char_count(source->text + source->line_starts[low],
                                      offset - source->line_starts[low]));
    return place;
}

const char *
csb_source_line(const struct csb_source *source, uint32_t line, size_t *ret_len)
{
    size_t index = line == 0 ? 0 : line - 1;
    size_t start;
    size_t end;
    if (index >= source->line_count) {
        index = source->line_count - 1;
    }
    start = source->line_starts[index];
    end = index + 1 < source->line_count ? source->line_starts[index + 1] - 1
                                         : source->len;
    *ret_len = end - start;
    return source->text + start;
}
