/* Theory of operation: one iterative pass with a tree cursor, an explicit stack of frames and
 * budgets for nodes, depth and time; nothing recurses on the input. It only collects: rules see
 * the sites afterwards, when every binding of the source is known. */
#include "walk.h"

#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "witness.h"

#define CLOCK_EVERY 4096
static void
add_plain_site(struct csb_walker *walker, enum csb_site_kind kind)
{
    const struct csb_frame *frame = &walker->frames[walker->depth];
    struct csb_site site = {
        .kind = kind,
        .role = frame->role,
        .node = frame->node,
        .scope = frame->scope,
        .atom = CSB_NO_ATOM,
        .start = ts_node_start_byte(frame->node),
        .end = ts_node_end_byte(frame->node),
        .path = CSB_NO_PATH,
    };
    if (walker->depth > 0) {
        site.parent = frame[-1].node;
    }
    csb_add_site(walker->check, &site);
}

/* Is this string an annotation, or a value of a dictionary of them (TypedDict("T", {...}))? */
static bool
holds_annotation(const struct csb_walker *walker)
{
    const struct csb_frame *frame = &walker->frames[walker->depth];
    return frame[-1].kind == CSB_K_TYPE || frame[-1].kind == CSB_K_PAIR;
}

static void
visit_string(struct csb_walker *walker)
{
    const struct csb_frame *frame = &walker->frames[walker->depth];
    size_t len;
    const char *text = csb_node_text(walker->check, frame->node, &len);
    size_t prefix = 0;
    bool bytes = false;
    while (prefix < len && text[prefix] != '"' && text[prefix] != '\'') {
        bytes = bytes || text[prefix] == 'b' || text[prefix] == 'B';
        prefix++;
    }
    if (bytes || prefix == len) {
        add_plain_site(walker, CSB_SITE_STRING);
    }
    if (walker->depth == 0 || frame[-1].kind == CSB_K_EXPRESSION_STATEMENT) {
        return; /* a docstring, or text that nothing reads */
    }
    if (len > 6 && memmem(text, len, "__", 2) != NULL &&
        (memchr(text, '{', len) != NULL || memmem(text, len, "%(", 2) != NULL)) {
        add_plain_site(walker, CSB_SITE_TEMPLATE);
    }
    if (memchr(text, '(', len) != NULL && holds_annotation(walker)) {
        walker->check->called_annotations = true;
    }
}

/* `a,` at the end of a line is a statement of its own for CPython, while the grammar may read on
 * in the next line and take `open, / x = 1, 2` for an assignment to open. */
static void
visit_pattern_list(struct csb_walker *walker)
{
    const struct csb_frame *frame = &walker->frames[walker->depth];
    if (ts_node_start_point(frame->node).row == ts_node_end_point(frame->node).row) {
        return;
    }
    for (uint32_t i = 0; i + 1 < ts_node_child_count(frame->node); i++) {
        TSNode comma = ts_node_child(frame->node, i);
        uint32_t from = ts_node_end_byte(comma);
        uint32_t to = ts_node_start_byte(ts_node_child(frame->node, i + 1));
        const char *gap = walker->check->source->text + from;
        const char *line = memchr(gap, '\n', to - from);
        if (line != NULL && (line == gap || line[-1] != '\\')) {
            add_plain_site(walker, CSB_SITE_ERROR);
            return;
        }
    }
}

/* Functions cannot be called before the first statement that is more than a definition. */
static void
note_action(struct csb_walker *walker)
{
    const struct csb_frame *frame = &walker->frames[walker->depth];
    struct csb_scopes *scopes = &walker->check->scopes;
    uint32_t start = ts_node_start_byte(frame->node);
    switch (frame->kind) {
    case CSB_K_IMPORT:
    case CSB_K_IMPORT_FROM:
    case CSB_K_FUTURE_IMPORT:
    case CSB_K_FUNCTION_DEFINITION:
    case CSB_K_COMMENT:
        return;
    case CSB_K_EXPRESSION_STATEMENT:
        if (csb_kind(walker->check, ts_node_named_child(frame->node, 0)) ==
            CSB_K_STRING) {
            return;
        }
        break;
    default:
        break;
    }
    if (start < scopes->first_action) {
        scopes->first_action = start;
    }
}

static void
visit_operator(struct csb_walker *walker)
{
    const struct csb_frame *frame = &walker->frames[walker->depth];
    TSNode sign = csb_field(walker->check, frame->node, CSB_F_OPERATOR);
    if (csb_node_text_is(walker->check, sign, "**") ||
        csb_node_text_is(walker->check, sign, "*")) {
        add_plain_site(walker, CSB_SITE_OPERATOR);
    }
}

/* `def f(a: print("x") or int)`: a call right in the annotation. */
static bool
has_call(const struct csb_check *check, TSNode type)
{
    TSNode inner = csb_first_child(type);
    enum csb_kind kind = csb_kind(check, inner);
    return kind == CSB_K_CALL ||
           (kind == CSB_K_BOOLEAN_OPERATOR &&
            csb_kind(check, csb_first_child(inner)) == CSB_K_CALL);
}

