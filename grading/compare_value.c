/* Theory of operation: in the caller, GIL released: what a hostile child returned against what
 * was expected. Both become trees that know their hashes; equal hashes end the comparison of
 * a subtree. Where they differ a stack goes down to the first difference, or finds that
 * numbers are close. Members of dicts and sets are found by hash. */
#include "compare_value.h"

#include "hash_table.h"
#include "number.h"
#include "value_show.h"
#include "value_tree.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VISITED (UINT64_C(1) << 63)

/* A pair of containers whose insides are being compared. */
struct level {
    uint32_t got;
    uint32_t expected;
    uint32_t next_got; /* sequences: the pair that is next */
    uint32_t next_expected;
    uint32_t index; /* of the pair that is being compared */
    uint32_t key;   /* dicts: node of its key, in expected */
    bool is_dict;
    struct csb_hash_table members; /* dicts: got's keys → their value's node */
};

struct comparison {
    const struct csb_value_rules *rules;
    struct csb_value_tree got;
    struct csb_value_tree expected;
    struct csb_value_difference *ret;
    struct csb_value_fault *fault;
    struct level *levels; /* CSB_VALUE_MAX_DEPTH, as nothing nests deeper */
    size_t depth;
};

static const struct csb_value_node *
got_node(const struct comparison *comparison, uint32_t index)
{
    return &comparison->got.nodes[index];
}

static const struct csb_value_node *
expected_node(const struct comparison *comparison, uint32_t index)
{
    return &comparison->expected.nodes[index];
}

/* ---- where ---------------------------------------------------------------------- */

static void
append(char *path, size_t size, const char *format, const char *text)
{
    size_t used = strlen(path);
    (void)snprintf(path + used, size - used, "%s%s%s", format[0] == '.' ? "." : "[",
                   text, format[0] == '.' ? "" : "]");
}

/* .name, or [key] as Python writes it. */
static void
append_key(const struct csb_value_tree *tree, uint32_t index, char *path, size_t size)
{
    char text[64];
    size_t length;
    bool plain;
    csb_value_show(tree->bytes, tree->count, tree->nodes[index].start, text,
                   sizeof text);
    length = strlen(text);
    plain = length > 2 && text[0] == '\'' && text[length - 1] == '\'' &&
            strspn(text + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
                             "0123456789") == length - 2 &&
            (text[1] < '0' || text[1] > '9');
    if (plain) {
        text[length - 1] = '\0';
    }
    append(path, size, plain ? "." : "[", plain ? text + 1 : text);
}

static void
set_path(const struct comparison *comparison)
{
    char *path = comparison->ret->path;
    const size_t size = sizeof comparison->ret->path;
    (void)snprintf(path, size, "$");
    for (size_t i = 0; i < comparison->depth; i++) {
        const struct level *level = &comparison->levels[i];
        if (level->is_dict) {
            append_key(&comparison->expected, level->key, path, size);
        } else {
            char text[16];
            (void)snprintf(text, sizeof text, "%u", (unsigned)level->index);
            append(path, size, "[", text);
        }
    }
    if (strlen(path) + 1 == size) {
        memcpy(path + size - 4, "...", 4);
    }
}

static void
show(const struct csb_value_tree *tree, uint32_t index, char *buffer, size_t size)
{
    csb_value_show(tree->bytes, tree->count, tree->nodes[index].start, buffer, size);
}

static int
differs(struct comparison *comparison, enum csb_value_reason reason, uint32_t got,
        uint32_t expected)
{
    struct csb_value_difference *ret = comparison->ret;
    ret->reason = reason;
    set_path(comparison);
    show(&comparison->got, got, ret->got, sizeof ret->got);
    show(&comparison->expected, expected, ret->expected, sizeof ret->expected);
    return 1;
}

static int
differs_in_length(struct comparison *comparison, uint32_t got, uint32_t expected)
{
    struct csb_value_difference *ret = comparison->ret;
    ret->reason = CSB_DIFFERS_IN_LENGTH;
    set_path(comparison);
    (void)snprintf(ret->got, sizeof ret->got, "%u items",
                   (unsigned)got_node(comparison, got)->number);
    (void)snprintf(ret->expected, sizeof ret->expected, "%u items",
                   (unsigned)expected_node(comparison, expected)->number);
    return 1;
}

/* A member that only one side has: its place is the container, or the key in it. */
static int
differs_by_member(struct comparison *comparison, enum csb_value_reason reason,
                  uint32_t member, bool is_dict)
{
    struct csb_value_difference *ret = comparison->ret;
    bool missing = reason == CSB_DIFFERS_BY_MISSING;
    const struct csb_value_tree *tree =
        missing ? &comparison->expected : &comparison->got;
    ret->reason = reason;
    ret->got[0] = '\0';
    ret->expected[0] = '\0';
    set_path(comparison);
    if (is_dict) {
        append_key(tree, member, ret->path, sizeof ret->path);
        member = tree->nodes[member].next;
    }
    if (missing) {
        show(tree, member, ret->expected, sizeof ret->expected);
    } else {
        show(tree, member, ret->got, sizeof ret->got);
    }
    return 1;
}

