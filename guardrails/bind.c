/* Theory of operation: every identifier of the source comes through here once. It is refused when
 * NFKC changes it, recorded as a binding, made a site for the rules when its name means something
 * to them, or forgotten. */
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "witness.h"

void
csb_add_site(struct csb_check *check, const struct csb_site *site)
{
    if (check->site_len == check->site_cap) {
        size_t cap = check->site_cap == 0 ? 64 : check->site_cap * 2;
        struct csb_site *sites = realloc(check->sites, cap * sizeof *sites);
        if (sites == NULL) {
            check->failed = true;
            return;
        }
        check->sites = sites;
        check->site_cap = cap;
    }
    check->sites[check->site_len++] = *site;
}

/* Does an import bind something by the name of a guarded member? */
static bool
is_member(const struct csb_check *check, uint32_t path, uint32_t member)
{
    const char *dot;
    if (member != CSB_NO_ATOM) {
        return (check->atoms.items[member].flags & CSB_N_MEMBER) != 0;
    }
    dot = strrchr(check->paths.bytes + path, '.');
    return dot != NULL &&
           (csb_name_flags(dot + 1, strlen(dot + 1)) & CSB_N_MEMBER) != 0;
}

void
csb_bind(struct csb_walker *walker, const struct csb_frame *frame, uint32_t scope,
         uint32_t atom, enum csb_bind bind, TSNode value, uint32_t path,
         uint32_t member)
{
    struct csb_local *local = csb_scope_bind(&walker->check->scopes, scope, atom);
    uint32_t end = ts_node_end_byte(frame->node);
    if (local == NULL) {
        walker->check->failed = true;
        return;
    }
    local->binds |= bind;
    local->count++;
    if (walker->check->scopes.items[scope].kind == CSB_SCOPE_CLASS) {
        walker->check->atoms.items[atom].own = true;
    }
    if (bind == CSB_BIND_IMPORT) {
        walker->check->guarded_imports =
            walker->check->guarded_imports || is_member(walker->check, path, member);
    }
    if (bind == CSB_BIND_VALUE) {
        local->value = value;
    }
    if (path != CSB_NO_PATH && local->path == CSB_NO_PATH) {
        local->path = path;
        local->member = member;
        local->import_start = ts_node_start_byte(frame->node);
        local->import_end = end;
    }
    if (frame->certain && bind != CSB_BIND_DELETED && end < local->certain_end) {
        local->certain_end = end;
    }
}

/* `global x` makes every binding of x here one of the module, and `nonlocal x` one of a function
 * around, and an uncertain one. */
static void
declare(struct csb_walker *walker, const struct csb_frame *frame, uint32_t atom)
{
    struct csb_frame nowhere = *frame;
    bool global = frame[-1].kind == CSB_K_GLOBAL;
    TSNode none = {0};
    nowhere.certain = false;
    csb_bind(walker, &nowhere, frame->scope, atom,
             global ? CSB_BIND_GLOBAL : CSB_BIND_NONLOCAL, none, CSB_NO_PATH,
             CSB_NO_ATOM);
    if (global && frame->scope != 0) {
        csb_bind(walker, &nowhere, 0, atom, CSB_BIND_OTHER, none, CSB_NO_PATH,
                 CSB_NO_ATOM);
    }
    /* Which of the functions around is not known yet; that one of them binds it, CPython sees to. */
    for (uint32_t scope = frame->scope; !global && scope != 0;) {
        scope = walker->check->scopes.items[scope].parent;
        if (walker->check->scopes.items[scope].kind == CSB_SCOPE_FUNCTION) {
            csb_bind(walker, &nowhere, scope, atom, CSB_BIND_OTHER, none, CSB_NO_PATH,
                     CSB_NO_ATOM);
        }
    }
}

/* name = value, or name += value: what the folder can follow (fold_name.c). */
static void
write(struct csb_walker *walker, const struct csb_frame *frame, uint32_t atom,
      TSNode value, bool augmented)
{
    struct csb_scopes *scopes = &walker->check->scopes;
    struct csb_local *local;
    bool straight =
        augmented ? frame[-2].kind == CSB_K_EXPRESSION_STATEMENT && frame[-2].certain
                  : frame->certain;
    csb_bind(walker, frame, frame->scope, atom,
             augmented ? CSB_BIND_AUGMENTED : CSB_BIND_VALUE, value, CSB_NO_PATH,
             CSB_NO_ATOM);
    local = walker->check->failed ? NULL : csb_scope_bind(scopes, frame->scope, atom);
    if (local == NULL || csb_scope_write(scopes, local, frame[-1].node, value,
                                         augmented, straight) < 0) {
        walker->check->failed = true;
    }
}

