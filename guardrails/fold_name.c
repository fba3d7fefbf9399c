/* Theory of operation: what a name is worth where it is read. A name that is bound once has that
 * value everywhere. One that is bound more often is followed only along a straight line: every
 * binding is `name = value` or `name += value`, stands where it runs once and always, and the
 * read stands in the same scope, so that the text's order is the order of execution. Whatever
 * runs later (functions, generators, annotations) could see another value, and is unknown:
 * a name that is taken for harmless must be. In the caller's process, no GIL. */
#include <string.h>

#include "value.h"

/* Assignments that are followed back; what was built with more, or is looked for further, is
 * unknown. */
#define MOST_AUGMENTED 64
#define MOST_WRITES 256

/* The last write to the name that has ended before `at`. */
static uint32_t
write_before(const struct csb_scopes *scopes, const struct csb_local *local,
             uint32_t at)
{
    uint32_t write = local->write;
    int hops = 0;
    while (write != CSB_NO_WRITE && scopes->writes[write].end > at) {
        write = ++hops < MOST_WRITES ? scopes->writes[write].previous : CSB_NO_WRITE;
    }
    return write;
}

/* name = A; name += B; name += C, from the first to the last. */
static void
fold_writes(struct csb_folder *folder, uint32_t last, struct csb_value *ret)
{
    const struct csb_scopes *scopes = &folder->check->scopes;
    uint32_t chain[MOST_AUGMENTED];
    size_t count = 0;
    while (last != CSB_NO_WRITE && scopes->writes[last].augmented) {
        if (count == MOST_AUGMENTED) {
            return;
        }
        chain[count++] = last;
        last = scopes->writes[last].previous;
    }
    if (last == CSB_NO_WRITE) {
        return;
    }
    csb_fold_node(folder, scopes->writes[last].value, ret);
    while (count > 0) {
        const struct csb_write *write = &scopes->writes[chain[--count]];
        struct csb_value left = *ret;
        struct csb_value right = {0};
        memset(ret, 0, sizeof *ret);
        csb_fold_node(folder, write->value, &right);
        csb_fold_combine(csb_fold_sign(folder->check, write->statement), &left, &right,
                         ret);
        csb_value_done(&left);
        csb_value_done(&right);
    }
}

static void
fold_local(struct csb_folder *folder, const struct csb_local *local, TSNode node,
           struct csb_value *ret)
{
    uint32_t scope = folder->scope;
    uint32_t binds = local->binds & ~(uint32_t)(CSB_BIND_VALUE | CSB_BIND_AUGMENTED);
    if (binds != 0) {
        return;
    }
    if (local->binds == CSB_BIND_VALUE && local->count == 1) {
        folder->scope = local->scope;
        csb_fold_node(folder, local->value, ret);
        folder->scope = scope;
    } else if (!local->crooked && local->scope == scope &&
               !folder->check->typed_calls) {
        fold_writes(
            folder,
            write_before(&folder->check->scopes, local, ts_node_start_byte(node)), ret);
    }
}

void
csb_fold_name(struct csb_folder *folder, TSNode node, struct csb_value *ret)
{
    struct csb_check *check = folder->check;
    size_t len;
    const char *text = csb_node_text(check, node, &len);
    uint32_t atom;
    const struct csb_local *local;
    for (const struct csb_fold_env *env = folder->env; env != NULL; env = env->outer) {
        if (env->len == len && memcmp(env->name, text, len) == 0) {
            csb_value_copy(env->value, ret);
            return;
        }
    }
    atom = csb_atom(&check->atoms, text, len);
    local = atom == CSB_NO_ATOM ? NULL
                                : csb_scope_find(&check->scopes, folder->scope, atom);
    if (local != NULL) {
        fold_local(folder, local, node, ret);
    }
}
