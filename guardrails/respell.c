/* Theory of operation: the grammar reads `:=` in a format for an assignment expression, and a line
 * within brackets that begins left of its statement for the end of a block. Both are honest and
 * common (f"{'Report':=^40}"). And before each comment it reads all comments that follow, to know
 * the indentation behind them. They are spelt in another way before the parser sees them, with no
 * byte moved. Nothing that CPython would execute can be hidden so: no bracket, quote, name or
 * comment is touched, and what the tree does not show is still found by the second opinion. */
#include "respell.h"

#include <string.h>

#include "literal.h"

/* Does a format begin here (after `:=`) that cannot be an expression? An alignment, or digits
 * with the type that ends them: `08.2f}`; `8j}` and `0x}` are left alone. */
static bool
is_format(const char *at)
{
    const char *digits;
    if (*at == '<' || *at == '>' || *at == '^' || *at == '=') {
        return true;
    }
    at += strspn(at, "+- ");
    digits = at;
    at += strspn(at, "0123456789,_.");
    return at > digits && *at != '\0' && strchr("bcdeEfFgGnosX%", *at) != NULL &&
           at[1] == '}';
}

bool
csb_respell_formats(char *text, size_t len)
{
    bool changed = false;
    char *at = text;
    const char *end = text + len;
    while ((at = memmem(at, (size_t)(end - at), ":=", 2)) != NULL) {
        if (is_format(at + 2)) {
            at[1] = '*';
            changed = true;
        }
        at += 2;
    }
    return changed;
}

/* Knows no strings: a line end between two lines of a string that begin with a hash becomes a
 * blank in the string, whose value is read from the source as written. A line that ends in a
 * backslash is left alone. */
bool
csb_respell_comments(char *text, size_t len)
{
    char *const end = text + len;
    char *line = text;
    char *last =
        NULL; /* the line end of the comment above, when only blank lines followed */
    bool changed = false;
    while (line < end) {
        char *first = line + strspn(line, " \t\f");
        char *stop = memchr(first, '\n', (size_t)(end - first));
        if (stop == NULL) {
            stop = end;
        }
        if (*first == '#') {
            if (last != NULL) {
                memset(last, ' ', (size_t)(line - last));
                changed = true;
            }
            last = stop < end && stop[-1] != '\\' ? stop : NULL;
        } else if (first != stop) {
            last = NULL;
        }
        line = stop + 1;
    }
    return changed;
}

/* The byte after the string whose first quote is at `at`. */
static size_t
after_string(const char *text, size_t at, size_t len)
{
    struct csb_literal literal;
    return csb_literal_open(text + at, len - at, &literal)
               ? at + csb_literal_end(text + at, len - at, &literal)
               : at + 1;
}

/* The line end after a comment. Within brackets the comment is blanked, so that its line can be
 * joined to the next; one with a quote stays, since it may be the inside of a string whose end
 * this reader did not see, with code behind it. */
static size_t
after_comment(char *text, size_t at, bool blank)
{
    size_t len = strcspn(text + at, "\n");
    if (!blank) {
        return at + len;
    }
    if (memchr(text + at, '"', len) != NULL || memchr(text + at, '\'', len) != NULL) {
        return at + len + (text[at + len] == '\n'); /* which ends the comment */
    }
    memset(text + at, ' ', len);
    return at + len;
}

bool
csb_respell_lines(char *text, size_t len)
{
    bool changed = false;
    size_t depth = 0;
    size_t at = 0;
    while (at < len) {
        switch (text[at]) {
        case '"':
        case '\'':
            at = after_string(text, at, len);
            continue;
        case '#':
            at = after_comment(text, at, depth > 0);
            continue;
        case '\\':
            at++;
            break;
        case '(':
        case '[':
        case '{':
            depth++;
            break;
        case ')':
        case ']':
        case '}':
            depth -= depth > 0;
            break;
        case '\n':
            if (depth > 0) {
                text[at] = ' ';
                changed = true;
            }
            break;
        default:
            break;
        }
        at++;
    }
    return changed;
}
