/* Theory of operation: the small helpers that rules share: reporting, reading a node's text,
 * asking what a name means. Runs in the caller without the GIL; the tree and the text are those
 * of one check and never change while rules run. */
#include "rule.h"
#include "walk.h"

#include <stdarg.h>
#include <string.h>

struct csb_diag *
csb_report(struct csb_check *check, enum csb_rule_id rule, size_t start, size_t end,
           const char *format, ...)
{
    struct csb_diag *diag;
    struct csb_text message = {0};
    va_list arguments;
    if (!csb_guard_config_enabled(check->config, rule)) {
        return NULL;
    }
    va_start(arguments, format);
    csb_text_vprintf(&message, format, arguments);
    va_end(arguments);
    diag = csb_diags_add(check->diags, rule,
                         csb_guard_config_severity(check->config, rule), start, end,
                         "%s", message.bytes == NULL ? "" : message.bytes);
    check->failed = check->failed || message.failed;
    csb_text_done(&message);
    return diag;
}

const struct csb_atom *
csb_atom_of(const struct csb_check *check, uint32_t atom)
{
    return &check->atoms.items[atom];
}

const char *
csb_atom_text(const struct csb_check *check, uint32_t atom, char buffer[CSB_NAME_BYTES])
{
    const struct csb_atom *item = &check->atoms.items[atom];
    return csb_escape_name(buffer, CSB_NAME_BYTES, item->name, item->len);
}

uint32_t
csb_site_flags(const struct csb_check *check, const struct csb_site *site)
{
    return site->atom == CSB_NO_ATOM ? 0 : check->atoms.items[site->atom].flags;
}

bool
csb_atom_is(const struct csb_check *check, uint32_t atom, const char *name)
{
    const struct csb_atom *item;
    if (atom == CSB_NO_ATOM) {
        return false;
    }
    item = &check->atoms.items[atom];
    return strlen(name) == item->len && memcmp(item->name, name, item->len) == 0;
}

enum csb_kind
csb_kind(const struct csb_check *check, TSNode node)
{
    return ts_node_is_null(node) ? CSB_K_OTHER : csb_node_kind(check->grammar, node);
}

TSNode
csb_field(const struct csb_check *check, TSNode node, enum csb_field field)
{
    return ts_node_is_null(node) ? node : csb_node_field(check->grammar, node, field);
}

const char *
csb_node_text(const struct csb_check *check, TSNode node, size_t *ret_len)
{
    uint32_t start = ts_node_start_byte(node);
    *ret_len = ts_node_end_byte(node) - start;
    return check->source->text + start;
}

bool
csb_node_text_is(const struct csb_check *check, TSNode node, const char *text)
{
    size_t len;
    const char *bytes;
    if (ts_node_is_null(node)) {
        return false;
    }
    bytes = csb_node_text(check, node, &len);
    return len == strlen(text) && memcmp(bytes, text, len) == 0;
}

void
csb_children_open(struct csb_children *ret, TSNode parent)
{
    memset(ret, 0, sizeof *ret);
    if (!ts_node_is_null(parent)) {
        ret->cursor = ts_tree_cursor_new(parent);
        ret->open = true;
        ret->more = ts_tree_cursor_goto_first_child(&ret->cursor);
    }
}

bool
csb_children_next(struct csb_children *children, TSNode *ret)
{
    while (children->more) {
        TSNode node = ts_tree_cursor_current_node(&children->cursor);
        children->more = ts_tree_cursor_goto_next_sibling(&children->cursor);
        if (ts_node_is_named(node) && !ts_node_is_extra(node)) {
            *ret = node;
            return true;
        }
    }
    return false;
}

void
csb_children_close(struct csb_children *children)
{
    if (children->open) {
        ts_tree_cursor_delete(&children->cursor);
    }
    memset(children, 0, sizeof *children);
}

TSNode
csb_first_child(TSNode parent)
{
    struct csb_children children;
    TSNode first = {0};
    if (ts_node_is_null(parent)) {
        return first;
    }
    first = ts_node_named_child(parent, 0);
    if (!ts_node_is_null(first) && ts_node_is_extra(first)) {
        TSNode none = {0};
        csb_children_open(&children, parent);
        if (!csb_children_next(&children, &first)) {
            first = none;
        }
        csb_children_close(&children);
    }
    return first;
}

uint32_t
csb_child_count(TSNode parent)
{
    struct csb_children children;
    TSNode child;
    uint32_t count = 0;
    csb_children_open(&children, parent);
    while (csb_children_next(&children, &child)) {
        count++;
    }
    csb_children_close(&children);
    return count;
}

bool
csb_too_late(struct csb_check *check)
{
    check->out_of_time = check->out_of_time || csb_guard_now_ns() > check->deadline_ns;
    return check->out_of_time;
}

TSNode
csb_unwrap(const struct csb_check *check, TSNode node)
{
    while (csb_kind(check, node) == CSB_K_PARENTHESIZED) {
        TSNode inner = csb_first_child(node);
        if (ts_node_is_null(inner)) {
            break;
        }
        node = inner;
    }
    return node;
}

TSNode
csb_callee(const struct csb_check *check, TSNode call)
{
    TSNode function = csb_unwrap(check, csb_field(check, call, CSB_F_FUNCTION));
    if (csb_kind(check, function) == CSB_K_LIST_SPLAT) {
        function = csb_unwrap(check, ts_node_named_child(function, 0));
    }
    return function;
}

bool
csb_means_builtin(const struct csb_check *check, const struct csb_site *site)
{
    return !csb_scope_shadows_builtin(&check->scopes, site->scope, site->atom,
                                      site->start);
}
