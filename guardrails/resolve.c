/* Theory of operation: follows names to imports (`import numpy as np; np.lib`), through plain
 * assignments (`m = random`) and through import calls with constant names. Steps are bounded by
 * a constant, so hostile chains of assignments end as "unknown". */
#include "resolve.h"

#include <stdio.h>
#include <string.h>

#include "fold.h"

#define MAX_HOPS 12

static bool
append(char path[CSB_PATH_BYTES], const char *part, size_t len)
{
    size_t used = strlen(path);
    bool dot = used > 0;
    if (used + dot + len + 1 > CSB_PATH_BYTES) {
        return false;
    }
    if (dot) {
        path[used++] = '.';
    }
    memcpy(path + used, part, len);
    path[used + len] = '\0';
    return true;
}

/* __import__("a.b") is the module a; importlib.import_module("a.b") is a.b. */
static bool
resolve_import_call(struct csb_check *check, uint32_t scope, TSNode call,
                    const char *function, char path[CSB_PATH_BYTES])
{
    struct csb_text name = {0};
    bool found = false;
    if (strcmp(function, "importlib.import_module") == 0 ||
        strcmp(function, "builtins.__import__") == 0) {
        TSNode argument = csb_argument(check, call, 0, "name", NULL);
        if (csb_fold_string(check, scope, argument, &name) == CSB_FOLD_WHOLE &&
            name.len > 0 && name.len < CSB_PATH_BYTES) {
            const char *dot = memchr(name.bytes, '.', name.len);
            size_t len = name.len;
            if (dot != NULL && function[0] == 'b') {
                len = (size_t)(dot - name.bytes);
            }
            path[0] = '\0';
            found = append(path, name.bytes, len);
        }
    }
    csb_text_done(&name);
    return found;
}

/* A name that nothing binds, after `from MODULE import *` of a module that guards it. */
static bool
resolve_star(const struct csb_check *check, const char *name, size_t len,
             char path[CSB_PATH_BYTES])
{
    for (uint32_t i = 0; i < check->star_len; i++) {
        const char *module = check->paths.bytes + check->stars[i];
        if (csb_member_find(module, strlen(module), name, len) != NULL) {
            return append(path, module, strlen(module)) && append(path, name, len);
        }
    }
    return false;
}

/* One step: where does this name lead? Sets *next to an expression to go on with. */
static bool
resolve_name(struct csb_check *check, uint32_t *scope, TSNode node,
             char path[CSB_PATH_BYTES], TSNode *next)
{
    size_t len;
    const char *text = csb_node_text(check, node, &len);
    uint32_t atom = csb_atom(&check->atoms, text, len);
    const struct csb_local *local;
    path[0] = '\0';
    if (atom == CSB_NO_ATOM) {
        check->failed = true;
        return false;
    }
    local = csb_scope_find(&check->scopes, *scope, atom);
    if (local == NULL && resolve_star(check, text, len, path)) {
        return true;
    }
    if (local == NULL) {
        if (csb_atom_is(check, atom, "__import__") ||
            csb_atom_is(check, atom, "open") ||
            csb_atom_is(check, atom, "__builtins__")) {
            return append(path, "builtins", 8) &&
                   (csb_atom_is(check, atom, "__builtins__") ||
                    append(path, text, len));
        }
        return false;
    }
    if ((local->binds & CSB_BIND_IMPORT) != 0) {
        const char *module = check->paths.bytes + local->path;
        const struct csb_atom *member =
            local->member == CSB_NO_ATOM ? NULL : csb_atom_of(check, local->member);
        if (member != NULL && module[0] == '\0') {
            module = "."; /* a relative import, of which only the member is known */
        }
        return append(path, module, strlen(module)) &&
               (member == NULL || append(path, member->name, member->len));
    }
    if ((local->binds & CSB_BIND_VALUE) != 0 && local->count == 1) {
        *scope = local->scope;
        *next = local->value;
    }
    return false;
}

static bool resolve_steps(struct csb_check *check, uint32_t scope, TSNode node,
                          char path[CSB_PATH_BYTES], int hops);

/* __import__("x") and importlib.import_module("x") under whatever name they go. */
static bool
resolve_call(struct csb_check *check, uint32_t scope, TSNode call,
             char path[CSB_PATH_BYTES], int hops)
{
    char function[CSB_PATH_BYTES];
    return resolve_steps(check, scope, csb_callee(check, call), function, hops + 4) &&
           resolve_import_call(check, scope, call, function, path);
}

