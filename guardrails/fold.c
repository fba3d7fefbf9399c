/* Theory of operation: computes constant strings (and the numbers and lists from which they are
 * built) without running anything, so that rules compare names and not spellings. Nesting is
 * bounded by CSB_VALUE_DEPTH, work by csb_check.fold_budget, size by CSB_VALUE_MOST; beyond any
 * of them a value is simply unknown. */
#include "fold.h"

#include <stdlib.h>
#include <string.h>

#include "literal.h"
#include "value.h"

void
csb_value_done(struct csb_value *value)
{
    csb_text_done(&value->text);
    for (size_t i = 0; i < value->len; i++) {
        csb_text_done(&value->items[i].text); /* lists hold texts and numbers only */
    }
    free(value->items);
    memset(value, 0, sizeof *value);
}

void
csb_value_append(struct csb_value *list, struct csb_value *item)
{
    struct csb_value *items;
    list->kind = CSB_V_LIST;
    if (item->kind == CSB_V_LIST || list->len >= CSB_VALUE_MOST) {
        csb_value_done(item);
        item->kind = CSB_V_UNKNOWN;
    }
    items = list->len >= CSB_VALUE_MOST
                ? NULL
                : realloc(list->items, (list->len + 1) * sizeof *items);
    if (items == NULL) {
        csb_value_done(item);
        return;
    }
    list->items = items;
    list->items[list->len++] = *item;
    memset(item, 0, sizeof *item);
}

static void
fold_number(struct csb_folder *folder, TSNode node, struct csb_value *ret)
{
    size_t len;
    const char *text = csb_node_text(folder->check, node, &len);
    char digits[24];
    size_t used = 0;
    for (size_t i = 0; i < len && used + 1 < sizeof digits; i++) {
        if (text[i] != '_') {
            digits[used++] = text[i];
        }
    }
    digits[used] = '\0';
    if (len >= sizeof digits) {
        return;
    }
    ret->kind = CSB_V_INT;
    if (digits[0] == '0' && (digits[1] | 0x20) == 'o') {
        ret->number = strtoll(digits + 2, NULL, 8);
    } else if (digits[0] == '0' && (digits[1] | 0x20) == 'b') {
        ret->number = strtoll(digits + 2, NULL, 2);
    } else {
        ret->number = strtoll(digits, NULL, digits[0] == '0' ? 16 : 10);
    }
}

/* Add a piece to a text whose beginning is known; a piece that is not ends the knowledge. */
static void
add_piece(struct csb_value *ret, const struct csb_value *piece)
{
    if (!ret->whole) {
        return;
    }
    if (piece->kind == CSB_V_INT) {
        csb_text_printf(&ret->text, "%lld", (long long)piece->number);
    } else if (piece->kind == CSB_V_TEXT) {
        csb_text_add(&ret->text, piece->text.bytes == NULL ? "" : piece->text.bytes,
                     piece->text.len);
        ret->whole = piece->whole;
    } else {
        ret->whole = false;
    }
    if (ret->text.len > CSB_VALUE_MOST) {
        ret->whole = false;
    }
}

static void
fold_interpolation(struct csb_folder *folder, TSNode node, struct csb_value *ret)
{
    struct csb_value piece = {0};
    const struct csb_check *check = folder->check;
    if (ts_node_is_null(csb_field(check, node, CSB_F_FORMAT_SPECIFIER)) &&
        ts_node_is_null(csb_field(check, node, CSB_F_TYPE_CONVERSION))) {
        csb_fold_node(folder, csb_field(check, node, CSB_F_EXPRESSION), &piece);
    }
    add_piece(ret, &piece);
    csb_value_done(&piece);
}

/* A piece of text of an f-string. {{ and }} are one brace each. */
static void
add_format_text(const char *text, size_t len, const struct csb_literal *literal,
                struct csb_value *ret)
{
    struct csb_value piece = {.kind = CSB_V_TEXT, .whole = true};
    struct csb_text once = {0};
    for (size_t at = 0; at < len; at++) {
        csb_text_add(&once, text + at, 1);
        if (at + 1 < len && (text[at] == '{' || text[at] == '}') &&
            text[at + 1] == text[at]) {
            at++;
        }
    }
    csb_literal_decode(once.bytes == NULL ? "" : once.bytes, once.len, literal->raw,
                       false, &piece.text, &piece.whole);
    csb_text_done(&once);
    add_piece(ret, &piece);
    csb_value_done(&piece);
}

