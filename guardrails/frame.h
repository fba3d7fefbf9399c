/* The path from the root to the node under the cursor, with what each level means for names. */
#ifndef CSB_GUARD_FRAME_H
#define CSB_GUARD_FRAME_H

#include "rule.h"

struct csb_frame {
    TSNode node;
    enum csb_kind kind;
    enum csb_role role; /* how this node is used by its parent */
    uint32_t index;     /* children seen so far */
    uint32_t scope;     /* in which this node's own expressions run */
    uint32_t inner;     /* scope that this node opens, or that its parameters bind in */
    bool certain;       /* runs whenever its scope runs */
    bool typed;         /* within an annotation, which may run later than it stands */
    bool clause_done;   /* comprehension: the first `for` has been seen */
};

struct csb_walker {
    struct csb_check *check;
    TSTreeCursor cursor;
    struct csb_frame *frames; /* [0] is the root; [depth] the node under the cursor */
    uint32_t depth;
    bool has_error; /* the tree holds an ERROR or MISSING node somewhere */
    bool too_deep;  /* CSB003 was reported */
};

/* How the node under the cursor (child number `index` of `parent`) is used. */
enum csb_role csb_frame_role(struct csb_walker *walker, const struct csb_frame *parent,
                             uint32_t index);

/* Fill scope, inner and certain of `frame` from its parent; opens scopes. */
void csb_frame_scopes(struct csb_walker *walker, const struct csb_frame *parent,
                      struct csb_frame *frame);

/* The field under which the cursor's node hangs. */
enum csb_field csb_cursor_field(struct csb_walker *walker);

/* Handle an identifier: bind it, or make a site of it. frame is its own, frame[-1] its parent. */
void csb_visit_identifier(struct csb_walker *walker, const struct csb_frame *frame);

/* Handle an import statement as a whole. */
void csb_visit_import(struct csb_walker *walker, const struct csb_frame *frame);

/* Remember a place for the rules. */
void csb_add_site(struct csb_check *check, const struct csb_site *site);

/* Bind a name; `value` may be a null node. An import has the path of its module, and the atom
 * of what it takes from there or CSB_NO_ATOM; the names of a long import share the one path. */
void csb_bind(struct csb_walker *walker, const struct csb_frame *frame, uint32_t scope,
              uint32_t atom, enum csb_bind bind, TSNode value, uint32_t path,
              uint32_t member);

#endif
