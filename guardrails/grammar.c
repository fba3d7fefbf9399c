/* Theory of operation: translates the grammar's strings to small numbers once, so that the walk
 * compares integers. Fails when any expected name is missing: a rule that looks for a node kind
 * that no longer exists is a rule that never fires. */
#include "grammar.h"

#include <errno.h>
#include <string.h>

const TSLanguage *tree_sitter_python(void);

static const char *const kind_names[CSB_K_COUNT] = {
#define CSB_KIND(constant, name) [CSB_K_##constant] = name,
#include "kinds.def"
#undef CSB_KIND
};

static const char *const field_names[CSB_F_COUNT] = {
#define CSB_FIELD(constant, name) [CSB_F_##constant] = name,
#include "fields.def"
#undef CSB_FIELD
};

static int
resolve_kinds(struct csb_grammar *grammar, struct csb_error *reterr)
{
    uint32_t symbols = ts_language_symbol_count(grammar->language);
    bool seen[CSB_K_COUNT] = {false};
    if (symbols > CSB_MAX_SYMBOLS) {
        return csb_fail(reterr, CSB_STEP_ARGUMENT, ENOTSUP,
                        "the grammar has %u node kinds, more than expected", symbols);
    }
    for (uint32_t symbol = 0; symbol < symbols; symbol++) {
        const char *name = ts_language_symbol_name(grammar->language, (TSSymbol)symbol);
        /* Keywords share names with rules ("lambda", "await"); only named nodes count. */
        if (ts_language_symbol_type(grammar->language, (TSSymbol)symbol) !=
            TSSymbolTypeRegular) {
            continue;
        }
        for (int kind = 1; kind < CSB_K_COUNT; kind++) {
            if (kind_names[kind] != NULL && strcmp(kind_names[kind], name) == 0) {
                grammar->kind_of_symbol[symbol] = (uint8_t)kind;
                seen[kind] = true;
            }
        }
    }
    for (int kind = 1; kind < CSB_K_ERROR; kind++) {
        if (!seen[kind]) {
            return csb_fail(reterr, CSB_STEP_ARGUMENT, ENOTSUP,
                            "the grammar has no node kind '%s'", kind_names[kind]);
        }
    }
    return 0;
}

static int
resolve_fields(struct csb_grammar *grammar, struct csb_error *reterr)
{
    for (int field = 1; field < CSB_F_COUNT; field++) {
        const char *name = field_names[field];
        TSFieldId id = ts_language_field_id_for_name(grammar->language, name,
                                                     (uint32_t)strlen(name));
        if (id == 0 || id >= CSB_MAX_FIELDS) {
            return csb_fail(reterr, CSB_STEP_ARGUMENT, ENOTSUP,
                            "the grammar has no field '%s'", name);
        }
        grammar->field_ids[field] = id;
        grammar->field_of_id[id] = (uint8_t)field;
    }
    return 0;
}

int
csb_grammar_init(struct csb_grammar *ret, struct csb_error *reterr)
{
    uint32_t abi;
    int r;
    memset(ret, 0, sizeof *ret);
    ret->language = tree_sitter_python();
    abi = ts_language_abi_version(ret->language);
    if (abi < TREE_SITTER_MIN_COMPATIBLE_LANGUAGE_VERSION ||
        abi > TREE_SITTER_LANGUAGE_VERSION) {
        return csb_fail(reterr, CSB_STEP_ARGUMENT, ENOTSUP,
                        "the grammar has ABI %u, the parser reads %d to %d", abi,
                        TREE_SITTER_MIN_COMPATIBLE_LANGUAGE_VERSION,
                        TREE_SITTER_LANGUAGE_VERSION);
    }
    r = resolve_kinds(ret, reterr);
    return r < 0 ? r : resolve_fields(ret, reterr);
}

enum csb_kind
csb_node_kind(const struct csb_grammar *grammar, TSNode node)
{
    TSSymbol symbol = ts_node_symbol(node);
    /* ERROR is the one symbol outside the grammar's range. */
    return symbol < CSB_MAX_SYMBOLS ? (enum csb_kind)grammar->kind_of_symbol[symbol]
                                    : CSB_K_ERROR;
}

TSNode
csb_node_field(const struct csb_grammar *grammar, TSNode node, enum csb_field field)
{
    return ts_node_child_by_field_id(node, grammar->field_ids[field]);
}
