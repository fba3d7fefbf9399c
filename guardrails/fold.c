/* Theory of operation: computes constant strings (and the numbers and lists from which they are
 * built) without running anything, so that rules compare names and not spellings. Nesting is
 * bounded by CSB_VALUE_DEPTH, work by csb_check.fold_budget, size by CSB_VALUE_MOST; beyond any
 * of them a value is simply unknown. */
#include "fold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "literal.h"
#include "value.h"

#define CLOCK_EVERY 64

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
    errno = 0;
    if (digits[0] == '0' && (digits[1] | 0x20) == 'o') {
        ret->number = strtoll(digits + 2, NULL, 8);
    } else if (digits[0] == '0' && (digits[1] | 0x20) == 'b') {
        ret->number = strtoll(digits + 2, NULL, 2);
    } else {
        ret->number = strtoll(digits, NULL, digits[0] == '0' ? 16 : 10);
    }
    ret->kind = errno == ERANGE ? CSB_V_UNKNOWN : CSB_V_INT;
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
    csb_value_add_value(ret, &piece);
    csb_value_done(&piece);
}

/* Text between two interpolations, in which {{ and }} are one brace each. */
static void
fold_content(const char *text, size_t len, const struct csb_literal *literal,
             struct csb_value *ret)
{
    struct csb_value piece = {.kind = CSB_V_TEXT, .whole = true};
    struct csb_value once = {.kind = CSB_V_TEXT, .whole = true};
    for (size_t at = 0; at < len && once.whole; at++) {
        csb_value_add(&once, text + at, 1);
        if (at + 1 < len && (text[at] == '{' || text[at] == '}') &&
            text[at + 1] == text[at]) {
            at++;
        }
    }
    csb_literal_decode(once.text.bytes == NULL ? "" : once.text.bytes, once.text.len,
                       literal->raw, false, &piece.text, &piece.whole);
    piece.whole = piece.whole && once.whole;
    csb_value_done(&once);
    csb_value_add_value(ret, &piece);
    csb_value_done(&piece);
}

/* An f-string: pieces of text between its interpolations. The grammar has no node for some of
 * the text, such as a last backslash of a raw one. */
