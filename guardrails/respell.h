/* A spelling for the parser alone, of the same length, of what the grammar cannot read or not in
 * linear time.
 *
 * Everything but the tree is taken from the text as written, so offsets, lines and names stay.
 * Pure functions; any thread. */
#ifndef CSB_GUARD_RESPELL_H
#define CSB_GUARD_RESPELL_H

#include "csb.h"

/* Where `:=` begins a format that no expression begins like (f"{x:=^30}", f"{n:=08d}"): writes
 * another fill character to text[0, len). True when anything was changed. Without NUL bytes; may
 * read text[len], which is NUL. */
bool csb_respell_formats(char *text, size_t len);

/* Makes one comment of lines that hold nothing else, by writing blanks for the line ends between
 * them. True when anything was changed. */
bool csb_respell_comments(char *text, size_t len);

/* Writes a blank for each line end within brackets, so that no indentation is seen there. True
 * when anything was changed. The same text as above. */
bool csb_respell_lines(char *text, size_t len);

#endif
