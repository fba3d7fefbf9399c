/* Theory of operation: in the caller, GIL released, over bytes of a hostile child. One pass of
 * the reader; each container's hash is made of those of its children when it closes: in order
 * for a sequence, as a sum of the hashes of pairs or elements where there is none. Since the
 * hash is keyed and long, this is the comparison; the tree only serves to find where two
 * values differ, and what is merely close. */
#include "value_tree.h"

#include "number.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct open {
    struct csb_hasher hasher; /* sequences */
    struct csb_hash sum;      /* dicts, sets */
    struct csb_hash key;      /* dicts: of the pair that is not complete */
    uint32_t node;
    uint32_t seen;
};

struct builder {
    struct csb_value_tree *tree;
    const struct csb_value_rules *rules;
    const struct csb_hash_secret *secret;
    struct open *stack; /* CSB_VALUE_MAX_DEPTH */
    size_t depth;
};

static const struct csb_value_limits none = {UINT64_MAX, UINT64_MAX,
                                             CSB_VALUE_MAX_DEPTH, UINT32_MAX};

void
csb_value_tree_done(struct csb_value_tree *tree)
{
    free(tree->nodes);
    *tree = (struct csb_value_tree){0};
}

void
csb_value_tree_token(const struct csb_value_tree *tree,
                     const struct csb_value_node *node, struct csb_value_token *ret)
{
    struct csb_value_reader reader;
    struct csb_value_fault fault;
    csb_value_reader_init(&reader, tree->bytes + node->start, tree->count - node->start,
                          &none);
    if (csb_value_next(&reader, ret, &fault) <= 0) {
        *ret = (struct csb_value_token){0}; /* cannot be: it was read before */
    }
}

uint64_t
csb_value_class(const struct csb_value_rules *rules, enum csb_value_kind kind)
{
    bool numeric = rules->numeric || csb_value_tolerant(rules);
    switch (kind) {
    case CSB_VALUE_FLOAT:
    case CSB_VALUE_COMPLEX:
        return numeric ? CSB_VALUE_INT : kind;
    case CSB_VALUE_BIG:
        return CSB_VALUE_INT;
    case CSB_VALUE_SURROGATES:
        return CSB_VALUE_TEXT;
    case CSB_VALUE_TUPLE:
        return rules->sequences ? CSB_VALUE_LIST : kind;
    case CSB_VALUE_FROZENSET:
        return rules->sets ? CSB_VALUE_SET : kind;
    default:
        return kind;
    }
}

static void
begin(const struct builder *builder, struct csb_hasher *hasher,
      enum csb_value_kind kind)
{
    csb_hasher_init(hasher, builder->secret);
    csb_hasher_add_word(hasher, csb_value_class(builder->rules, kind));
}

static struct csb_hash
scalar_hash(const struct builder *builder, const struct csb_value_token *token)
{
    struct csb_hasher hasher;
    begin(builder, &hasher, token->kind);
    switch (token->kind) {
    case CSB_VALUE_NONE:
        break;
    case CSB_VALUE_BOOL:
        csb_hasher_add_word(&hasher, token->number);
        break;
    case CSB_VALUE_INT:
    case CSB_VALUE_BIG:
        csb_number_hash(&hasher, token);
        break;
    case CSB_VALUE_FLOAT:
    case CSB_VALUE_COMPLEX:
        if (csb_value_class(builder->rules, token->kind) == CSB_VALUE_INT) {
            csb_number_hash(&hasher, token);
        } else {
            csb_hasher_add_word(&hasher, csb_double_bits(token->real));
            csb_hasher_add_word(&hasher, csb_double_bits(token->imaginary));
        }
        break;
    default:
        csb_hasher_add(&hasher, token->bytes, token->count);
    }
    return csb_hasher_end(&hasher);
}