/* An f-string: pieces of text between its interpolations. The grammar has no node for some of
 * the text, such as a last backslash of a raw one. */
static void
fold_format(struct csb_folder *folder, TSNode node, const struct csb_literal *literal,
            struct csb_value *ret)
{
    const struct csb_check *check = folder->check;
    uint32_t count = ts_node_named_child_count(node);
    uint32_t at = ts_node_start_byte(node) + (uint32_t)literal->body;
    uint32_t close = ts_node_end_byte(node) - (literal->triple ? 3 : 1);
    for (uint32_t i = 0; i < count && ret->whole; i++) {
        TSNode child = ts_node_named_child(node, i);
        uint32_t start = ts_node_start_byte(child);
        if (csb_kind(check, child) == CSB_K_INTERPOLATION) {
            add_format_text(check->source->text + at, start > at ? start - at : 0,
                            literal, ret);
            fold_interpolation(folder, child, ret);
            at = ts_node_end_byte(child);
        }
    }
    if (ret->whole && close > at) {
        add_format_text(check->source->text + at, close - at, literal, ret);
    }
}

static void
fold_string(struct csb_folder *folder, TSNode node, struct csb_value *ret)
{
    size_t len;
    const char *text = csb_node_text(folder->check, node, &len);
    struct csb_literal literal;
    size_t close;
    if (!csb_literal_open(text, len, &literal)) {
        return;
    }
    ret->kind = CSB_V_TEXT;
    ret->whole = true;
    if (literal.format) {
        fold_format(folder, node, &literal, ret);
        return;
    }
    close = literal.triple ? 3 : 1;
    if (len < literal.body + close) {
        ret->whole = false;
        return;
    }
    len -= literal.body + close;
    if (len > CSB_VALUE_MOST) {
        len = CSB_VALUE_MOST;
        ret->whole = false;
    }
    csb_literal_decode(text + literal.body, len, literal.raw, literal.bytes, &ret->text,
                       &ret->whole);
}

static void
fold_concatenated(struct csb_folder *folder, TSNode node, struct csb_value *ret)
{
    uint32_t count = ts_node_named_child_count(node);
    ret->kind = CSB_V_TEXT;
    ret->whole = true;
    for (uint32_t i = 0; i < count && ret->whole; i++) {
        struct csb_value piece = {0};
        TSNode child = ts_node_named_child(node, i);
        if (csb_kind(folder->check, child) == CSB_K_STRING) {
            csb_fold_node(folder, child, &piece);
            add_piece(ret, &piece);
        }
        csb_value_done(&piece);
    }
}

static void
fold_list(struct csb_folder *folder, TSNode node, struct csb_value *ret)
{
    uint32_t count = ts_node_named_child_count(node);
    ret->kind = CSB_V_LIST;
    for (uint32_t i = 0; i < count && i < CSB_VALUE_MOST; i++) {
        struct csb_value item = {0};
        TSNode child = ts_node_named_child(node, i);
        if (csb_kind(folder->check, child) == CSB_K_COMMENT) {
            continue;
        }
        csb_fold_node(folder, child, &item);
        csb_value_append(ret, &item);
    }
}

