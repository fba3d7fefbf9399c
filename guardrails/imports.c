/* Theory of operation: reads one import statement as a whole, so that its bindings carry the
 * module they come from and each imported name is one site. Names are rebuilt from the
 * identifiers, because blanks, comments and continuations may stand between them. */
#include <string.h>

#include "frame.h"
#include "witness.h"

#define CLOCK_EVERY 64

/* Append the dotted name under `node` to check->paths; CSB_NO_PATH when out of memory. */
static uint32_t
add_path(struct csb_check *check, TSNode node)
{
    uint32_t offset = (uint32_t)check->paths.len;
    struct csb_children parts;
    TSNode part;
    bool first = true;
    csb_children_open(&parts, node);
    while (csb_children_next(&parts, &part)) {
        size_t len;
        const char *text = csb_node_text(check, part, &len);
        if (csb_kind(check, part) == CSB_K_IDENTIFIER) {
            csb_text_add(&check->paths, ".", first ? 0 : 1);
            csb_text_add(&check->paths, text, len);
            first = false;
        }
    }
    csb_children_close(&parts);
    csb_text_add(&check->paths, "", 1); /* its NUL ends the name */
    return check->paths.failed ? CSB_NO_PATH : offset;
}

static uint32_t
node_atom(struct csb_check *check, TSNode node)
{
    size_t len;
    const char *text = csb_node_text(check, node, &len);
    uint32_t atom = csb_atom(&check->atoms, text, len);
    check->failed = check->failed || atom == CSB_NO_ATOM;
    return atom;
}

static void
add_import_site(struct csb_walker *walker, const struct csb_frame *frame, TSNode name,
                uint32_t path, uint32_t atom)
{
    struct csb_site site = {
        .kind = CSB_SITE_IMPORT,
        .role = CSB_ROLE_STORE,
        .node = name,
        .parent = frame->node,
        .scope = frame->scope,
        .atom = atom,
        .start = ts_node_start_byte(name),
        .end = ts_node_end_byte(name),
        .path = path,
    };
    csb_add_site(walker->check, &site);
    csb_witness_import(walker->check, path, atom);
}

/* `import a.b.c` binds a to the module a; `import a.b.c as x` binds x to a.b.c. */
static void
import_module(struct csb_walker *walker, const struct csb_frame *frame, TSNode item)
{
    struct csb_check *check = walker->check;
    TSNode none = {0};
    bool aliased = csb_kind(check, item) == CSB_K_ALIASED_IMPORT;
    TSNode name = aliased ? csb_field(check, item, CSB_F_NAME) : item;
    TSNode bound =
        aliased ? csb_field(check, item, CSB_F_ALIAS) : ts_node_named_child(name, 0);
    uint32_t path = add_path(check, name);
    uint32_t bound_path = path;
    if (path == CSB_NO_PATH || ts_node_is_null(bound)) {
        return;
    }
    if (!aliased && strchr(check->paths.bytes + path, '.') != NULL) {
        size_t len = strcspn(check->paths.bytes + path, ".");
        char top[256];
        if (len < sizeof top) {
            memcpy(top, check->paths.bytes + path, len);
            top[len] = '\0';
            bound_path = (uint32_t)check->paths.len;
            csb_text_add(&check->paths, top, len + 1);
        }
    }
    add_import_site(walker, frame, name, path, CSB_NO_ATOM);
    {
        uint32_t atom = node_atom(check, bound);
        if (atom != CSB_NO_ATOM && !check->paths.failed) {
            csb_bind(walker, frame, frame->scope, atom, CSB_BIND_IMPORT, none,
                     bound_path, CSB_NO_ATOM);
        }
    }
}

static void
import_name(struct csb_walker *walker, const struct csb_frame *frame, TSNode item,
            uint32_t module)
{
    struct csb_check *check = walker->check;
    TSNode none = {0};
    bool aliased = csb_kind(check, item) == CSB_K_ALIASED_IMPORT;
    TSNode name = aliased ? csb_field(check, item, CSB_F_NAME) : item;
    TSNode first = ts_node_named_child(name, 0);
    TSNode bound = aliased ? csb_field(check, item, CSB_F_ALIAS) : first;
    uint32_t atom;
    uint32_t bound_atom;
    if (ts_node_is_null(first) || ts_node_is_null(bound)) {
        return;
    }
    atom = node_atom(check, first);
    if (atom == CSB_NO_ATOM) {
        return;
    }
    add_import_site(walker, frame, name, module, atom);
    bound_atom = node_atom(check, bound);
    if (bound_atom != CSB_NO_ATOM) {
        csb_bind(walker, frame, frame->scope, bound_atom, CSB_BIND_IMPORT, none, module,
                 atom);
    }
}

/* from operator import *: whatever the source does not bind may be a member of that module. */
static void
import_star(struct csb_check *check, uint32_t path)
{
    const char *module = check->paths.bytes + path;
    if (!csb_module_is_guarded(module, strlen(module))) {
        return;
    }
    for (uint32_t i = 0; i < check->star_len; i++) {
        if (strcmp(check->paths.bytes + check->stars[i], module) == 0) {
            return;
        }
    }
    if (check->star_len < CSB_MOST_STARS) {
        check->stars[check->star_len++] = path;
    }
}

void
csb_visit_import(struct csb_walker *walker, const struct csb_frame *frame)
{
    struct csb_check *check = walker->check;
    TSNode module = csb_field(check, frame->node, CSB_F_MODULE_NAME);
    uint32_t path = CSB_NO_PATH;
    uint32_t count = 0;
    struct csb_children items;
    TSNode item;
    if (frame->kind == CSB_K_IMPORT_FROM) {
        path = add_path(check, module);
        if (path == CSB_NO_PATH) {
            return;
        }
        add_import_site(walker, frame, module, path, CSB_NO_ATOM);
    }
    csb_children_open(&items, frame->node);
    while ((++count % CLOCK_EVERY != 0 || !csb_too_late(check)) &&
           csb_children_next(&items, &item)) {
        enum csb_kind kind = csb_kind(check, item);
        if (ts_node_eq(item, module)) {
            continue;
        }
        if (kind == CSB_K_WILDCARD_IMPORT && path != CSB_NO_PATH) {
            import_star(check, path);
        }
        if (kind != CSB_K_DOTTED_NAME && kind != CSB_K_ALIASED_IMPORT) {
            continue;
        }
        if (frame->kind == CSB_K_IMPORT) {
            import_module(walker, frame, item);
        } else if (frame->kind == CSB_K_IMPORT_FROM) {
            import_name(walker, frame, item, path);
        }
    }
    csb_children_close(&items);
}