/* ---- members of dicts and sets ---------------------------------------------------- */

static bool
can_equal(const struct comparison *comparison, const struct csb_value_node *node)
{
    return comparison->rules->nan_equal || !node->has_nan;
}

/* Got's keys or elements, by hash. */
static int
collect(struct comparison *comparison, uint32_t container, bool is_dict,
        struct csb_hash_table *ret)
{
    const struct csb_value_node *node = got_node(comparison, container);
    uint32_t count = is_dict ? node->number / 2 : node->number;
    uint32_t at = container + 1;
    if (csb_hash_table_init(ret, count) < 0) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct csb_value_node *member = got_node(comparison, at);
        struct csb_hash_slot *slot = csb_hash_table_get(ret, member->hash);
        /* Several nans in a set are told by their sum; as keys nothing says whose value is
         * whose. */
        if (slot->number != 0 && (is_dict || !member->has_nan)) {
            (void)snprintf(comparison->fault->message,
                           sizeof comparison->fault->message, "byte %zu: %s",
                           member->start,
                           is_dict ? "a key that is twice in a dict"
                                   : "an element that is twice in a set");
            csb_hash_table_done(ret);
            return -EBADMSG;
        }
        slot->number = is_dict ? member->next : at;
        at = is_dict ? got_node(comparison, member->next)->next : member->next;
    }
    return 0;
}

/* The first member of got that expected has not visited. */
static int
find_extra(struct comparison *comparison, uint32_t container, bool is_dict,
           const struct csb_hash_table *members)
{
    const struct csb_value_node *node = got_node(comparison, container);
    uint32_t count = is_dict ? node->number / 2 : node->number;
    uint32_t at = container + 1;
    for (uint32_t i = 0; i < count; i++) {
        const struct csb_value_node *member = got_node(comparison, at);
        const struct csb_hash_slot *slot = csb_hash_table_find(members, member->hash);
        if (slot == NULL || (slot->number & VISITED) == 0) {
            return differs_by_member(comparison, CSB_DIFFERS_BY_EXTRA, at, is_dict);
        }
        at = is_dict ? got_node(comparison, member->next)->next : member->next;
    }
    return 0;
}

static int
compare_sets(struct comparison *comparison, uint32_t got, uint32_t expected)
{
    const struct csb_value_node *node = expected_node(comparison, expected);
    struct csb_hash_table members;
    uint32_t at = expected + 1;
    int result = collect(comparison, got, false, &members);
    if (result < 0) {
        return result;
    }
    for (uint32_t i = 0; i < node->number && result == 0; i++) {
        const struct csb_value_node *member = expected_node(comparison, at);
        struct csb_hash_slot *slot = can_equal(comparison, member)
                                         ? csb_hash_table_find(&members, member->hash)
                                         : NULL;
        if (slot == NULL) {
            result = differs_by_member(comparison, CSB_DIFFERS_BY_MISSING, at, false);
        } else {
            slot->number |= VISITED;
        }
        at = member->next;
    }
    if (result == 0) {
        result = find_extra(comparison, got, false, &members);
    }
    csb_hash_table_done(&members);
    /* Their sums differ all the same: in how many nans they have. */
    return result != 0 ? result
                       : differs(comparison, CSB_DIFFERS_IN_VALUE, got, expected);
}

/* ---- pairs ------------------------------------------------------------------------ */

static bool
is_number(enum csb_value_kind kind)
{
    return kind >= CSB_VALUE_INT && kind <= CSB_VALUE_COMPLEX;
}

/* Real parts of two numbers; false when one is too large for a double, which only equal hashes
 * can make equal. */
static bool
real_parts(const struct csb_value_token *one, const struct csb_value_token *two,
           double *ret_one, double *ret_two)
{
    *ret_one = one->kind == CSB_VALUE_COMPLEX ? one->real : csb_number_of(one);
    *ret_two = two->kind == CSB_VALUE_COMPLEX ? two->real : csb_number_of(two);
    return (one->kind != CSB_VALUE_BIG || isfinite(*ret_one)) &&
           (two->kind != CSB_VALUE_BIG || isfinite(*ret_two));
}

static bool
numbers_close(const struct comparison *comparison, uint32_t got, uint32_t expected)
{
    const struct csb_value_rules *rules = comparison->rules;
    struct csb_value_token one;
    struct csb_value_token two;
    double got_real;
    double expected_real;
    csb_value_tree_token(&comparison->got, got_node(comparison, got), &one);
    csb_value_tree_token(&comparison->expected, expected_node(comparison, expected),
                         &two);
    return real_parts(&one, &two, &got_real, &expected_real) &&
           csb_number_close(got_real, expected_real, rules->relative,
                            rules->absolute) &&
           csb_number_close(one.imaginary, two.imaginary, rules->relative,
                            rules->absolute);
}

