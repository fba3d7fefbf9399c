/* Theory of operation: called by the walk where it takes its decisions, so that what is written
 * down is what the walk saw and not what a second walk would see. In the caller's process,
 * without the GIL, and only when a test asked for it. */
#include "witness.h"

#include <string.h>

#include "literal.h"

void
csb_witness_done(struct csb_witness *witness)
{
    csb_text_done(&witness->entries);
}

void
csb_witness_add(const struct csb_check *check, enum csb_witness_kind kind,
                const char *text, size_t len)
{
    struct csb_witness_entry entry = {kind, (uint32_t)len};
    char header[sizeof entry];
    if (check->witness == NULL) {
        return;
    }
    memcpy(header, &entry, sizeof entry);
    csb_text_add(&check->witness->entries, header, sizeof header);
    csb_text_add(&check->witness->entries, text, len);
}

void
csb_witness_import(const struct csb_check *check, uint32_t path, uint32_t atom)
{
    struct csb_text name = {0};
    if (check->witness == NULL || check->paths.failed) {
        return;
    }
    csb_text_puts(&name, check->paths.bytes + path);
    if (atom != CSB_NO_ATOM) {
        csb_text_add(&name, ".", 1);
        csb_text_add(&name, csb_atom_of(check, atom)->name,
                     csb_atom_of(check, atom)->len);
    }
    csb_witness_add(check, CSB_WITNESS_IMPORT, name.bytes, name.len);
    check->witness->entries.failed = check->witness->entries.failed || name.failed;
    csb_text_done(&name);
}

/* One piece of a literal, decoded; of a formatted one {{ and }} are one brace each. */
static void
decode(const char *text, size_t len, const struct csb_literal *literal,
       struct csb_text *out, bool *ret_whole)
{
    struct csb_text once = {0};
    if (!literal->format) {
        csb_literal_decode(text, len, literal->raw, literal->bytes, out, ret_whole);
        return;
    }
    for (size_t at = 0; at < len; at++) {
        csb_text_add(&once, text + at, 1);
        if (at + 1 < len && (text[at] == '{' || text[at] == '}') &&
            text[at + 1] == text[at]) {
            at++;
        }
    }
    csb_literal_decode(once.bytes == NULL ? "" : once.bytes, once.len, literal->raw,
                       false, out, ret_whole);
    out->failed = out->failed || once.failed;
    csb_text_done(&once);
}

/* f"{x = }" is the text of its expression too. */
static void
add_own_text(const struct csb_check *check, TSNode interpolation, struct csb_text *out)
{
    uint32_t from = ts_node_end_byte(ts_node_child(interpolation, 0));
    for (uint32_t i = 1; i < ts_node_child_count(interpolation); i++) {
        TSNode child = ts_node_child(interpolation, i);
        const char *text = check->source->text;
        uint32_t to = ts_node_end_byte(child);
        if (!ts_node_is_named(child) && csb_node_text_is(check, child, "=")) {
            to += (uint32_t)strspn(text + to, " \t\n\f");
            csb_text_add(out, text + from, to - from);
            return;
        }
    }
}

static void
add_literal(const struct csb_check *check, TSNode node, struct csb_text *out,
            bool *ret_whole)
{
    struct csb_literal literal;
    size_t len;
    const char *text = csb_node_text(check, node, &len);
    size_t close;
    uint32_t at;
    uint32_t end;
    if (!csb_literal_open(text, len, &literal)) {
        *ret_whole = false;
        return;
    }
    close = literal.triple ? 3 : 1;
    if (!literal.format && len >= literal.body + close) {
        decode(text + literal.body, len - literal.body - close, &literal, out,
               ret_whole);
        return;
    }
    at = ts_node_start_byte(node) + (uint32_t)literal.body;
    end = ts_node_end_byte(node) - (uint32_t)close;
    for (uint32_t i = 0; i < ts_node_named_child_count(node); i++) {
        TSNode child = ts_node_named_child(node, i);
        uint32_t start = ts_node_start_byte(child);
        if (csb_kind(check, child) == CSB_K_INTERPOLATION) {
            decode(check->source->text + at, start > at ? start - at : 0, &literal, out,
                   ret_whole);
            add_own_text(check, child, out);
            at = ts_node_end_byte(child);
        }
    }
    decode(check->source->text + at, end > at ? end - at : 0, &literal, out, ret_whole);
}