/* The scope that a store in this place binds in: a walrus skips comprehensions. */
static uint32_t
store_scope(const struct csb_walker *walker, const struct csb_frame *frame)
{
    const struct csb_scopes *scopes = &walker->check->scopes;
    uint32_t scope = frame->scope;
    if (frame[-1].kind == CSB_K_NAMED_EXPRESSION) {
        while (scopes->items[scope].kind == CSB_SCOPE_COMPREHENSION) {
            scope = scopes->items[scope].parent;
        }
    }
    return scope;
}

/* name = value, name: type = value, or a bare annotation, which binds only in functions. */
static void
bind_assignment(struct csb_walker *walker, const struct csb_frame *frame, uint32_t atom)
{
    TSNode value = csb_field(walker->check, frame[-1].node, CSB_F_RIGHT);
    bool bare = ts_node_is_null(value);
    if (bare && walker->check->scopes.items[frame->scope].kind != CSB_SCOPE_FUNCTION) {
        return;
    }
    if (bare) {
        csb_bind(walker, frame, frame->scope, atom, CSB_BIND_OTHER, value, CSB_NO_PATH,
                 CSB_NO_ATOM);
    } else {
        write(walker, frame, atom, value, false);
    }
}

/* `except E as name`: the name is a field of an as_pattern of an except clause. */
static bool
is_exception(const struct csb_frame *frame)
{
    return frame[-1].kind == CSB_K_AS_PATTERN_TARGET &&
           frame[-2].kind == CSB_K_AS_PATTERN && frame[-3].kind == CSB_K_EXCEPT;
}

static void
store(struct csb_walker *walker, const struct csb_frame *frame, uint32_t atom,
      enum csb_role role)
{
    TSNode none = {0};
    if (role == CSB_ROLE_DELETE) {
        csb_bind(walker, frame, frame->scope, atom, CSB_BIND_DELETED, none, CSB_NO_PATH,
                 CSB_NO_ATOM);
    } else if (role == CSB_ROLE_STORE && frame[-1].kind == CSB_K_ASSIGNMENT) {
        bind_assignment(walker, frame, atom);
    } else if (role == CSB_ROLE_HIDDEN &&
               frame[-1].kind == CSB_K_AUGMENTED_ASSIGNMENT) {
        write(walker, frame, atom,
              csb_field(walker->check, frame[-1].node, CSB_F_RIGHT), true);
    } else {
        csb_bind(walker, frame, store_scope(walker, frame), atom,
                 is_exception(frame) ? CSB_BIND_EXCEPTION : CSB_BIND_OTHER, none,
                 CSB_NO_PATH, CSB_NO_ATOM);
    }
}

static void
define(struct csb_walker *walker, const struct csb_frame *frame, uint32_t atom)
{
    bool function = frame[-1].kind == CSB_K_FUNCTION_DEFINITION;
    csb_bind(walker, frame, frame->scope, atom,
             function ? CSB_BIND_FUNCTION : CSB_BIND_CLASS, frame[-1].node, CSB_NO_PATH,
             CSB_NO_ATOM);
}

static void
parameter(struct csb_walker *walker, const struct csb_frame *frame, uint32_t atom)
{
    TSNode none = {0};
    uint32_t scope = frame[-1].inner == CSB_NO_SCOPE ? frame->scope : frame[-1].inner;
    csb_bind(walker, frame, scope, atom, CSB_BIND_PARAMETER, none, CSB_NO_PATH,
             CSB_NO_ATOM);
}

/* The node above, beyond the parentheses of `(f)(x)` when this is what is called. */
static TSNode
holder_of(const struct csb_frame *frame)
{
    const struct csb_frame *above = frame - 1;
    while (frame->role == CSB_ROLE_CALL && above->role == CSB_ROLE_CALL &&
           (above->kind == CSB_K_PARENTHESIZED || above->kind == CSB_K_LIST_SPLAT)) {
        above--;
    }
    return above->node;
}