/* [f(x) for x in KNOWN], without conditions. */
static void
fold_comprehension(struct csb_folder *folder, TSNode node, struct csb_value *ret)
{
    const struct csb_check *check = folder->check;
    TSNode body = csb_field(check, node, CSB_F_BODY);
    TSNode clause = ts_node_named_child(node, 1);
    TSNode target = csb_field(check, clause, CSB_F_LEFT);
    struct csb_value from = {0};
    if (ts_node_named_child_count(node) != 2 ||
        csb_kind(check, clause) != CSB_K_FOR_IN_CLAUSE ||
        csb_kind(check, target) != CSB_K_IDENTIFIER) {
        return;
    }
    csb_fold_node(folder, csb_field(check, clause, CSB_F_RIGHT), &from);
    if (from.kind == CSB_V_TEXT && from.whole) {
        struct csb_value list = {.kind = CSB_V_LIST};
        size_t at = 0;
        while (at < from.text.len && list.len < CSB_VALUE_MOST) {
            struct csb_value item = {.kind = CSB_V_TEXT, .whole = true};
            size_t used;
            (void)csb_utf8_next(from.text.bytes + at, from.text.len - at, &used);
            csb_text_add(&item.text, from.text.bytes + at, used);
            csb_value_append(&list, &item);
            at += used;
        }
        csb_value_done(&from);
        from = list;
    }
    if (from.kind == CSB_V_LIST) {
        struct csb_fold_env env = {.outer = folder->env};
        env.name = csb_node_text(check, target, &env.len);
        folder->env = &env;
        ret->kind = CSB_V_LIST;
        for (size_t i = 0; i < from.len && folder->check->fold_budget > 0; i++) {
            struct csb_value item = {0};
            env.value = &from.items[i];
            csb_fold_node(folder, body, &item);
            csb_value_append(ret, &item);
        }
        folder->env = env.outer;
    }
    csb_value_done(&from);
}

static void
copy_value(const struct csb_value *from, struct csb_value *ret)
{
    ret->kind = from->kind == CSB_V_LIST ? CSB_V_UNKNOWN : from->kind;
    ret->whole = from->whole;
    ret->number = from->number;
    csb_text_add(&ret->text, from->text.bytes == NULL ? "" : from->text.bytes,
                 from->text.len);
}

/* A name that is bound exactly once, to an expression that can be folded. */
static void
fold_identifier(struct csb_folder *folder, TSNode node, struct csb_value *ret)
{
    struct csb_check *check = folder->check;
    size_t len;
    const char *text = csb_node_text(check, node, &len);
    uint32_t atom;
    const struct csb_local *local;
    for (const struct csb_fold_env *env = folder->env; env != NULL; env = env->outer) {
        if (env->len == len && memcmp(env->name, text, len) == 0) {
            copy_value(env->value, ret);
            return;
        }
    }
    atom = csb_atom(&check->atoms, text, len);
    local = atom == CSB_NO_ATOM ? NULL
                                : csb_scope_find(&check->scopes, folder->scope, atom);
    if (local != NULL && local->binds == CSB_BIND_VALUE && local->count == 1) {
        uint32_t scope = folder->scope;
        folder->scope = local->scope;
        csb_fold_node(folder, local->value, ret);
        folder->scope = scope;
    }
}

static void
fold_binary(struct csb_folder *folder, TSNode node, struct csb_value *ret)
{
    const struct csb_check *check = folder->check;
    TSNode sign = csb_field(check, node, CSB_F_OPERATOR);
    struct csb_value left = {0};
    struct csb_value right = {0};
    csb_fold_node(folder, csb_field(check, node, CSB_F_LEFT), &left);
    csb_fold_node(folder, csb_field(check, node, CSB_F_RIGHT), &right);
    if (csb_node_text_is(check, sign, "+") && left.kind == CSB_V_TEXT) {
        struct csb_value known = {.kind = CSB_V_TEXT, .whole = true};
        add_piece(&known, &left);
        if (right.kind == CSB_V_INT) {
            right.kind = CSB_V_UNKNOWN; /* text + number raises */
        }
        add_piece(&known, &right);
        *ret = known;
    } else if (csb_node_text_is(check, sign, "%") && left.kind == CSB_V_TEXT) {
        csb_fold_percent(&left, &right, ret);
    } else if (csb_node_text_is(check, sign, "*") && left.kind == CSB_V_TEXT &&
               right.kind == CSB_V_INT && left.whole) {
        ret->kind = CSB_V_TEXT;
        ret->whole = true;
        for (int64_t i = 0; i < right.number && ret->whole; i++) {
            add_piece(ret, &left);
        }
    } else if (left.kind == CSB_V_INT && right.kind == CSB_V_INT) {
        bool plus = csb_node_text_is(check, sign, "+");
        bool minus = csb_node_text_is(check, sign, "-");
        bool fits =
            plus ? !__builtin_add_overflow(left.number, right.number, &ret->number)
                 : !__builtin_sub_overflow(left.number, right.number, &ret->number);
        ret->kind = (plus || minus) && fits ? CSB_V_INT : CSB_V_UNKNOWN;
    }
    csb_value_done(&left);
    csb_value_done(&right);
}