static void
visit(struct csb_walker *walker)
{
    struct csb_frame *frame = &walker->frames[walker->depth];
    enum csb_kind parent = walker->depth > 0 ? frame[-1].kind : CSB_K_OTHER;
    if (parent == CSB_K_MODULE) {
        note_action(walker);
    }
    if (parent == CSB_K_MODULE || parent == CSB_K_BLOCK || parent == CSB_K_ERROR) {
        csb_check_indent(walker->check, frame->node);
    }
    if (walker->has_error &&
        (frame->kind == CSB_K_ERROR || ts_node_is_missing(frame->node))) {
        add_plain_site(walker, CSB_SITE_ERROR);
    }
    csb_witness_node(walker);
    switch (frame->kind) {
    case CSB_K_IMPORT:
    case CSB_K_IMPORT_FROM:
        csb_visit_import(walker, frame);
        break;
    case CSB_K_PRINT:
    case CSB_K_EXEC:
    case CSB_K_CHEVRON:
        add_plain_site(walker, CSB_SITE_ERROR);
        break;
    case CSB_K_PATTERN_LIST:
        visit_pattern_list(walker);
        break;
    case CSB_K_STRING:
        visit_string(walker);
        break;
    case CSB_K_FORMAT_SPECIFIER: {
        size_t len;
        const char *text = csb_node_text(walker->check, frame->node, &len);
        if (memmem(text, len, "__", 2) != NULL) {
            add_plain_site(walker, CSB_SITE_TEMPLATE);
        }
        break;
    }
    case CSB_K_TYPE:
        if (has_call(walker->check, frame->node)) {
            walker->check->called_annotations = true;
        }
        break;
    case CSB_K_CALL:
        walker->check->typed_calls = walker->check->typed_calls || frame->typed;
        break;
    case CSB_K_WHILE:
        add_plain_site(walker, CSB_SITE_WHILE);
        break;
    case CSB_K_BINARY_OPERATOR:
        visit_operator(walker);
        break;
    default:
        break;
    }
}

static void
push(struct csb_walker *walker, TSNode node, enum csb_kind kind)
{
    struct csb_frame *parent = &walker->frames[walker->depth];
    struct csb_frame *frame = &walker->frames[++walker->depth];
    frame->node = node;
    frame->kind = kind;
    frame->index = 0;
    frame->role = csb_frame_role(walker, parent, parent->index - 1);
    csb_frame_scopes(walker, parent, frame);
}

/* Look at the node under the cursor. True when its children should be walked. */
static bool
enter(struct csb_walker *walker)
{
    TSNode node = ts_tree_cursor_current_node(&walker->cursor);
    enum csb_kind kind = csb_node_kind(walker->check->grammar, node);
    struct csb_frame *parent = &walker->frames[walker->depth];
    parent->index++;
    if (kind == CSB_K_OTHER) {
        /* Punctuation and keywords are leaves; the few unlisted rules only hold children. */
        if (walker->has_error && ts_node_is_missing(node)) {
            push(walker, node, kind);
            add_plain_site(walker, CSB_SITE_ERROR);
            walker->depth--;
        }
        if (!ts_node_is_named(node)) {
            return false;
        }
    }
    if (walker->depth + 1 > csb_guard_config_limits(walker->check->config)->max_depth) {
        if (!walker->too_deep) {
            csb_report_depth(walker->check, node);
        }
        walker->too_deep = true;
        return false;
    }
    push(walker, node, kind);
    if (kind == CSB_K_IDENTIFIER) {
        csb_visit_identifier(walker, &walker->frames[walker->depth]);
        walker->depth--;
        return false;
    }
    visit(walker);
    if (!ts_tree_cursor_goto_first_child(&walker->cursor)) {
        walker->depth--;
        return false;
    }
    return true;
}

/* Go to the next node that has not been seen. False at the end of the tree. */
static bool
advance(struct csb_walker *walker)
{
    while (!ts_tree_cursor_goto_next_sibling(&walker->cursor)) {
        enum csb_kind left = walker->frames[walker->depth].kind;
        if (walker->depth == 0 || !ts_tree_cursor_goto_parent(&walker->cursor)) {
            return false;
        }
        walker->depth--;
        if (left == CSB_K_FOR_IN_CLAUSE) {
            walker->frames[walker->depth].clause_done = true;
        }
    }
    return true;
}

static void
walk_nodes(struct csb_walker *walker)
{
    uint32_t count = 0;
    if (!ts_tree_cursor_goto_first_child(&walker->cursor)) {
        return;
    }
    for (;;) {
        if (++count % CLOCK_EVERY == 0 &&
            csb_guard_now_ns() > walker->check->deadline_ns) {
            walker->check->out_of_time = true;
            return;
        }
        if (enter(walker)) {
            continue; /* the cursor stands on the first child */
        }
        if (walker->check->failed || !advance(walker)) {
            return;
        }
    }
}

void
csb_walk(struct csb_check *check, TSTree *tree)
{
    TSNode root = ts_tree_root_node(tree);
    struct csb_walker walker = {.check = check};
    /* The root, as many levels as may be, and a missing token below the last. */
    size_t levels = (size_t)csb_guard_config_limits(check->config)->max_depth + 3;
    uint32_t nodes = ts_node_descendant_count(root);
    if (nodes > csb_guard_config_limits(check->config)->max_nodes) {
        csb_report_nodes(check, nodes);
        return;
    }
    walker.frames = calloc(levels, sizeof *walker.frames);
    if (walker.frames == NULL ||
        csb_scope_new(&check->scopes, CSB_NO_SCOPE, CSB_SCOPE_MODULE) != 0) {
        free(walker.frames);
        check->failed = true;
        return;
    }
    walker.has_error = ts_node_has_error(root);
    walker.frames[0].node = root;
    walker.frames[0].kind = csb_node_kind(check->grammar, root);
    walker.frames[0].inner = CSB_NO_SCOPE;
    walker.frames[0].certain = true;
    if (walker.frames[0].kind == CSB_K_ERROR) {
        add_plain_site(&walker, CSB_SITE_ERROR);
    }
    walker.cursor = ts_tree_cursor_new(root);
    walk_nodes(&walker);
    ts_tree_cursor_delete(&walker.cursor);
    free(walker.frames);
}
