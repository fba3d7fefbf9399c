/* Theory of operation: decides, level by level, how a node is used by its parent (read, stored,
 * deleted, called) and in which scope its expressions run. Python's odd corners live here:
 * defaults, decorators, annotations and the first iterable of a comprehension run outside the
 * scope that they seem to belong to. */
#include "frame.h"

enum csb_field
csb_cursor_field(struct csb_walker *walker)
{
    TSFieldId id = ts_tree_cursor_current_field_id(&walker->cursor);
    return id < CSB_MAX_FIELDS ? (enum csb_field)walker->check->grammar->field_of_id[id]
                               : CSB_F_NONE;
}

static bool
holds_targets(enum csb_kind kind)
{
    switch (kind) {
    case CSB_K_PATTERN_LIST:
    case CSB_K_TUPLE_PATTERN:
    case CSB_K_LIST_PATTERN:
    case CSB_K_LIST_SPLAT_PATTERN:
    case CSB_K_LIST_SPLAT:
    case CSB_K_TUPLE:
    case CSB_K_LIST:
    case CSB_K_PARENTHESIZED:
    case CSB_K_EXPRESSION_LIST:
        return true;
    default:
        return false;
    }
}

enum csb_role
csb_frame_role(struct csb_walker *walker, const struct csb_frame *parent,
               uint32_t index)
{
    switch (parent->kind) {
    case CSB_K_ASSIGNMENT:
        return index == 0 ? CSB_ROLE_STORE : CSB_ROLE_READ;
    case CSB_K_NAMED_EXPRESSION:
        /* f"{x:=+8d}" only reads x: what follows the colon is a format for CPython. */
        return index == 0 && parent[-1].kind != CSB_K_INTERPOLATION ? CSB_ROLE_HIDDEN
                                                                    : CSB_ROLE_READ;
    case CSB_K_AUGMENTED_ASSIGNMENT:
        return index == 0 ? CSB_ROLE_HIDDEN : CSB_ROLE_READ;
    case CSB_K_FOR:
    case CSB_K_FOR_IN_CLAUSE:
        return csb_cursor_field(walker) == CSB_F_LEFT ? CSB_ROLE_HIDDEN : CSB_ROLE_READ;
    case CSB_K_AS_PATTERN_TARGET:
        return CSB_ROLE_HIDDEN;
    case CSB_K_AS_PATTERN:
        /* `case p as name` has the bare name; elsewhere it is an as_pattern_target. */
        return index > 0 ? CSB_ROLE_HIDDEN : CSB_ROLE_READ;
    case CSB_K_DELETE:
        return CSB_ROLE_DELETE;
    case CSB_K_CALL:
    case CSB_K_DECORATOR:
        return index == 0 && parent->kind == CSB_K_CALL ? CSB_ROLE_CALL : CSB_ROLE_READ;
    default:
        break;
    }
    if (parent->role == CSB_ROLE_CALL &&
        (parent->kind == CSB_K_PARENTHESIZED || parent->kind == CSB_K_LIST_SPLAT)) {
        return CSB_ROLE_CALL;
    }
    if (holds_targets(parent->kind) &&
        (parent->role == CSB_ROLE_STORE || parent->role == CSB_ROLE_HIDDEN ||
         parent->role == CSB_ROLE_DELETE)) {
        return parent->role == CSB_ROLE_STORE ? CSB_ROLE_HIDDEN : parent->role;
    }
    return CSB_ROLE_READ;
}

/* Kinds that run whenever the statement list that holds them runs. */
static bool
keeps_certainty(enum csb_kind kind)
{
    switch (kind) {
    case CSB_K_EXPRESSION_STATEMENT:
    case CSB_K_ASSIGNMENT:
    case CSB_K_PATTERN_LIST:
    case CSB_K_TUPLE_PATTERN:
    case CSB_K_LIST_PATTERN:
    case CSB_K_LIST_SPLAT_PATTERN:
    case CSB_K_FUNCTION_DEFINITION:
    case CSB_K_CLASS_DEFINITION:
    case CSB_K_DECORATED_DEFINITION:
    case CSB_K_IMPORT:
    case CSB_K_IMPORT_FROM:
    case CSB_K_FUTURE_IMPORT:
    case CSB_K_IDENTIFIER:
        return true;
    default:
        return false;
    }
}

