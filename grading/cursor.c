/* Theory of operation: in the caller, GIL released, over texts of any size and content. Each
 * byte is looked at once; nothing is allocated. */
#include "cursor.h"

#include <string.h>

void
csb_cursor_init(struct csb_cursor *cursor, const void *bytes, size_t count)
{
    *cursor = (struct csb_cursor){.bytes = bytes, .count = count, .line = 1};
}

bool
csb_is_space(unsigned char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

bool
csb_cursor_word(struct csb_cursor *cursor, struct csb_span *ret)
{
    while (cursor->at < cursor->count && csb_is_space(cursor->bytes[cursor->at])) {
        if (cursor->bytes[cursor->at++] == '\n') {
            cursor->line++;
            cursor->line_start = cursor->at;
        }
    }
    *ret = (struct csb_span){cursor->at, cursor->at, cursor->line, cursor->line_start};
    while (cursor->at < cursor->count && !csb_is_space(cursor->bytes[cursor->at])) {
        cursor->at++;
    }
    ret->end = cursor->at;
    return ret->end > ret->start;
}

bool
csb_cursor_line(struct csb_cursor *cursor, struct csb_span *ret)
{
    const unsigned char *newline;
    *ret = (struct csb_span){cursor->at, cursor->at, cursor->line, cursor->at};
    if (cursor->at == cursor->count) {
        return false;
    }
    newline = memchr(cursor->bytes + cursor->at, '\n', cursor->count - cursor->at);
    ret->end = newline == NULL ? cursor->count : (size_t)(newline - cursor->bytes);
    cursor->at = newline == NULL ? cursor->count : ret->end + 1;
    cursor->line += newline != NULL;
    cursor->line_start = cursor->at;
    while (ret->end > ret->start && csb_is_space(cursor->bytes[ret->end - 1])) {
        ret->end--;
    }
    return true;
}

void
csb_cursor_seek(struct csb_cursor *cursor, size_t offset)
{
    while (cursor->at < offset) {
        const unsigned char *newline =
            memchr(cursor->bytes + cursor->at, '\n', offset - cursor->at);
        if (newline == NULL) {
            cursor->at = offset;
            return;
        }
        cursor->at = (size_t)(newline - cursor->bytes) + 1;
        cursor->line++;
        cursor->line_start = cursor->at;
    }
}