static void
add_name_site(struct csb_walker *walker, const struct csb_frame *frame, uint32_t atom,
              enum csb_site_kind kind, enum csb_role role)
{
    struct csb_site site = {
        .kind = kind,
        .role = role,
        .node = frame->node,
        .parent = holder_of(frame),
        .scope = frame->scope,
        .atom = atom,
        .start = ts_node_start_byte(frame->node),
        .end = ts_node_end_byte(frame->node),
        .path = CSB_NO_PATH,
    };
    if (kind == CSB_SITE_ATTRIBUTE &&
        (walker->check->atoms.items[atom].flags & CSB_N_FORMAT) != 0) {
        /* A template that stands right before the dot is looked at there. */
        enum csb_kind receiver =
            csb_kind(walker->check, ts_node_named_child(frame[-1].node, 0));
        walker->check->formats =
            walker->check->formats ||
            (receiver != CSB_K_STRING && receiver != CSB_K_CONCATENATED_STRING);
    }
    if (kind == CSB_SITE_ATTRIBUTE && frame[-1].kind != CSB_K_DOTTED_NAME) {
        site.node = frame[-1].node;
        site.parent = holder_of(frame - 1);
        site.role = frame[-1].role;
        site.scope = frame[-1].scope;
    }
    csb_add_site(walker->check, &site);
}

#define NAME_FLAGS                                                                     \
    (CSB_N_BUILTIN | CSB_N_MAGIC | CSB_N_DUNDER | CSB_N_TYPE | CSB_N_REPR)
#define ATTRIBUTE_FLAGS                                                                \
    (CSB_N_DUNDER | CSB_N_FRAME | CSB_N_LEAK | CSB_N_FORMAT | CSB_N_MRO |              \
     CSB_N_STRINGCALL | CSB_N_MEMBER | CSB_N_NATIVE | CSB_N_EXCEPTION | CSB_N_DENIED)

/* Part of a dotted name: in patterns `a` captures, `a.b` reads b of a; in imports the statement
 * has been handled as a whole. */
static void
dotted_part(struct csb_walker *walker, const struct csb_frame *frame, uint32_t atom,
            uint32_t flags)
{
    enum csb_kind holder = frame[-2].kind;
    bool first = frame[-1].index == 1;
    bool only = ts_node_named_child_count(frame[-1].node) == 1;
    if (holder == CSB_K_IMPORT || holder == CSB_K_IMPORT_FROM ||
        holder == CSB_K_FUTURE_IMPORT || holder == CSB_K_ALIASED_IMPORT ||
        holder == CSB_K_RELATIVE_IMPORT) {
        return;
    }
    if (first && only && holder != CSB_K_CLASS_PATTERN) {
        store(walker, frame, atom, CSB_ROLE_HIDDEN);
        if ((flags & NAME_FLAGS) != 0) {
            add_name_site(walker, frame, atom, CSB_SITE_NAME, CSB_ROLE_HIDDEN);
        }
    } else if (first) {
        csb_witness_identifier(walker, frame, atom, false);
        if ((flags & NAME_FLAGS) != 0) {
            add_name_site(walker, frame, atom, CSB_SITE_NAME, CSB_ROLE_READ);
        }
    } else {
        csb_witness_identifier(walker, frame, atom, true);
        if ((flags & ATTRIBUTE_FLAGS) != 0) {
            add_name_site(walker, frame, atom, CSB_SITE_ATTRIBUTE, CSB_ROLE_READ);
        }
    }
}

/* `from operator import attrgetter as a; a(...)`: a call of a guarded member by its own name, or
 * by that of a variable that may hold it; `from operator import *; attrgetter(...)`. */
static bool
is_guarded_import(const struct csb_walker *walker, const struct csb_frame *frame,
                  uint32_t atom)
{
    const struct csb_check *check = walker->check;
    const struct csb_local *local;
    if (check->star_len > 0 && (check->atoms.items[atom].flags & CSB_N_MEMBER) != 0) {
        return true;
    }
    if (!check->guarded_imports) {
        return false;
    }
    local = csb_scope_find(&check->scopes, frame->scope, atom);
    return local != NULL && (local->binds & (CSB_BIND_IMPORT | CSB_BIND_VALUE)) != 0;
}

