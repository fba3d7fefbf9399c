/* Scopes of one source and the names bound in each: enough to know when a name cannot mean the
 * builtin, which names are modules, and which are constants.
 *
 * Owned by one check. One entry per (scope, name) however often it is bound, so that a million
 * bindings cost a million additions and no more. */
#ifndef CSB_GUARD_SCOPE_H
#define CSB_GUARD_SCOPE_H

#include <tree_sitter/api.h>

#include "hash.h"

#define CSB_NO_SCOPE UINT32_MAX
#define CSB_NO_PATH UINT32_MAX

enum csb_scope_kind {
    CSB_SCOPE_MODULE,
    CSB_SCOPE_CLASS,
    CSB_SCOPE_FUNCTION, /* also lambdas */
    CSB_SCOPE_COMPREHENSION,
};

struct csb_scope {
    uint32_t parent;
    enum csb_scope_kind kind;
};

enum csb_bind {
    CSB_BIND_PARAMETER = 1 << 0,
    CSB_BIND_IMPORT = 1 << 1,
    CSB_BIND_FUNCTION = 1 << 2,
    CSB_BIND_CLASS = 1 << 3,
    CSB_BIND_VALUE = 1 << 4, /* name = value */
    CSB_BIND_OTHER = 1 << 5, /* loop, with, except, pattern, walrus */
    CSB_BIND_GLOBAL = 1 << 6,
    CSB_BIND_NONLOCAL = 1 << 7,
    CSB_BIND_DELETED = 1 << 8,
    CSB_BIND_EXCEPTION = 1 << 9,  /* except E as name */
    CSB_BIND_AUGMENTED = 1 << 10, /* name += value */
};

#define CSB_NO_WRITE UINT32_MAX

/* One CSB_BIND_VALUE or CSB_BIND_AUGMENTED of a name. */
struct csb_write {
    TSNode value;
    TSNode statement; /* the assignment; its operator when it is augmented */
    uint32_t end;
    uint32_t previous; /* of the same name in the same scope, or CSB_NO_WRITE */
    bool augmented;
};

struct csb_local {
    uint32_t scope;
    uint32_t atom;
    uint32_t binds; /* union of enum csb_bind */
    uint32_t count;
    uint32_t
        certain_end; /* end of the first unconditional binding, UINT32_MAX if none */
    uint32_t path;   /* of the first import: its module, an offset in csb_check.paths */
    uint32_t
        member; /* what it takes from that module, or UINT32_MAX: the module itself */
    uint32_t import_start; /* bytes of that import statement */
    uint32_t import_end;
    TSNode value;   /* of the last CSB_BIND_VALUE */
    uint32_t write; /* the last of them, or CSB_NO_WRITE */
    bool crooked;   /* one of them stands where it may not run, or run again */
};

struct csb_scopes {
    struct csb_scope *items;
    uint32_t len;
    uint32_t cap;
    struct csb_local *locals;
    uint32_t local_len;
    uint32_t local_cap;
    struct csb_write *writes;
    uint32_t write_len;
    uint32_t write_cap;
    uint32_t *slots;
    uint32_t slot_count;
    uint32_t
        first_action; /* start of the first top-level statement that can call anything */
    struct csb_hash_key key;
};

CSB_MUST_USE int csb_scopes_init(struct csb_scopes *ret);
void csb_scopes_done(struct csb_scopes *scopes);

/* A new scope, or CSB_NO_SCOPE when out of memory. Scope 0 is the module. */
uint32_t csb_scope_new(struct csb_scopes *scopes, uint32_t parent,
                       enum csb_scope_kind kind);

/* The entry of a name in a scope, made when missing; NULL when out of memory. The pointer is
 * valid until the next csb_scope_bind. */
struct csb_local *csb_scope_bind(struct csb_scopes *scopes, uint32_t scope,
                                 uint32_t atom);

/* Remember what is written to a name; `straight` when the statement runs once and always. 0 or
 * -ENOMEM. */
CSB_MUST_USE int csb_scope_write(struct csb_scopes *scopes, struct csb_local *local,
                                 TSNode statement, TSNode value, bool augmented,
                                 bool straight);

/* The entry that a read of `atom` in `scope` finds by Python's rules, or NULL: class scopes are
 * seen only by their own statements, global and nonlocal declarations are followed. */
const struct csb_local *csb_scope_find(const struct csb_scopes *scopes, uint32_t scope,
                                       uint32_t atom);

/* True when a read at byte `at` certainly finds a binding of the source's own and never falls
 * through to the builtin. Inside functions Python itself guarantees that; at module and class
 * level it takes an unconditional binding that has run before and is never deleted. */
bool csb_scope_shadows_builtin(const struct csb_scopes *scopes, uint32_t scope,
                               uint32_t atom, uint32_t at);

#endif