static uint32_t
open_scope(struct csb_walker *walker, uint32_t parent, enum csb_scope_kind kind)
{
    uint32_t scope = csb_scope_new(&walker->check->scopes, parent, kind);
    if (scope == CSB_NO_SCOPE) {
        walker->check->failed = true;
        return parent;
    }
    return scope;
}

/* The scope in which a child of `parent` runs. */
static uint32_t
child_scope(struct csb_walker *walker, const struct csb_frame *parent,
            enum csb_kind kind)
{
    switch (parent->kind) {
    case CSB_K_FUNCTION_DEFINITION:
    case CSB_K_CLASS_DEFINITION:
        return kind == CSB_K_BLOCK ? parent->inner : parent->scope;
    case CSB_K_LAMBDA:
        return kind == CSB_K_LAMBDA_PARAMETERS ? parent->scope : parent->inner;
    case CSB_K_LIST_COMPREHENSION:
    case CSB_K_SET_COMPREHENSION:
    case CSB_K_DICTIONARY_COMPREHENSION:
    case CSB_K_GENERATOR:
        return parent->inner;
    case CSB_K_FOR_IN_CLAUSE:
        /* Only the first iterable runs outside: `[open for open in open(f)]`. In a broken
         * source a clause may stand without a comprehension. */
        return !parent->clause_done &&
                       walker->check->scopes.items[parent->scope].kind ==
                           CSB_SCOPE_COMPREHENSION &&
                       csb_cursor_field(walker) == CSB_F_RIGHT
                   ? walker->check->scopes.items[parent->scope].parent
                   : parent->scope;
    default:
        return parent->scope;
    }
}

static bool
passes_inner(enum csb_kind parent)
{
    switch (parent) {
    case CSB_K_PARAMETERS:
    case CSB_K_LAMBDA_PARAMETERS:
    case CSB_K_DEFAULT_PARAMETER:
    case CSB_K_TYPED_PARAMETER:
    case CSB_K_TYPED_DEFAULT_PARAMETER:
    case CSB_K_LIST_SPLAT_PATTERN:
    case CSB_K_DICTIONARY_SPLAT_PATTERN:
    case CSB_K_TUPLE_PATTERN:
        return true;
    default:
        return false;
    }
}

void
csb_frame_scopes(struct csb_walker *walker, const struct csb_frame *parent,
                 struct csb_frame *frame)
{
    enum csb_kind kind = frame->kind;
    frame->scope = child_scope(walker, parent, kind);
    frame->inner = CSB_NO_SCOPE;
    frame->certain = parent->certain && keeps_certainty(kind);
    frame->typed = parent->typed || kind == CSB_K_TYPE;
    frame->clause_done = false;
    switch (kind) {
    case CSB_K_FUNCTION_DEFINITION:
    case CSB_K_LAMBDA:
        frame->inner = open_scope(walker, frame->scope, CSB_SCOPE_FUNCTION);
        break;
    case CSB_K_CLASS_DEFINITION:
        frame->inner = open_scope(walker, frame->scope, CSB_SCOPE_CLASS);
        break;
    case CSB_K_LIST_COMPREHENSION:
    case CSB_K_SET_COMPREHENSION:
    case CSB_K_DICTIONARY_COMPREHENSION:
    case CSB_K_GENERATOR:
        frame->inner = open_scope(walker, frame->scope, CSB_SCOPE_COMPREHENSION);
        break;
    case CSB_K_BLOCK:
        if (parent->kind == CSB_K_FUNCTION_DEFINITION ||
            parent->kind == CSB_K_CLASS_DEFINITION) {
            frame->certain = true;
        }
        break;
    case CSB_K_FOR_IN_CLAUSE:
        frame->clause_done = parent->clause_done;
        break;
    case CSB_K_PARAMETERS:
    case CSB_K_LAMBDA_PARAMETERS:
        frame->inner = parent->inner;
        break;
    default:
        if (passes_inner(parent->kind)) {
            frame->inner = parent->inner;
        }
        break;
    }
}
