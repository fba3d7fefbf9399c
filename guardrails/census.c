/* Theory of operation: a source of a million tokens costs the parser a second, and the answer is
 * known before: nobody writes them, they are made. So tokens are counted first, by a loop that
 * knows words, strings, comments and line ends, for a few nanoseconds a byte. In the caller's
 * process, without the GIL. Trusts nothing about the bytes; judges nothing but their number. */
#include "census.h"

#include <string.h>

#include "literal.h"

/* What they cost the parser: a string has two quotes, a replacement field two braces. */
#define TOKENS_OF_STRING 3
#define TOKENS_OF_FIELD 3

struct reader {
    const char *text;
    size_t len;
    size_t at;
    size_t depth; /* of brackets: within them a line end is no token */
    uint64_t run; /* of continuations with nothing between them */
    uint64_t count;
    bool begun; /* the line holds a token */
};

static bool
is_word(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || (unsigned char)byte >= 0x80;
}

/* The rest of a string whose opening quote has been read: escapes and fields are nodes, too. A
 * line end closes a string that is not triple, for the next line may be anything. */
static void
read_string(struct reader *reader, const struct csb_literal *literal, uint64_t most)
{
    while (reader->at < reader->len && reader->count <= most) {
        const char *here = reader->text + reader->at;
        size_t left = reader->len - reader->at;
        reader->at++;
        if (*here == '\\') {
            reader->count += !literal->raw;
            reader->at++;
        } else if (*here == '{') {
            reader->count += literal->format ? TOKENS_OF_FIELD : 0;
        } else if (*here == literal->quote && !literal->triple) {
            return;
        } else if (*here == literal->quote && left > 2 && here[1] == *here &&
                   here[2] == *here) {
            reader->at += 2;
            return;
        } else if (*here == '\n' && !literal->triple) {
            return;
        }
    }
}

/* A name, a number or a string with its prefix. */
static void
read_word(struct reader *reader, uint64_t most)
{
    const char *start = reader->text + reader->at;
    size_t left = reader->len - reader->at;
    struct csb_literal literal;
    size_t used = 0;
    if (csb_literal_open(start, left, &literal)) {
        reader->at += literal.body;
        reader->count += TOKENS_OF_STRING - 1;
        read_string(reader, &literal, most);
        return;
    }
    while (used < left && is_word(start[used])) {
        used++;
    }
    /* 1.5, and neither a.b nor 1.1.1 */
    if (start[0] >= '0' && start[0] <= '9' && used < left && start[used] == '.') {
        used++;
        while (used < left && is_word(start[used])) {
            used++;
        }
    }
    reader->at += used;
}

/* An operator of one to three characters. */
static void
read_sign(struct reader *reader)
{
    const char *here = reader->text + reader->at;
    size_t left = reader->len - reader->at;
    size_t used = 1;
    if (left > 1 && here[1] == *here && strchr("*/<>.", *here) != NULL) {
        used++;
    }
    if (*here == '-' && left > 1 && here[1] == '>') {
        used++;
    } else if (left > used && here[used] == '=' &&
               strchr("=!<>+-*/%&|^@:", *here) != NULL) {
        used++;
    }
    if (*here == '(' || *here == '[' || *here == '{') {
        reader->depth++;
    } else if (*here == ')' || *here == ']' || *here == '}') {
        reader->depth -= reader->depth > 0;
    }
    reader->at += used;
}

static void
read_comment(struct reader *reader)
{
    const char *here = reader->text + reader->at;
    const char *end = memchr(here, '\n', reader->len - reader->at);
    reader->at = end == NULL ? reader->len : (size_t)(end - reader->text);
}

static void
read_token(struct reader *reader, uint64_t most)
{
    char byte = reader->text[reader->at];
    reader->count++;
    if (byte == '\\') {
        /* A token of the parser, for which it reads the whole run that follows. */
        reader->count += reader->run++;
        reader->at += 2;
        return;
    }
    reader->run = 0;
    if (byte == '\n') {
        reader->count -= !reader->begun || reader->depth > 0;
        reader->begun = false;
        reader->at++;
        return;
    }
    if (byte == '#') {
        read_comment(reader);
        return;
    }
    reader->begun = true;
    if (is_word(byte) || byte == '"' || byte == '\'') {
        read_word(reader, most);
    } else {
        read_sign(reader);
    }
}

uint64_t
csb_census(const char *text, size_t len, uint64_t most, size_t *ret_at)
{
    struct reader reader = {.text = text, .len = len};
    *ret_at = 0;
    while (reader.at < len && reader.count <= most) {
        char byte = text[reader.at];
        if (byte == ' ' || byte == '\t' || byte == '\f') {
            reader.at++;
            continue;
        }
        *ret_at = reader.at;
        read_token(&reader, most);
    }
    return reader.count;
}
