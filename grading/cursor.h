/* A place in a text that moves forward by words or lines. Pure; borrows the text. */
#ifndef CSB_CURSOR_H
#define CSB_CURSOR_H

#include "csb.h"

struct csb_cursor {
    const unsigned char *bytes;
    size_t count;
    size_t at;
    size_t line;       /* 1-based, of `at` */
    size_t line_start; /* offset */
};

struct csb_span {
    size_t start; /* offsets */
    size_t end;
    size_t line;
    size_t line_start;
};

void csb_cursor_init(struct csb_cursor *cursor, const void *bytes, size_t count);

/* What divides words, and is no matter at the end of a line: space, \t \n \v \f \r. */
bool csb_is_space(unsigned char byte);

/* The next word; false when there is none (*ret is then the end of the text). */
bool csb_cursor_word(struct csb_cursor *cursor, struct csb_span *ret);

/* The next line without white space at its end; false behind the last one. */
bool csb_cursor_line(struct csb_cursor *cursor, struct csb_span *ret);

/* Move to an offset that is not before `at`. */
void csb_cursor_seek(struct csb_cursor *cursor, size_t offset);

#endif