static void
fold_format(struct csb_folder *folder, TSNode node, const struct csb_literal *literal,
            struct csb_value *ret)
{
    struct csb_check *check = folder->check;
    struct csb_children children;
    TSNode child;
    uint32_t at = ts_node_start_byte(node) + (uint32_t)literal->body;
    uint32_t close = ts_node_end_byte(node) - (literal->triple ? 3 : 1);
    csb_children_open(&children, node);
    while (ret->whole && csb_fold_spend(check) &&
           csb_children_next(&children, &child)) {
        uint32_t start = ts_node_start_byte(child);
        if (csb_kind(check, child) == CSB_K_INTERPOLATION) {
            fold_content(check->source->text + at, start > at ? start - at : 0, literal,
                         ret);
            fold_interpolation(folder, child, ret);
            at = ts_node_end_byte(child);
        }
    }
    csb_children_close(&children);
    if (ret->whole && close > at) {
        fold_content(check->source->text + at, close - at, literal, ret);
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
    struct csb_children children;
    TSNode child;
    ret->kind = CSB_V_TEXT;
    ret->whole = true;
    csb_children_open(&children, node);
    while (ret->whole && csb_children_next(&children, &child)) {
        struct csb_value piece = {0};
        csb_fold_node(folder, child, &piece);
        csb_value_add_value(ret, &piece);
        csb_value_done(&piece);
    }
    csb_children_close(&children);
}

static void
fold_list(struct csb_folder *folder, TSNode node, struct csb_value *ret)
{
    struct csb_children children;
    TSNode child;
    bool more;
    ret->kind = CSB_V_LIST;
    csb_children_open(&children, node);
    more = csb_children_next(&children, &child);
    while (more && ret->len < CSB_VALUE_MOST) {
        struct csb_value item = {0};
        csb_fold_node(folder, child, &item);
        csb_value_append(ret, &item);
        more = csb_children_next(&children, &child);
    }
    csb_children_close(&children);
    if (more) {
        csb_value_done(ret); /* a list that is cut short would be another list */
    }
}

/* The `for` of a comprehension that has nothing else but its body, or a null node. */
static TSNode
only_clause(const struct csb_check *check, TSNode comprehension)
{
    struct csb_children children;
    TSNode parts[3];
    TSNode none = {0};
    size_t count = 0;
    csb_children_open(&children, comprehension);
    while (count < CSB_ARRAY_LEN(parts) &&
           csb_children_next(&children, &parts[count])) {
        count++;
    }
    csb_children_close(&children);
    return count == 2 && csb_kind(check, parts[1]) == CSB_K_FOR_IN_CLAUSE ? parts[1]
                                                                          : none;
}

/* [f(x) for x in KNOWN], without conditions. */
static void
fold_comprehension(struct csb_folder *folder, TSNode node, struct csb_value *ret)
{
    const struct csb_check *check = folder->check;
    TSNode body = csb_field(check, node, CSB_F_BODY);
    TSNode clause = only_clause(check, node);
    TSNode target = csb_field(check, clause, CSB_F_LEFT);
    struct csb_value from = {0};
    if (csb_kind(check, target) != CSB_K_IDENTIFIER) {
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
            csb_value_add(&item, from.text.bytes + at, used);
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
        for (size_t i = 0; i < from.len; i++) {
            struct csb_value item = {0};
            env.value = &from.items[i];
            csb_fold_node(folder, body, &item);
            csb_value_append(ret, &item);
        }
        folder->env = env.outer;
    }
    ret->text.failed = ret->text.failed || from.text.failed;
    csb_value_done(&from);
}

static void
repeat(const struct csb_value *text, int64_t count, struct csb_value *ret)
{
    ret->kind = CSB_V_TEXT;
    ret->whole = true;
    /* An empty text never grows, so nothing but this would end the loop. */
    for (int64_t i = 0; i < count && text->text.len > 0 && ret->whole; i++) {
        csb_value_add_value(ret, text);
    }
}

void
csb_fold_combine(char sign, struct csb_value *left, struct csb_value *right,
                 struct csb_value *ret)
{
    if (sign == '+' && left->kind == CSB_V_TEXT) {
        struct csb_value known = {.kind = CSB_V_TEXT, .whole = true};
        csb_value_add_value(&known, left);
        if (right->kind == CSB_V_INT) {
            right->kind = CSB_V_UNKNOWN; /* text + number raises */
        }
        csb_value_add_value(&known, right);
        *ret = known;
    } else if (sign == '%' && left->kind == CSB_V_TEXT) {
        csb_fold_percent(left, right, ret);
    } else if (sign == '*' && left->kind == CSB_V_TEXT && right->kind == CSB_V_INT &&
               left->whole) {
        repeat(left, right->number, ret);
    } else if (left->kind == CSB_V_INT && right->kind == CSB_V_INT &&
               (sign == '+' || sign == '-')) {
        bool fits =
            sign == '+'
                ? !__builtin_add_overflow(left->number, right->number, &ret->number)
                : !__builtin_sub_overflow(left->number, right->number, &ret->number);
        ret->kind = fits ? CSB_V_INT : CSB_V_UNKNOWN;
    }
}

char
csb_fold_sign(const struct csb_check *check, TSNode expression)
{
    size_t len;
    const char *text =
        csb_node_text(check, csb_field(check, expression, CSB_F_OPERATOR), &len);
    bool lone = len == 1 || (len == 2 && text[1] == '=');
    return lone && strchr("+-%*", text[0]) != NULL ? text[0] : '\0';
}

static void
fold_binary(struct csb_folder *folder, TSNode node, struct csb_value *ret)
{
    const struct csb_check *check = folder->check;
    struct csb_value left = {0};
    struct csb_value right = {0};
    csb_fold_node(folder, csb_field(check, node, CSB_F_LEFT), &left);
    csb_fold_node(folder, csb_field(check, node, CSB_F_RIGHT), &right);
    csb_fold_combine(csb_fold_sign(check, node), &left, &right, ret);
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
                csb_value_copy(&from.items[at], ret);
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
        if (ret->kind != CSB_V_INT ||
            !csb_node_text_is(folder->check, ts_node_child(node, 0), "-") ||
            __builtin_sub_overflow(0, ret->number, &ret->number)) {
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
        csb_fold_name(folder, node, ret);
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
    case CSB_K_ASSIGNMENT: /* the right side of a = b = value */
        csb_fold_node(folder, csb_field(folder->check, node, CSB_F_RIGHT), ret);
        break;
    default:
        break;
    }
}

bool
csb_fold_spend(struct csb_check *check)
{
    /* What is left unknown for want of time or steps must not look harmless. */
    if (check->fold_budget == 0 ||
        (check->fold_budget % CLOCK_EVERY == 0 && csb_too_late(check))) {
        check->fold_budget = 0;
        check->out_of_time = true;
        return false;
    }
    check->fold_budget--;
    check->spent.folds++;
    return true;
}

void
csb_fold_node(struct csb_folder *folder, TSNode node, struct csb_value *ret)
{
    if (ts_node_is_null(node) || folder->depth >= CSB_VALUE_DEPTH ||
        !csb_fold_spend(folder->check)) {
        return;
    }
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