/* The text of a format specifier between its own interpolations. */
static void
add_specifier(const struct csb_check *check, TSNode node, struct csb_text *out,
              bool *ret_whole)
{
    struct csb_literal plain = {0};
    TSNode next = ts_node_next_sibling(node);
    uint32_t at = ts_node_start_byte(node) + 1; /* after the colon */
    /* The node ends before blanks, which are part of the format. */
    uint32_t end =
        ts_node_is_null(next) ? ts_node_end_byte(node) : ts_node_start_byte(next);
    uint32_t count = ts_node_named_child_count(node);
    for (uint32_t i = 0; i <= count; i++) {
        TSNode child = ts_node_named_child(node, i);
        uint32_t to = i < count ? ts_node_start_byte(child) : end;
        bool inner = i < count && csb_kind(check, child) != CSB_K_ESCAPE_SEQUENCE;
        if (i == count || inner) {
            decode(check->source->text + at, to > at ? to - at : 0, &plain, out,
                   ret_whole);
            at = i < count ? ts_node_end_byte(child) : to;
        }
    }
}

void
csb_witness_node(const struct csb_walker *walker)
{
    const struct csb_check *check = walker->check;
    const struct csb_frame *frame = &walker->frames[walker->depth];
    struct csb_text value = {0};
    bool whole = true;
    if (check->witness == NULL) {
        return;
    }
    switch (frame->kind) {
    case CSB_K_WILDCARD_IMPORT:
        csb_witness_add(check, CSB_WITNESS_IMPORT, "*", 1);
        return;
    case CSB_K_CONCATENATED_STRING:
        for (uint32_t i = 0; i < ts_node_named_child_count(frame->node); i++) {
            TSNode child = ts_node_named_child(frame->node, i);
            if (csb_kind(check, child) == CSB_K_STRING) {
                add_literal(check, child, &value, &whole);
            }
        }
        break;
    case CSB_K_STRING:
        if (walker->depth > 0 && frame[-1].kind == CSB_K_CONCATENATED_STRING) {
            return; /* a piece of what was taken as a whole */
        }
        add_literal(check, frame->node, &value, &whole);
        break;
    case CSB_K_FORMAT_SPECIFIER:
        add_specifier(check, frame->node, &value, &whole);
        break;
    default:
        return;
    }
    csb_witness_add(check, whole ? CSB_WITNESS_STRING : CSB_WITNESS_PREFIX,
                    value.bytes == NULL ? "" : value.bytes, value.len);
    check->witness->entries.failed = check->witness->entries.failed || value.failed;
    csb_text_done(&value);
}

void
csb_witness_identifier(const struct csb_walker *walker, const struct csb_frame *frame,
                       uint32_t atom, bool member)
{
    const struct csb_check *check = walker->check;
    const struct csb_atom *item = csb_atom_of(check, atom);
    enum csb_role role = member ? frame[-1].role : frame->role;
    if (check->witness == NULL) {
        return;
    }
    if (member) {
        csb_witness_add(check, CSB_WITNESS_ATTRIBUTE, item->name, item->len);
    } else if (role == CSB_ROLE_READ || role == CSB_ROLE_CALL) {
        csb_witness_add(check, CSB_WITNESS_NAME, item->name, item->len);
    }
    if (role == CSB_ROLE_CALL) {
        csb_witness_add(check, CSB_WITNESS_CALL, item->name, item->len);
    }
}