static int
enter(struct comparison *comparison, uint32_t got, uint32_t expected, bool is_dict)
{
    struct level level = {.got = got,
                          .expected = expected,
                          .next_got = got + 1,
                          .next_expected = expected + 1,
                          .is_dict = is_dict};
    int result = is_dict ? collect(comparison, got, true, &level.members) : 0;
    if (result == 0) {
        comparison->levels[comparison->depth++] = level;
    }
    return result;
}

/* One pair: 0 when it is equal, or when its inside is to be compared next. */
static int
compare_pair(struct comparison *comparison, uint32_t got, uint32_t expected)
{
    const struct csb_value_node *one = got_node(comparison, got);
    const struct csb_value_node *two = expected_node(comparison, expected);
    const struct csb_value_rules *rules = comparison->rules;
    if (csb_hash_equal(one->hash, two->hash) && can_equal(comparison, two)) {
        return 0;
    }
    if (csb_value_class(rules, one->kind) != csb_value_class(rules, two->kind)) {
        return differs(comparison, CSB_DIFFERS_IN_TYPE, got, expected);
    }
    if (!csb_value_is_container(two->kind)) {
        return csb_value_tolerant(rules) && is_number(one->kind) &&
                       is_number(two->kind) && numbers_close(comparison, got, expected)
                   ? 0
                   : differs(comparison, CSB_DIFFERS_IN_VALUE, got, expected);
    }
    if (two->kind == CSB_VALUE_SET || two->kind == CSB_VALUE_FROZENSET) {
        return compare_sets(comparison, got, expected);
    }
    if (two->kind != CSB_VALUE_DICT && one->number != two->number) {
        return differs_in_length(comparison, got, expected);
    }
    return enter(comparison, got, expected, two->kind == CSB_VALUE_DICT);
}

/* The next pair of a dict: by expected's keys. */
static int
step_dict(struct comparison *comparison, struct level *level)
{
    const struct csb_value_node *node = expected_node(comparison, level->expected);
    const struct csb_value_node *key;
    struct csb_hash_slot *slot;
    uint32_t value;
    uint32_t at = level->next_expected;
    if (at == node->next) {
        int result;
        comparison->depth--;
        result = find_extra(comparison, level->got, true, &level->members);
        csb_hash_table_done(&level->members);
        return result;
    }
    key = expected_node(comparison, at);
    value = key->next;
    level->key = at;
    level->next_expected = expected_node(comparison, value)->next;
    slot = can_equal(comparison, key) ? csb_hash_table_find(&level->members, key->hash)
                                      : NULL;
    if (slot == NULL) {
        int result;
        comparison->depth--;
        result = differs_by_member(comparison, CSB_DIFFERS_BY_MISSING, at, true);
        csb_hash_table_done(&level->members);
        return result;
    }
    slot->number |= VISITED;
    return compare_pair(comparison, (uint32_t)slot->number, value);
}

static int
step(struct comparison *comparison)
{
    struct level *level = &comparison->levels[comparison->depth - 1];
    uint32_t got = level->next_got;
    uint32_t expected = level->next_expected;
    if (level->is_dict) {
        return step_dict(comparison, level);
    }
    if (expected == expected_node(comparison, level->expected)->next) {
        comparison->depth--;
        return 0;
    }
    level->index = got == level->got + 1 ? 0 : level->index + 1;
    level->next_got = got_node(comparison, got)->next;
    level->next_expected = expected_node(comparison, expected)->next;
    return compare_pair(comparison, got, expected);
}

static int
compare(struct comparison *comparison)
{
    int result;
    comparison->levels = calloc(CSB_VALUE_MAX_DEPTH, sizeof *comparison->levels);
    if (comparison->levels == NULL) {
        return -ENOMEM;
    }
    result = compare_pair(comparison, 0, 0);
    while (result == 0 && comparison->depth > 0) {
        result = step(comparison);
    }
    while (comparison->depth > 0) {
        csb_hash_table_done(&comparison->levels[--comparison->depth].members);
    }
    free(comparison->levels);
    return result;
}

int
csb_compare_values(const struct csb_encoded *got, const struct csb_encoded *expected,
                   const struct csb_value_rules *rules,
                   struct csb_value_difference *ret, struct csb_value_fault *fault,
                   bool *ret_bad_got)
{
    const struct csb_hash_secret secret = csb_hash_secret_new();
    struct comparison comparison = {.rules = rules, .ret = ret, .fault = fault};
    int result =
        csb_value_tree_build(&comparison.expected, expected->bytes, expected->count,
                             expected->limits, rules, &secret, fault);
    *ret_bad_got = false;
    if (result == 0) {
        *ret_bad_got = true;
        result = csb_value_tree_build(&comparison.got, got->bytes, got->count,
                                      got->limits, rules, &secret, fault);
    }
    if (result == 0) {
        result = compare(&comparison);
    }
    csb_value_tree_done(&comparison.got);
    csb_value_tree_done(&comparison.expected);
    return result;
}
