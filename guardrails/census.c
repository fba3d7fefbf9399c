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

#define MOST_NESTED 16 /* f-strings in f-strings; deeper ones are read as text */

/* An f-string whose replacement field is being read. */
struct outer {
    struct csb_literal literal;
    size_t depth; /* of brackets where the field began */
};

struct reader {
    const char *text;
    size_t len;
    size_t at;
    size_t depth; /* of brackets: within them a line end is no token */
    uint64_t run; /* of continuations with nothing between them */
    uint64_t count;
    uint64_t most;
    bool begun; /* the line holds a token */
    size_t nested;
    struct outer outers[MOST_NESTED];
};

static bool
is_word(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || (unsigned char)byte >= 0x80;
}

/* Does the string end here? Its closing quotes are skipped then. A line end closes one that is
 * not triple, for the next line may be anything. */
static bool
closes(struct reader *reader, const struct csb_literal *literal)
{
    const char *here = reader->text + reader->at;
    if (!literal->triple) {
        bool closed = *here == literal->quote || *here == '\n';
        reader->at += *here == literal->quote;
        return closed;
    }
    if (reader->len - reader->at < 3 || here[0] != literal->quote ||
        here[1] != literal->quote || here[2] != literal->quote) {
        return false;
    }
    reader->at += 3;
    return true;
}

/* The text of a string, up to its end or its next replacement field. Escapes and fields are
 * nodes for the parser, too. `format`: the text is the format of a field, up to its brace. */
static void
read_string(struct reader *reader, const struct csb_literal *literal, bool format)
{
    while (reader->at < reader->len && reader->count <= reader->most) {
        char byte = reader->text[reader->at];
        char next = reader->at + 1 < reader->len ? reader->text[reader->at + 1] : '\0';
        if (closes(reader, literal) || (format && byte == '}')) {
            return;
        }
        reader->at++;
        if (byte == '\\') {
            reader->count += !literal->raw;
            reader->at++;
        } else if (byte == '{' && literal->format && next == '{' && !format) {
            reader->at++;
        } else if (byte == '{' && literal->format) {
            reader->count += TOKENS_OF_FIELD;
            if (reader->nested < MOST_NESTED) {
                reader->outers[reader->nested].literal = *literal;
                reader->outers[reader->nested++].depth = reader->depth;
                return;
            }
        }
    }
}

/* Within a replacement field: true when this byte ends it or begins its format. */
static bool
leave_field(struct reader *reader, char byte)
{
    struct outer outer = reader->outers[reader->nested - 1];
    if (byte == '\n' && !outer.literal.triple) {
        reader->nested = 0; /* no field, or a broken one */
        return false;
    }
    if (reader->depth > outer.depth || (byte != '}' && byte != ':')) {
        return false;
    }
    reader->at++;
    if (byte == ':') {
        read_string(reader, &outer.literal, true);
        return true;
    }
    reader->nested--;
    read_string(reader, &outer.literal, false);
    return true;
}

/* A name, a number or a string with its prefix. */
static void
read_word(struct reader *reader)
{
    const char *start = reader->text + reader->at;
    size_t left = reader->len - reader->at;
    struct csb_literal literal;
    size_t used = 0;
    if (csb_literal_open(start, left, &literal)) {
        reader->at += literal.body;
        reader->count += TOKENS_OF_STRING - 1;
        read_string(reader, &literal, false);
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
    if (left > 2 && memcmp(here, "...", 3) == 0) {
        used = 3;
    } else if (left > 1 && here[1] == *here && strchr("*/<>", *here) != NULL) {
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
read_token(struct reader *reader)
{
    char byte = reader->text[reader->at];
    if (reader->nested > 0 && leave_field(reader, byte)) {
        return;
    }
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
        read_word(reader);
    } else {
        read_sign(reader);
    }
}

uint64_t
csb_census(const char *text, size_t len, uint64_t most, size_t *ret_at)
{
    struct reader reader;
    memset(&reader, 0, sizeof reader);
    reader.text = text;
    reader.len = len;
    reader.most = most;
    *ret_at = 0;
    while (reader.at < len && reader.count <= most) {
        char byte = text[reader.at];
        if (byte == ' ' || byte == '\t' || byte == '\f') {
            reader.at++;
            continue;
        }
        *ret_at = reader.at;
        read_token(&reader);
    }
    return reader.count;
}
