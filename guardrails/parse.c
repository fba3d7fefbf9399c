/* Theory of operation: gives the text to tree-sitter and stops it when a budget is spent. All
 * budgets are counted, so that a verdict does not follow the machine: tokens before the parser
 * begins (census.h), its steps by its progress callback, what its lexer reads by the pieces it
 * asks for, and its search for the least wrong reading by its own measure (recovery.h). The
 * clock is a backstop far behind them. In the caller's process, without the GIL. */
#include "parse.h"

#include <stdlib.h>
#include <string.h>

#include "census.h"
#include "recovery.h"
#include "respell.h"
#include "walk.h"

/* Sources take 3 to 7 steps a token, whatever they are made of. tree-sitter tells after every
 * hundred. Some for each byte, too, for where the census took code for the text of a string. */
#define STEPS_PER_TOKEN 10
#define STEPS_OF(tokens, bytes)                                                        \
    (UINT64_C(131072) + (tokens) * STEPS_PER_TOKEN + (uint64_t)(bytes) / 4)
#define STEPS_PER_CALL 100
/* The lexer gets the text in pieces and asks again when it goes back: two or three times for each
 * piece of honest code, and without end where it looks ahead before every token. */
#define PIECE_BYTES 64
#define READS_PER_PIECE 12
#define READS_BASE 16384
/* 1000 tokens that fit nowhere, or 100 places with many each. Sources that CPython reads stay
 * below 2000. */
#define MOST_BROKEN 200000

struct parsing {
    struct csb_check *check;
    TSParser *parser;
    const char *text;
    uint32_t len;
    uint64_t steps;
    uint64_t reads;
    uint64_t most_steps;
    uint64_t most_reads;
    uint32_t at; /* how far the parser is */
    uint32_t
        broken_at; /* how far it was when it first said that it had to skip something */
    bool broken;
    enum { GOING, TOO_MANY_STEPS, TOO_BROKEN, TOO_LATE } state;
};

static const char *
read_piece(void *payload, uint32_t offset, TSPoint position, uint32_t *ret_len)
{
    struct parsing *parsing = payload;
    uint32_t left = offset < parsing->len ? parsing->len - offset : 0;
    (void)position; /* the offset says it all */
    /* Beyond the budget there is no more text: what is made of it is thrown away. */
    if (++parsing->reads > parsing->most_reads) {
        parsing->state = TOO_MANY_STEPS;
        left = 0;
    }
    *ret_len = left < PIECE_BYTES ? left : PIECE_BYTES;
    return left > 0 ? parsing->text + offset : "";
}

static bool
stop_parsing(TSParseState *state)
{
    struct parsing *parsing = state->payload;
    uint32_t cost = csb_recovery_cost(parsing->parser);
    parsing->at = state->current_byte_offset;
    parsing->steps += STEPS_PER_CALL;
    if (!parsing->broken) {
        parsing->broken = cost > 0;
        parsing->broken_at = parsing->at;
    }
    if (parsing->state == GOING && parsing->steps > parsing->most_steps) {
        parsing->state = TOO_MANY_STEPS;
    } else if (parsing->state == GOING && cost > MOST_BROKEN) {
        parsing->state = TOO_BROKEN;
    } else if (parsing->state == GOING &&
               csb_guard_now_ns() > parsing->check->deadline_ns) {
        parsing->state = TOO_LATE;
    }
    return parsing->state != GOING;
}

static void
report_stop(const struct parsing *parsing)
{
    switch (parsing->state) {
    case TOO_MANY_STEPS:
        csb_report_steps(parsing->check, parsing->at);
        break;
    case TOO_BROKEN:
        csb_report_broken(parsing->check, parsing->broken_at, parsing->at);
        break;
    case TOO_LATE:
        parsing->check->out_of_time = true;
        break;
    case GOING:
    default:
        parsing->check->failed = true; /* out of memory */
        break;
    }
}

/* The tree, or NULL and why in *ret. */
static TSTree *
parse_text(struct csb_check *check, const char *text, struct parsing *ret)
{
    uint32_t len = (uint32_t)check->source->len;
    TSInput input = {ret, read_piece, TSInputEncodingUTF8, NULL};
    TSParseOptions options = {ret, stop_parsing};
    TSTree *tree = NULL;
    *ret = (struct parsing){
        .check = check,
        .parser = ts_parser_new(),
        .text = text,
        .len = len,
        .most_steps = STEPS_OF(check->spent.tokens, len),
        .most_reads = READS_BASE + (uint64_t)(len / PIECE_BYTES) * READS_PER_PIECE,
    };
    if (ret->parser != NULL &&
        ts_parser_set_language(ret->parser, check->grammar->language)) {
        tree = ts_parser_parse_with_options(ret->parser, NULL, input, options);
    }
    if (ret->state != GOING) {
        ts_tree_delete(tree);
        tree = NULL;
    }
    ts_parser_delete(ret->parser);
    check->spent.steps += ret->steps;
    check->spent.reads += ret->reads;
    return tree;
}

/* The tree of a broken text in a spelling that the grammar may be able to read, or NULL. */
static TSTree *
parse_joined(struct csb_check *check, char *spelt)
{
    const struct csb_source *source = check->source;
    struct parsing parsing;
    TSTree *tree;
    memcpy(spelt, source->text, source->len + 1);
    (void)csb_respell_formats(spelt, source->len);
    if (!csb_respell_lines(spelt, source->len)) {
        return NULL;
    }
    (void)csb_respell_comments(spelt, source->len);
    tree = parse_text(check, spelt, &parsing);
    if (tree != NULL && ts_node_has_error(ts_tree_root_node(tree))) {
        ts_tree_delete(tree);
        tree = NULL;
    }
    return tree;
}

/* The tree of the text, or of a spelling of it that the grammar can read (respell.h). */
static TSTree *
parse_spelt(struct csb_check *check)
{
    const struct csb_source *source = check->source;
    char *spelt = malloc(source->len + 1);
    struct parsing parsing;
    TSTree *tree;
    if (spelt == NULL) {
        check->failed = true;
        return NULL;
    }
    memcpy(spelt, source->text, source->len + 1);
    (void)csb_respell_formats(spelt, source->len); /* the same text when nothing is */
    (void)csb_respell_comments(spelt, source->len);
    tree = parse_text(check, spelt, &parsing);
    if (tree == NULL) {
        report_stop(&parsing);
    } else if (ts_node_has_error(ts_tree_root_node(tree))) {
        TSTree *other = parse_joined(check, spelt);
        if (other != NULL) {
            ts_tree_delete(tree);
            tree = other;
        }
    }
    free(spelt);
    return tree;
}

TSTree *
csb_parse(struct csb_check *check)
{
    const struct csb_source *source = check->source;
    uint64_t most = CSB_TOKENS_MOST(source->len);
    size_t at;
    check->spent.tokens = csb_census(source->text, source->len, most, &at);
    if (check->spent.tokens > most) {
        csb_report_tokens(check, most, at);
        return NULL;
    }
    return parse_spelt(check);
}
