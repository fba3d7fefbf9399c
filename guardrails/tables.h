/* What names mean: builtins, special attributes, modules that leak, members of modules.
 *
 * Constant data without trees, so that the walk over code objects in the child asks exactly the
 * questions that the walk over the tree asks. Any thread, any process, no allocation. */
#ifndef CSB_GUARD_TABLES_H
#define CSB_GUARD_TABLES_H

#include "registry.h"

enum csb_name_flag {
    CSB_N_CODE = 1 << 0,        /* builtin: eval, exec, compile */
    CSB_N_OPEN = 1 << 1,        /* builtin: open */
    CSB_N_IMPORT = 1 << 2,      /* builtin: __import__ */
    CSB_N_GETATTR = 1 << 3,     /* builtin: getattr and its kin */
    CSB_N_NAMESPACE = 1 << 4,   /* builtin: globals, locals, vars */
    CSB_N_INTERACTIVE = 1 << 5, /* builtin: breakpoint, help, ... */
    CSB_N_MAGIC = 1 << 6,       /* bare name that is an inner object: __builtins__ */
    CSB_N_FRAME = 1 << 7,       /* attribute of frames, generators, code, tracebacks */
    CSB_N_LEAK = 1 << 8,        /* attribute by which modules hand out modules */
    CSB_N_FORMAT = 1 << 9,      /* method that reads a format template */
    CSB_N_MRO = 1 << 10,
    CSB_N_STRINGCALL = 1 << 11,    /* method that may evaluate a string */
    CSB_N_ACCESSOR = 1 << 12,      /* special method that takes an attribute's name */
    CSB_N_DUNDER = 1 << 13,        /* starts and ends with two underscores (computed) */
    CSB_N_DUNDER_METHOD = 1 << 14, /* protocol method: harmless */
    CSB_N_DUNDER_DATA = 1 << 15,   /* descriptive data: harmless to read */
    CSB_N_DUNDER_SHAPE = 1 << 16,  /* __class__ and its kin: depends on the receiver */
    CSB_N_MEMBER = 1 << 17,        /* is in the table of members (computed) */
    CSB_N_DUNDER_INNER = 1 << 18,  /* leads to inner objects, whoever defines it */
    CSB_N_LEAK_ANY = 1 << 19,      /* like CSB_N_LEAK, on receivers nobody can name */
    CSB_N_NATIVE = 1 << 20,        /* attribute that gives addresses */
    CSB_N_EXCEPTION = 1 << 21, /* attribute by which an exception hands out an object */
    CSB_N_DENIED = 1 << 22, /* last part of a name that the profile denies (computed) */
    CSB_N_TYPE = 1 << 23,   /* builtin: type, which makes classes out of a dictionary */
    CSB_N_REPR = 1 << 24,   /* builtin that shows an object as text: repr */
};

#define CSB_N_BUILTIN                                                                  \
    (CSB_N_CODE | CSB_N_OPEN | CSB_N_IMPORT | CSB_N_GETATTR | CSB_N_NAMESPACE |        \
     CSB_N_INTERACTIVE)

/* When a member is refused. */
enum csb_when {
    CSB_WHEN_ALWAYS,
    CSB_WHEN_STRING,  /* called with a string, or in a way that cannot be seen */
    CSB_WHEN_FORMULA, /* called with a string that is more than arithmetic */
    CSB_WHEN_BYNAME, /* called with the name of a refused attribute, or an unknown one */
    CSB_WHEN_ZERO,   /* called without argument, or with 0 */
    CSB_WHEN_PICKLE,    /* called with allow_pickle=True, or with a file's name */
    CSB_WHEN_ANNOTATED, /* some annotation of the source is a call, or a string with one */
    CSB_WHEN_PLANTED, /* called with a class's place or contents that CSB205 refuses */
};

struct csb_member {
    const char *member;
    const char *module;
    enum csb_rule_id rule;
    enum csb_when when;
    const char *why;
};

/* Order of a counted string, which may hold anything, against a terminated one. */
int csb_name_compare(const char *name, size_t len, const char *row);

/* Flags of a name, 0 for an ordinary one. `name` need not be NUL-terminated. */
uint32_t csb_name_flags(const char *name, size_t len);

/* True for a special attribute that no honest program needs from any object. */
bool csb_dunder_is_refused(uint32_t flags);

/* The guarded member of `module`, or NULL. A module behind a module counts as itself: the members
 * of typing.types and of pprint._types are those of types. */
const struct csb_member *csb_member_find(const char *module, size_t module_len,
                                         const char *member, size_t member_len);

/* The rows of one member, for each module that has it: the first, and the one after `row`; NULL
 * when there is none. */
const struct csb_member *csb_member_first(const char *member, size_t len);
const struct csb_member *csb_member_next(const struct csb_member *row);

/* True when the module has guarded members of any kind. */
bool csb_module_is_guarded(const char *module, size_t len);

/* True when a star import of that module binds guarded builtins. */
bool csb_module_has_members(const char *module, size_t len);

/* For tests of the data. */
size_t csb_name_count(void);
const char *csb_name_at(size_t index);
size_t csb_member_count(void);
const struct csb_member *csb_member_at(size_t index);

#endif