/* A complete node belongs to the innermost container. */
static void
add_to_container(struct builder *builder, const struct csb_value_node *node)
{
    struct csb_value_node *nodes = builder->tree->nodes;
    struct open *open;
    struct csb_hasher pair;
    if (builder->depth == 0) {
        return;
    }
    open = &builder->stack[builder->depth - 1];
    nodes[open->node].has_nan = nodes[open->node].has_nan || node->has_nan;
    switch (nodes[open->node].kind) {
    case CSB_VALUE_LIST:
    case CSB_VALUE_TUPLE:
        csb_hasher_add(&open->hasher, &node->hash, sizeof node->hash);
        break;
    case CSB_VALUE_DICT:
        if (open->seen % 2 == 0) {
            open->key = node->hash;
            break;
        }
        csb_hasher_init(&pair, builder->secret);
        csb_hasher_add(&pair, &open->key, sizeof open->key);
        csb_hasher_add(&pair, &node->hash, sizeof node->hash);
        csb_hash_add_to(&open->sum, csb_hasher_end(&pair));
        break;
    default:
        csb_hash_add_to(&open->sum, node->hash);
    }
    open->seen++;
}

static void
close_container(struct builder *builder)
{
    struct open *open = &builder->stack[--builder->depth];
    struct csb_value_node *node = &builder->tree->nodes[open->node];
    if (node->kind != CSB_VALUE_LIST && node->kind != CSB_VALUE_TUPLE) {
        csb_hasher_add(&open->hasher, &open->sum, sizeof open->sum);
    }
    csb_hasher_add_word(&open->hasher, open->seen);
    node->hash = csb_hasher_end(&open->hasher);
    node->next = (uint32_t)builder->tree->node_count;
    add_to_container(builder, node);
}

static struct csb_value_node *
new_node(struct csb_value_tree *tree)
{
    if (tree->node_count == tree->capacity) {
        size_t capacity = tree->capacity * 2 + 16;
        struct csb_value_node *grown = realloc(tree->nodes, capacity * sizeof *grown);
        if (grown == NULL) {
            return NULL;
        }
        tree->nodes = grown;
        tree->capacity = capacity;
    }
    return &tree->nodes[tree->node_count++];
}

static int
take(struct builder *builder, const struct csb_value_token *token)
{
    struct csb_value_tree *tree = builder->tree;
    struct csb_value_node *node;
    if (token->kind == CSB_VALUE_CLOSE) {
        close_container(builder);
        return 0;
    }
    node = tree->node_count >= INT32_MAX ? NULL : new_node(tree);
    if (node == NULL) {
        return -ENOMEM;
    }
    *node = (struct csb_value_node){.start = token->start,
                                    .kind = (unsigned char)token->kind,
                                    .next = (uint32_t)tree->node_count};
    if (csb_value_is_container(token->kind)) {
        struct open *open = &builder->stack[builder->depth++];
        node->number = (uint32_t)token->number;
        *open = (struct open){.node = (uint32_t)(tree->node_count - 1)};
        begin(builder, &open->hasher, token->kind);
        return 0;
    }
    node->has_nan =
        (token->kind == CSB_VALUE_FLOAT || token->kind == CSB_VALUE_COMPLEX) &&
        (isnan(token->real) || isnan(token->imaginary));
    node->hash = scalar_hash(builder, token);
    add_to_container(builder, node);
    return 0;
}

int
csb_value_tree_build(struct csb_value_tree *ret, const unsigned char *bytes,
                     size_t count, const struct csb_value_limits *limits,
                     const struct csb_value_rules *rules,
                     const struct csb_hash_secret *secret,
                     struct csb_value_fault *fault)
{
    struct builder builder = {ret, rules, secret, NULL, 0};
    struct csb_value_reader reader;
    struct csb_value_token token;
    int result;
    *ret = (struct csb_value_tree){.bytes = bytes, .count = count};
    builder.stack = malloc(CSB_VALUE_MAX_DEPTH * sizeof *builder.stack);
    if (builder.stack == NULL) {
        return -ENOMEM;
    }
    csb_value_reader_init(&reader, bytes, count, limits);
    while ((result = csb_value_next(&reader, &token, fault)) > 0) {
        result = take(&builder, &token);
        if (result < 0) {
            break;
        }
    }
    free(builder.stack);
    if (result < 0) {
        csb_value_tree_done(ret);
    }
    return result;
}