/* (math, random)[1]: any module in the display will do. */
static TSNode
last_item(const struct csb_check *check, TSNode subscript)
{
    TSNode last = {0};
    TSNode list = csb_unwrap(check, csb_first_child(subscript));
    enum csb_kind kind = csb_kind(check, list);
    struct csb_children children;
    if (kind != CSB_K_TUPLE && kind != CSB_K_LIST) {
        return last;
    }
    csb_children_open(&children, list);
    while (csb_children_next(&children, &last)) {
    }
    csb_children_close(&children);
    return last;
}

/* Add the attributes that were passed on the way down, innermost first. */
static bool
replay(const struct csb_check *check, const TSNode *parts, int count,
       char path[CSB_PATH_BYTES])
{
    while (count > 0) {
        size_t len;
        const char *text = csb_node_text(check, parts[--count], &len);
        if (!append(path, text, len)) {
            return false;
        }
    }
    return true;
}

static bool
resolve_steps(struct csb_check *check, uint32_t scope, TSNode node,
              char path[CSB_PATH_BYTES], int hops)
{
    TSNode parts[MAX_HOPS];
    int count = 0;
    for (; hops < MAX_HOPS && !ts_node_is_null(node); hops++) {
        TSNode next = {0};
        node = csb_unwrap(check, node);
        switch (csb_kind(check, node)) {
        case CSB_K_ATTRIBUTE:
            parts[count++] = csb_field(check, node, CSB_F_ATTRIBUTE);
            next = csb_field(check, node, CSB_F_OBJECT);
            break;
        case CSB_K_IDENTIFIER:
            if (resolve_name(check, &scope, node, path, &next)) {
                return replay(check, parts, count, path);
            }
            break;
        case CSB_K_CALL:
            return resolve_call(check, scope, node, path, hops) &&
                   replay(check, parts, count, path);
        case CSB_K_SUBSCRIPT:
            next = last_item(check, node);
            break;
        case CSB_K_LIST_SPLAT: /* of all of `*a.b(c)`, says the grammar, to a alone */
            next = ts_node_named_child(node, 0);
            break;
        default:
            return false;
        }
        node = next;
    }
    return false;
}

bool
csb_resolve(struct csb_check *check, uint32_t scope, TSNode expression,
            char path[CSB_PATH_BYTES])
{
    path[0] = '\0';
    return !ts_node_is_null(expression) &&
           resolve_steps(check, scope, expression, path, 0);
}

TSNode
csb_receiver(const struct csb_check *check, const struct csb_site *site)
{
    TSNode none = {0};
    switch (csb_kind(check, site->node)) {
    case CSB_K_ATTRIBUTE: {
        TSNode object = csb_field(check, site->node, CSB_F_OBJECT);
        return csb_kind(check, object) == CSB_K_LIST_SPLAT
                   ? ts_node_named_child(object, 0)
                   : object;
    }
    case CSB_K_MEMBER_TYPE: {
        TSNode type = ts_node_named_child(site->node, 0);
        return csb_kind(check, type) == CSB_K_TYPE ? ts_node_named_child(type, 0)
                                                   : type;
    }
    default:
        return none;
    }
}

/* The parts of a dotted pattern (`case random._os.getpid`) before the site's own name. */
static bool
resolve_pattern(struct csb_check *check, const struct csb_site *site,
                char path[CSB_PATH_BYTES])
{
    TSNode dotted = site->parent;
    bool first = true;
    if (csb_kind(check, dotted) != CSB_K_DOTTED_NAME) {
        return false;
    }
    for (uint32_t i = 0; i < ts_node_named_child_count(dotted); i++) {
        TSNode part = ts_node_named_child(dotted, i);
        size_t len;
        const char *text = csb_node_text(check, part, &len);
        if (ts_node_start_byte(part) >= site->start) {
            return !first;
        }
        if (csb_kind(check, part) != CSB_K_IDENTIFIER) {
            continue;
        }
        if (first ? !csb_resolve(check, site->scope, part, path)
                  : !append(path, text, len)) {
            return false;
        }
        first = false;
    }
    return false;
}

bool
csb_resolve_receiver(struct csb_check *check, const struct csb_site *site,
                     char path[CSB_PATH_BYTES])
{
    TSNode receiver = csb_receiver(check, site);
    if (ts_node_is_null(receiver)) {
        return resolve_pattern(check, site, path);
    }
    return csb_resolve(check, site->scope, receiver, path);
}

