/* A value as a tree of nodes that know their hash: equal hashes are equal values.
 *
 * Nodes lie in the order of the encoding, so the children of node i begin at i + 1, and the
 * next sibling of a node is its `next`. 40 bytes an item. Owned by one thread; no GIL. */
#ifndef CSB_VALUE_TREE_H
#define CSB_VALUE_TREE_H

#include "keyed_hash.h"
#include "value_reader.h"
#include "value_rules.h"

struct csb_value_node {
    struct csb_hash
        hash;        /* under the rules; the order of dicts and sets does not count */
    size_t start;    /* offset in the encoding */
    uint32_t next;   /* node behind this one and all that is in it */
    uint32_t number; /* nodes directly inside, a pair counts two */
    unsigned char kind;
    bool has_nan; /* a nan somewhere inside */
};

struct csb_value_tree {
    const unsigned char *bytes; /* borrowed */
    size_t count;
    struct csb_value_node *nodes; /* owned; nodes[0] is the value */
    size_t node_count;
    size_t capacity;
};

/* 0, -ENOMEM, or -EBADMSG with *fault. Limits are those of the reader; 2^31 items at most. */
int csb_value_tree_build(struct csb_value_tree *ret, const unsigned char *bytes,
                         size_t count, const struct csb_value_limits *limits,
                         const struct csb_value_rules *rules,
                         const struct csb_hash_secret *secret,
                         struct csb_value_fault *fault) CSB_MUST_USE;
void csb_value_tree_done(struct csb_value_tree *tree);

/* What two kinds must share to be comparable at all under the rules. */
uint64_t csb_value_class(const struct csb_value_rules *rules, enum csb_value_kind kind);

/* Read a node's token again. */
void csb_value_tree_token(const struct csb_value_tree *tree,
                          const struct csb_value_node *node,
                          struct csb_value_token *ret);

#endif
