/* One source text: strict UTF-8, without BOM, every line end a LF, with an index of lines.
 *
 * Owns copies; independent of the caller's bytes after csb_source_init. Immutable afterwards,
 * so any thread may read it. Offsets are bytes of the normalised text, lines and columns are
 * 1-based, columns count characters. */
#ifndef CSB_GUARD_SOURCE_H
#define CSB_GUARD_SOURCE_H

#include "csb.h"

#define CSB_NOWHERE SIZE_MAX

struct csb_source {
    char *text; /* NUL-terminated for convenience; may hold NUL bytes before `len` */
    size_t len;
    size_t raw_len; /* of the caller's bytes, however much of them was kept */
    size_t *line_starts;
    size_t line_count;
    size_t invalid_utf8; /* offset of the first byte that is not UTF-8, or CSB_NOWHERE */
    size_t nul;          /* offset of the first NUL, or CSB_NOWHERE */
    bool ascii;
    bool cut; /* not all of the caller's bytes were kept */
};

struct csb_place {
    uint32_t line;
    uint32_t column;
};

/* Keeps at most `keep` of the `len` bytes: a source that is too large need not be copied to be
 * refused. 0 or -ENOMEM. On success the caller owns *ret and must call csb_source_done. A source that is
 * not UTF-8 or holds NUL is still indexed, so that its findings have a place. */
CSB_MUST_USE int csb_source_init(struct csb_source *ret, const char *bytes, size_t len,
                                 size_t keep);
void csb_source_done(struct csb_source *source);

struct csb_place csb_source_place(const struct csb_source *source, size_t offset);

/* The line's text without its LF; `line` is 1-based and clamped. */
const char *csb_source_line(const struct csb_source *source, uint32_t line,
                            size_t *ret_len);

/* Number of characters in len bytes (broken UTF-8 counts one per byte). */
size_t csb_char_count(const char *bytes, size_t len);

#endif
