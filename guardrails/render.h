/* Findings as text for people, in the shape of rustc's.
 *
 * Reads only its arguments; any thread, no GIL. Everything that came from the source is escaped. */
#ifndef CSB_GUARD_RENDER_H
#define CSB_GUARD_RENDER_H

#include "source.h"
#include "text.h"

/* One finding as the caller keeps it. Strings may be NULL or empty. */
struct csb_view {
    const char *code;
    const char *severity;
    const char *message;
    const char *label;
    const char *help;
    const char *note;
    uint32_t line; /* 1-based; 0 = the whole source */
    uint32_t column;
    size_t start; /* bytes of the text in `source` */
    size_t end;
    const char *second; /* label of another place; NULL or empty: none */
    uint32_t second_line;
    size_t second_start;
    size_t second_end;
};

/* What is the same for all findings of one source. */
struct csb_sheet {
    const struct csb_source *source;
    const char *filename;
    size_t filename_len;
    int number_width; /* of the widest line number */
    bool color;
};

/* Append one finding. */
void csb_render_one(struct csb_text *out, const struct csb_sheet *sheet,
                    const struct csb_view *view);

#endif