const struct csb_member *
csb_site_member(struct csb_check *check, const struct csb_site *site,
                char path[CSB_PATH_BYTES])
{
    const struct csb_atom *atom;
    if (site->kind == CSB_SITE_NAME) {
        /* A name that an import bound to a member; the builtin itself has rules of its own. */
        char *dot;
        if (site->role != CSB_ROLE_CALL ||
            !csb_resolve(check, site->scope, site->node, path) ||
            strncmp(path, "builtins.", 9) == 0 || (dot = strrchr(path, '.')) == NULL) {
            return NULL;
        }
        *dot = '\0';
        return csb_member_find(path, strlen(path), dot + 1, strlen(dot + 1));
    }
    if ((csb_site_flags(check, site) & CSB_N_MEMBER) == 0) {
        return NULL;
    }
    if (site->kind == CSB_SITE_IMPORT) {
        (void)snprintf(path, CSB_PATH_BYTES, "%s", check->paths.bytes + site->path);
    } else if (!csb_resolve_receiver(check, site, path)) {
        return NULL;
    }
    atom = csb_atom_of(check, site->atom);
    return csb_member_find(path, strlen(path), atom->name, atom->len);
}

TSNode
csb_argument(const struct csb_check *check, TSNode call, uint32_t index,
             const char *keyword, bool *ret_splat)
{
    TSNode none = {0};
    TSNode list = csb_field(check, call, CSB_F_ARGUMENTS);
    struct csb_children children;
    TSNode child;
    TSNode found = {0};
    uint32_t position = 0;
    bool known = true; /* no * so far: positions can be counted */
    if (ret_splat != NULL) {
        *ret_splat = false;
    }
    if (csb_kind(check, list) != CSB_K_ARGUMENT_LIST) {
        /* f(x for x in y): the generator is the one argument. */
        return index == 0 ? list : none;
    }
    csb_children_open(&children, list);
    while (ts_node_is_null(found) && csb_children_next(&children, &child)) {
        enum csb_kind kind = csb_kind(check, child);
        if (kind == CSB_K_KEYWORD_ARGUMENT) {
            if (keyword != NULL &&
                csb_node_text_is(check, csb_field(check, child, CSB_F_NAME), keyword)) {
                found = csb_field(check, child, CSB_F_VALUE);
            }
        } else if (kind == CSB_K_LIST_SPLAT || kind == CSB_K_DICTIONARY_SPLAT) {
            if (ret_splat != NULL) {
                *ret_splat = true;
            }
            known = known && kind != CSB_K_LIST_SPLAT;
        } else if (position++ == index && known) {
            found = child;
        }
    }
    csb_children_close(&children);
    return found;
}

uint32_t
csb_argument_count(const struct csb_check *check, TSNode call)
{
    TSNode list = csb_field(check, call, CSB_F_ARGUMENTS);
    return csb_kind(check, list) == CSB_K_ARGUMENT_LIST ? csb_child_count(list) : 1;
}

bool
csb_is_literal(const struct csb_check *check, TSNode expression)
{
    switch (csb_kind(check, csb_unwrap(check, expression))) {
    case CSB_K_STRING:
    case CSB_K_CONCATENATED_STRING:
    case CSB_K_INTEGER:
    case CSB_K_FLOAT:
    case CSB_K_TRUE:
    case CSB_K_FALSE:
    case CSB_K_NONE:
    case CSB_K_ELLIPSIS:
    case CSB_K_TUPLE:
    case CSB_K_LIST:
    case CSB_K_SET:
    case CSB_K_DICTIONARY:
    case CSB_K_LAMBDA:
    case CSB_K_GENERATOR:
    case CSB_K_LIST_COMPREHENSION:
    case CSB_K_SET_COMPREHENSION:
    case CSB_K_DICTIONARY_COMPREHENSION:
        return true;
    default:
        return false;
    }
}

const struct csb_local *
csb_local_of(struct csb_check *check, uint32_t scope, TSNode expression)
{
    size_t len;
    const char *text;
    uint32_t atom;
    expression = csb_unwrap(check, expression);
    if (csb_kind(check, expression) != CSB_K_IDENTIFIER) {
        return NULL;
    }
    text = csb_node_text(check, expression, &len);
    atom = csb_atom(&check->atoms, text, len);
    if (atom == CSB_NO_ATOM) {
        check->failed = true;
        return NULL;
    }
    return csb_scope_find(&check->scopes, scope, atom);
}

bool
csb_is_own_class(struct csb_check *check, uint32_t scope, TSNode expression)
{
    const struct csb_local *local = csb_local_of(check, scope, expression);
    return local != NULL && (local->binds & CSB_BIND_CLASS) != 0;
}

bool
csb_is_self(const struct csb_check *check, TSNode expression)
{
    expression = csb_unwrap(check, expression);
    return csb_kind(check, expression) == CSB_K_IDENTIFIER &&
           (csb_node_text_is(check, expression, "self") ||
            csb_node_text_is(check, expression, "cls") ||
            csb_node_text_is(check, expression, "mcs"));
}