/* Attribute names and the keywords of class patterns: no variables at all. True when it was one. */
static bool
member_name(struct csb_walker *walker, const struct csb_frame *frame, uint32_t atom,
            uint32_t flags)
{
    const struct csb_frame *parent = frame - 1;
    switch (parent->kind) {
    case CSB_K_MEMBER_TYPE:
    case CSB_K_ATTRIBUTE:
        if (parent->kind == CSB_K_ATTRIBUTE && parent->index == 1) {
            return false;
        }
        csb_witness_identifier(walker, frame, atom, true);
        if ((flags & ATTRIBUTE_FLAGS) != 0) {
            add_name_site(walker, frame, atom, CSB_SITE_ATTRIBUTE, CSB_ROLE_READ);
        }
        return true;
    case CSB_K_KEYWORD_PATTERN:
        if (parent->index == 1) {
            csb_witness_identifier(walker, frame, atom, true);
        }
        if (parent->index == 1 &&
            (flags & (CSB_N_DUNDER | CSB_N_FRAME | CSB_N_LEAK)) != 0) {
            add_name_site(walker, frame, atom, CSB_SITE_PATTERN, CSB_ROLE_READ);
        }
        return parent->index == 1;
    case CSB_K_KEYWORD_ARGUMENT:
        return parent->index == 1;
    case CSB_K_ALIASED_IMPORT:
        return true;
    case CSB_K_DOTTED_NAME:
        dotted_part(walker, frame, atom, flags);
        return true;
    default:
        return false;
    }
}

/* Names of functions, classes and parameters. True when it was one. */
static bool
definition_name(struct csb_walker *walker, const struct csb_frame *frame, uint32_t atom,
                uint32_t flags)
{
    const struct csb_frame *parent = frame - 1;
    bool is_parameter = false;
    switch (parent->kind) {
    case CSB_K_FUNCTION_DEFINITION:
    case CSB_K_CLASS_DEFINITION:
        define(walker, frame, atom);
        if ((flags & NAME_FLAGS) != 0) {
            add_name_site(walker, frame, atom, CSB_SITE_FUNCTION, CSB_ROLE_STORE);
        }
        return true;
    case CSB_K_PARAMETERS:
    case CSB_K_LAMBDA_PARAMETERS:
    case CSB_K_TYPED_PARAMETER:
    case CSB_K_DICTIONARY_SPLAT_PATTERN:
        is_parameter = true;
        break;
    case CSB_K_DEFAULT_PARAMETER:
    case CSB_K_TYPED_DEFAULT_PARAMETER:
        is_parameter = parent->index == 1;
        break;
    case CSB_K_LIST_SPLAT_PATTERN:
    case CSB_K_TUPLE_PATTERN:
        is_parameter = parent->inner != CSB_NO_SCOPE;
        break;
    default:
        break;
    }
    if (is_parameter) {
        parameter(walker, frame, atom);
    }
    return is_parameter;
}

/* What kind of use is this identifier, by its parent alone? */
static void
classify(struct csb_walker *walker, const struct csb_frame *frame, uint32_t atom,
         uint32_t flags)
{
    enum csb_kind parent = frame[-1].kind;
    enum csb_role role = frame->role;
    if (member_name(walker, frame, atom, flags) ||
        definition_name(walker, frame, atom, flags)) {
        return;
    }
    if (parent == CSB_K_GLOBAL || parent == CSB_K_NONLOCAL) {
        declare(walker, frame, atom);
        role = CSB_ROLE_DECLARE;
    } else if (parent == CSB_K_SPLAT_PATTERN) {
        role = CSB_ROLE_HIDDEN;
    }
    if (role == frame->role) {
        csb_witness_identifier(walker, frame, atom, false);
    }
    if (role == CSB_ROLE_STORE || role == CSB_ROLE_HIDDEN || role == CSB_ROLE_DELETE) {
        store(walker, frame, atom, role);
    }
    if ((flags & NAME_FLAGS) != 0 ||
        ((role == CSB_ROLE_CALL || role == CSB_ROLE_READ) &&
         is_guarded_import(walker, frame, atom))) {
        add_name_site(walker, frame, atom, CSB_SITE_NAME, role);
    }
}

void
csb_visit_identifier(struct csb_walker *walker, const struct csb_frame *frame)
{
    size_t len;
    const char *text = csb_node_text(walker->check, frame->node, &len);
    uint32_t known = walker->check->atoms.len;
    uint32_t id;
    if (len == 0) {
        return; /* a MISSING node: nothing was written */
    }
    id = csb_atom(&walker->check->atoms, text, len);
    if (id == CSB_NO_ATOM) {
        walker->check->failed = true;
        return;
    }
    if (walker->check->atoms.len != known &&
        csb_guard_config_denies_part(walker->check->config, text, len)) {
        walker->check->atoms.items[id].flags |= CSB_N_DENIED;
    }
    if (!walker->check->atoms.items[id].ascii) {
        csb_check_normalised(walker->check, id, ts_node_start_byte(frame->node));
    }
    classify(walker, frame, id, walker->check->atoms.items[id].flags);
}