static void
fold_subscript(struct csb_folder *folder, TSNode node, struct csb_value *ret)
{
    TSNode key = csb_field(folder->check, node, CSB_F_SUBSCRIPT);
    struct csb_value from = {0};
    struct csb_value index = {0};
    csb_fold_node(folder, csb_field(folder->check, node, CSB_F_VALUE), &from);
    if (csb_kind(folder->check, key) == CSB_K_SLICE) {
        if (from.kind == CSB_V_TEXT && from.whole) {
            csb_fold_slice(folder, key, &from, ret);
        }
    } else {
        csb_fold_node(folder, key, &index);
        if (index.kind == CSB_V_INT) {
            int64_t len = (int64_t)(from.kind == CSB_V_LIST ? from.len : from.text.len);
            int64_t at = index.number < 0 ? index.number + len : index.number;
            if (at >= 0 && at < len && from.kind == CSB_V_LIST) {
                copy_value(&from.items[at], ret);
            } else if (at >= 0 && at < len && from.kind == CSB_V_TEXT && from.whole) {
                csb_value_slice(&from, at, at + 1, 1, ret);
            }
        }
    }
    csb_value_done(&from);
    csb_value_done(&index);
}

static void
fold_kind(struct csb_folder *folder, TSNode node, struct csb_value *ret)
{
    switch (csb_kind(folder->check, node)) {
    case CSB_K_STRING:
        fold_string(folder, node, ret);
        break;
    case CSB_K_CONCATENATED_STRING:
        fold_concatenated(folder, node, ret);
        break;
    case CSB_K_INTEGER:
        fold_number(folder, node, ret);
        break;
    case CSB_K_UNARY_OPERATOR:
        csb_fold_node(folder, csb_field(folder->check, node, CSB_F_ARGUMENT), ret);
        if (ret->kind == CSB_V_INT &&
            csb_node_text_is(folder->check, ts_node_child(node, 0), "-")) {
            ret->number = -ret->number;
        } else {
            csb_value_done(ret);
        }
        break;
    case CSB_K_LIST:
    case CSB_K_TUPLE:
    case CSB_K_SET:
        fold_list(folder, node, ret);
        break;
    case CSB_K_LIST_COMPREHENSION:
    case CSB_K_GENERATOR:
        fold_comprehension(folder, node, ret);
        break;
    case CSB_K_IDENTIFIER:
        fold_identifier(folder, node, ret);
        break;
    case CSB_K_BINARY_OPERATOR:
        fold_binary(folder, node, ret);
        break;
    case CSB_K_SUBSCRIPT:
        fold_subscript(folder, node, ret);
        break;
    case CSB_K_CALL:
        csb_fold_call(folder, node, ret);
        break;
    case CSB_K_NAMED_EXPRESSION:
        csb_fold_node(folder, csb_field(folder->check, node, CSB_F_VALUE), ret);
        break;
    default:
        break;
    }
}

void
csb_fold_node(struct csb_folder *folder, TSNode node, struct csb_value *ret)
{
    if (ts_node_is_null(node) || folder->depth >= CSB_VALUE_DEPTH ||
        folder->check->fold_budget == 0) {
        return;
    }
    folder->check->fold_budget--;
    folder->depth++;
    fold_kind(folder, csb_unwrap(folder->check, node), ret);
    folder->depth--;
    if (ret->text.failed) {
        folder->check->failed = true;
    }
}

enum csb_fold
csb_fold_string(struct csb_check *check, uint32_t scope, TSNode node,
                struct csb_text *out)
{
    struct csb_folder folder = {.check = check, .scope = scope};
    struct csb_value value = {0};
    enum csb_fold result = CSB_FOLD_UNKNOWN;
    csb_fold_node(&folder, node, &value);
    if (value.kind == CSB_V_TEXT) {
        csb_text_add(out, value.text.bytes == NULL ? "" : value.text.bytes,
                     value.text.len);
        result = value.whole ? CSB_FOLD_WHOLE : CSB_FOLD_PREFIX;
    }
    csb_value_done(&value);
    return result;
}
