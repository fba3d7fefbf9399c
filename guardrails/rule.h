/* What a rule is and what it may use: the contract between the engine and rules/csbNNN_*.c.
 *
 * A rule is stateless. The engine walks the tree once, collects the places ("sites") that any
 * rule could care about, and then shows each site to the rules that asked for its kind. Rules
 * run in the caller's thread without the GIL and report through csb_report. */
#ifndef CSB_GUARD_RULE_H
#define CSB_GUARD_RULE_H

#include "diagnostic.h"
#include "grammar.h"
#include "guard_config.h"
#include "names.h"
#include "scope.h"
#include "source.h"
#include "spent.h"
#include "tables.h"
#include "text.h"

struct csb_witness;

enum csb_site_kind {
    CSB_SITE_NAME = 1 << 0,      /* a bare identifier with flags */
    CSB_SITE_ATTRIBUTE = 1 << 1, /* receiver.name with flags, in whatever syntax */
    CSB_SITE_IMPORT = 1 << 2,    /* one imported module, or one name of a from-import */
    CSB_SITE_PATTERN = 1 << 3,   /* keyword of a class pattern with flags */
    CSB_SITE_ERROR = 1 << 4,     /* ERROR or MISSING node, or syntax of Python 2 */
    CSB_SITE_STRING = 1 << 5,    /* a string literal worth a look */
    CSB_SITE_WHILE = 1 << 6,
    CSB_SITE_OPERATOR = 1 << 7, /* ** or * with a constant */
    CSB_SITE_FUNCTION = 1 << 8, /* def of a special method */
    CSB_SITE_KEYWORD = 1 << 9,  /* keyword argument with flags */
    CSB_SITE_TEMPLATE = 1
        << 10, /* string that looks like a format template with dunders */
};

enum csb_role {
    CSB_ROLE_READ,
    CSB_ROLE_CALL,   /* read as the function of a call: parent is the call */
    CSB_ROLE_STORE,  /* plain assignment target, or a definition's name */
    CSB_ROLE_HIDDEN, /* target of for, with, as, tuple, walrus, augmented assignment */
    CSB_ROLE_DELETE,
    CSB_ROLE_DECLARE, /* global, nonlocal */
};

struct csb_site {
    enum csb_site_kind kind;
    enum csb_role role;
    TSNode node;   /* identifier, attribute, string, statement */
    TSNode parent; /* of node */
    uint32_t scope;
    uint32_t atom;  /* of the name, CSB_NO_ATOM when there is none */
    uint32_t start; /* bytes of the name itself, for the caret */
    uint32_t end;
    uint32_t path; /* IMPORT: the module; ATTRIBUTE in a pattern: the receiver */
};

#define CSB_MOST_STARS 128 /* more than there are guarded modules; a test counts them */

struct csb_check {
    const struct csb_guard_config *config;
    const struct csb_grammar *grammar;
    const struct csb_source *source;
    struct csb_diags *diags;
    struct csb_witness *witness; /* NULL, but in tests: witness.h */
    struct csb_atoms atoms;
    struct csb_scopes scopes;
    struct csb_text paths; /* NUL-terminated dotted names; csb_local.path points here */
    struct csb_site *sites;
    size_t site_len;
    size_t site_cap;
    uint64_t deadline_ns;
    uint64_t fold_budget; /* steps of constant folding left for the whole source */
    struct csb_spent spent;
    bool
        formats; /* str.format or a kin of it is used on some other expression than a string */
    bool called_annotations; /* an annotation is a call, or a string that holds one */
    bool typed_calls;        /* something is called anywhere in an annotation */
    bool guarded_imports;    /* a guarded member was imported by name */
    uint32_t star_len;
    uint32_t stars[CSB_MOST_STARS]; /* guarded modules imported with *, as in paths */
    bool out_of_time; /* the clock or the folding budget: the check ends */
    bool failed;      /* out of memory: the whole check fails closed */
};

struct csb_rule {
    uint32_t sites; /* union of enum csb_site_kind */
    void (*check_source)(struct csb_check *check);
    void (*check_site)(struct csb_check *check, const struct csb_site *site);
};

#define CSB_RULE(code, name, family, severity, selectable, summary)                    \
    extern const struct csb_rule csb_rule_##code;
#include "rules.def"
#undef CSB_RULE

/* Rules whose facts only the walk or the engine sees; they live in rules/ all the same. */
void csb_check_normalised(struct csb_check *check, uint32_t atom, uint32_t start);
void csb_check_indent(struct csb_check *check, TSNode statement);
void csb_report_depth(struct csb_check *check, TSNode node);
void csb_report_nodes(struct csb_check *check, uint32_t nodes);
void csb_report_tokens(struct csb_check *check, uint64_t most, size_t at);
void csb_report_steps(struct csb_check *check, size_t at);
void csb_report_broken(struct csb_check *check, size_t first, size_t at);
void csb_report_time(struct csb_check *check);

/* Report over [start, end). NULL when the rule is off or capped; the setters accept NULL. */
struct csb_diag *csb_report(struct csb_check *check, enum csb_rule_id rule,
                            size_t start, size_t end, const char *format, ...)
    CSB_PRINTF(5, 6);

/* The spelling of an atom, escaped for a message, in `buffer`. */
#define CSB_NAME_BYTES 128
const char *csb_atom_text(const struct csb_check *check, uint32_t atom,
                          char buffer[CSB_NAME_BYTES]);
const struct csb_atom *csb_atom_of(const struct csb_check *check, uint32_t atom);
uint32_t csb_site_flags(const struct csb_check *check, const struct csb_site *site);
bool csb_atom_is(const struct csb_check *check, uint32_t atom, const char *name);

enum csb_kind csb_kind(const struct csb_check *check, TSNode node);
TSNode csb_field(const struct csb_check *check, TSNode node, enum csb_field field);
bool csb_node_text_is(const struct csb_check *check, TSNode node, const char *text);
const char *csb_node_text(const struct csb_check *check, TSNode node, size_t *ret_len);

/* Strip parentheses. */
TSNode csb_unwrap(const struct csb_check *check, TSNode node);

/* The named children of a node, without the comments and continuations between them, in time
 * linear in their number. Close it on every way out. A null node has none. */
struct csb_children {
    TSTreeCursor cursor;
    bool open;
    bool more;
};
void csb_children_open(struct csb_children *ret, TSNode parent);
bool csb_children_next(struct csb_children *children, TSNode *ret);
void csb_children_close(struct csb_children *children);

/* The first of them, or a null node; and how many there are. */
TSNode csb_first_child(TSNode parent);
uint32_t csb_child_count(TSNode parent);

/* True, and the check ends as out of time, when its deadline has passed. */
bool csb_too_late(struct csb_check *check);

/* What a call calls, without parentheses. The grammar takes `*f(x), y` for a call of `*f`. */
TSNode csb_callee(const struct csb_check *check, TSNode call);

/* True when a NAME site reads the builtin of that name, as far as can be known. */
bool csb_means_builtin(const struct csb_check *check, const struct csb_site *site);

#endif
