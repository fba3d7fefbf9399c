/* Theory of operation: judgements that several rules share, so that an attribute is refused for
 * the same reason however it is spelt: written out, as a string, in a format field, in a
 * pattern. Stateless; caller's thread, no GIL. */
#include "ruleset.h"

#include <stdio.h>
#include <string.h>

const char *
csb_site_text(const struct csb_check *check, const struct csb_site *site,
              char buffer[CSB_NAME_BYTES])
{
    size_t len;
    const char *text = csb_node_text(check, site->node, &len);
    const char *line = memchr(text, '\n', len);
    return csb_escape_name(buffer, CSB_NAME_BYTES, text,
                           line == NULL ? len : (size_t)(line - text));
}

/* A formula is arithmetic on names: no quotes, no special names, no call of a builtin that
 * acts. sympy hands anything more to eval. */
static bool
is_formula(const struct csb_text *text)
{
    size_t at = 0;
    const char *bytes = text->bytes == NULL ? "" : text->bytes;
    if (memchr(bytes, '\0', text->len) != NULL ||
        strpbrk(bytes, "'\"`;\n\\@:") != NULL || strstr(bytes, "__") != NULL ||
        strstr(bytes, "lambda") != NULL) {
        return false;
    }
    while (at < text->len) {
        size_t word =
            strspn(bytes + at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "_0123456789");
        uint32_t flags = word == 0 ? 0 : csb_name_flags(bytes + at, word);
        if ((flags & (CSB_N_BUILTIN | CSB_N_MAGIC | CSB_N_DUNDER)) != 0) {
            return false;
        }
        at += word == 0 ? 1 : word;
    }
    return true;
}

#define CSB_MOST_ARGUMENTS 64

/* Does any argument of the call fold to a text that `formula` (or any text) makes refused? */
static bool
has_text_argument(struct csb_check *check, const struct csb_site *site, bool formula)
{
    for (uint32_t i = 0; i < CSB_MOST_ARGUMENTS; i++) {
        TSNode node =
            csb_argument(check, site->parent, i, i == 0 ? "stmt" : NULL, NULL);
        struct csb_text text = {0};
        TSNode bare = csb_unwrap(check, node);
        enum csb_fold fold;
        bool refused;
        if (ts_node_is_null(node)) {
            return false;
        }
        if (csb_kind(check, bare) == CSB_K_LIST) {
            bare = csb_first_child(bare);
        }
        fold = csb_fold_string(check, site->scope, bare, &text);
        refused = formula ? fold == CSB_FOLD_WHOLE && !is_formula(&text)
                          : fold != CSB_FOLD_UNKNOWN && i == 0;
        csb_text_done(&text);
        if (refused) {
            return true;
        }
    }
    return true; /* there are more than anybody looks at */
}

static bool
is_zero_exit(struct csb_check *check, const struct csb_site *site)
{
    TSNode argument = csb_argument(check, site->parent, 0, NULL, NULL);
    return ts_node_is_null(argument) || csb_node_text_is(check, argument, "0");
}

static bool
condition_holds(struct csb_check *check, const struct csb_site *site,
                enum csb_when when)
{
    switch (when) {
    case CSB_WHEN_ALWAYS:
        return true;
    case CSB_WHEN_STRING:
        return site->role == CSB_ROLE_CALL && has_text_argument(check, site, false);
    case CSB_WHEN_FORMULA:
        return site->role == CSB_ROLE_CALL && has_text_argument(check, site, true);
    case CSB_WHEN_ZERO:
        return site->role == CSB_ROLE_CALL && is_zero_exit(check, site);
    case CSB_WHEN_PICKLE:
        return site->role == CSB_ROLE_CALL &&
               (csb_node_text_is(
                    check, csb_argument(check, site->parent, 2, "allow_pickle", NULL),
                    "True") ||
                (!csb_guard_config_allows_builtin(check->config, "open", 4) &&
                 has_text_argument(check, site, false)));
    case CSB_WHEN_ANNOTATED:
        return check->called_annotations;
    case CSB_WHEN_BYNAME:
    case CSB_WHEN_PLANTED:
    default:
        return false; /* CSB203 and CSB205 look at the arguments themselves */
    }
}

bool
csb_builtin_is_lifted(const struct csb_check *check, const struct csb_site *site)
{
    const struct csb_atom *atom = csb_atom_of(check, site->atom);
    TSNode call = site->parent;
    if (!csb_guard_config_allows_builtin(check->config, atom->name, atom->len)) {
        return false;
    }
    if (site->role == CSB_ROLE_CALL) {
        return true;
    }
    if (csb_kind(check, call) == CSB_K_ARGUMENT_LIST) {
        call = ts_node_parent(call);
    }
    return csb_kind(check, call) == CSB_K_CALL &&
           csb_node_text_is(check, csb_callee(check, call), "map");
}

/* The name at the bottom of a.b(c).d, where an import may have bound it. */
static TSNode
root_of(const struct csb_check *check, const struct csb_site *site)
{
    TSNode node =
        site->kind == CSB_SITE_ATTRIBUTE ? csb_receiver(check, site) : site->node;
    for (int steps = 0; steps < 32; steps++) {
        node = csb_unwrap(check, node);
        switch (csb_kind(check, node)) {
        case CSB_K_ATTRIBUTE:
            node = csb_field(check, node, CSB_F_OBJECT);
            break;
        case CSB_K_CALL:
            node = csb_callee(check, node);
            break;
        default:
            return node;
        }
    }
    return node;
}

void
csb_imported_here(struct csb_check *check, const struct csb_site *site,
                  struct csb_diag *diag)
{
    const struct csb_local *local;
    if (diag == NULL || site->kind == CSB_SITE_IMPORT) {
        return;
    }
    local = csb_local_of(check, site->scope, root_of(check, site));
    if (local != NULL && (local->binds & CSB_BIND_IMPORT) != 0 &&
        memchr(check->source->text + local->import_start, '\n',
               (site->start > local->import_start ? site->start - local->import_start
                                                  : 0)) != NULL) {
        csb_diag_second(diag, local->import_start, local->import_end, "imported here");
    }
}

/* A profile lifts a member by its dotted name: "pickle.loads". */
static bool
is_allowed(const struct csb_check *check, const struct csb_member *member)
{
    char dotted[CSB_PATH_BYTES];
    int len = snprintf(dotted, sizeof dotted, "%s.%s", member->module, member->member);
    return len > 0 && (size_t)len < sizeof dotted &&
           csb_guard_config_allows_builtin(check->config, dotted, (size_t)len);
}

void
csb_report_member(struct csb_check *check, const struct csb_site *site,
                  enum csb_rule_id rule, const char *help)
{
    char path[CSB_PATH_BYTES];
    char module[CSB_NAME_BYTES];
    const struct csb_member *member = csb_site_member(check, site, path);
    struct csb_diag *diag;
    if (member == NULL || member->rule != rule || is_allowed(check, member) ||
        !condition_holds(check, site, member->when)) {
        return;
    }
    diag = csb_report(check, rule, site->start, site->end, "`%s.%s` %s",
                      csb_escape_name(module, sizeof module, path, strlen(path)),
                      member->member, member->why);
    csb_diag_label(diag, "%s", member->why);
    csb_diag_help(diag, "%s", help);
    csb_imported_here(check, site, diag);
}

struct csb_diag *
csb_report_named(struct csb_check *check, enum csb_rule_id rule, TSNode node,
                 const char *what, const char *name, size_t len)
{
    char shown[CSB_NAME_BYTES];
    return csb_report(check, rule, ts_node_start_byte(node), ts_node_end_byte(node),
                      "%s the refused attribute `%s`", what,
                      csb_escape_name(shown, sizeof shown, name, len));
}

struct csb_diag *
csb_report_special(struct csb_check *check, enum csb_rule_id rule,
                   const struct csb_site *site, const char *what, const char *why)
{
    const struct csb_atom *atom = csb_atom_of(check, site->atom);
    char name[CSB_NAME_BYTES];
    if (csb_guard_config_allows_attribute(check->config, atom->name, atom->len)) {
        return NULL;
    }
    return csb_report(check, rule, site->start, site->end, "%s `%s`%s", what,
                      csb_atom_text(check, site->atom, name), why);
}

bool
csb_name_is_refused(const struct csb_check *check, const char *name, size_t len,
                    enum csb_access access)
{
    uint32_t flags = csb_name_flags(name, len);
    if (memchr(name, '\0', len) != NULL) {
        return true; /* no attribute that anybody wrote has such a name */
    }
    if (csb_guard_config_allows_attribute(check->config, name, len)) {
        return false;
    }
    if ((flags & (CSB_N_FRAME | CSB_N_LEAK_ANY)) != 0) {
        return true;
    }
    if ((flags & CSB_N_DUNDER) == 0) {
        return false;
    }
    if (csb_dunder_is_refused(flags)) {
        return true;
    }
    switch (access) {
    case CSB_ACCESS_TEST:
        return false;
    case CSB_ACCESS_WRITE:
        return (flags & CSB_N_DUNDER_METHOD) == 0;
    case CSB_ACCESS_READ:
    default:
        return (flags & CSB_N_DUNDER_SHAPE) != 0;
    }
}

const char *
csb_refused_part(const struct csb_check *check, const char *dotted, size_t len,
                 enum csb_access access, size_t *ret_len)
{
    size_t at = 0;
    while (at <= len) {
        const char *dot = memchr(dotted + at, '.', len - at);
        size_t part = dot == NULL ? len - at : (size_t)(dot - (dotted + at));
        if (csb_name_is_refused(check, dotted + at, part, access)) {
            *ret_len = part;
            return dotted + at;
        }
        at += part + 1;
    }
    return NULL;
}

static bool
starts_with_name_of_class(const char *text, size_t len)
{
    static const char *const names[] = {".__name__", ".__qualname__", ".__module__"};
    for (size_t i = 0; i < CSB_ARRAY_LEN(names); i++) {
        size_t need = strlen(names[i]);
        if (len >= need && memcmp(text, names[i], need) == 0) {
            return true;
        }
    }
    return false;
}

/* One field "0.__class__.__name__": __class__ is fine when only the class's name is read. */
static const char *
refused_in_field(const struct csb_check *check, const char *field, size_t len,
                 size_t *ret_len)
{
    size_t at = 0;
    while (at < len) {
        size_t start;
        if (field[at] != '.' && field[at] != '[') {
            at++;
            continue;
        }
        start = ++at;
        while (at < len && field[at] != '.' && field[at] != '[' && field[at] != ']') {
            at++;
        }
        if (csb_name_is_refused(check, field + start, at - start, CSB_ACCESS_READ) &&
            !(at - start == 9 && memcmp(field + start, "__class__", 9) == 0 &&
              starts_with_name_of_class(field + at, len - at))) {
            *ret_len = at - start;
            return field + start;
        }
    }
    return NULL;
}

const char *
csb_refused_field(const struct csb_check *check, const char *template, size_t len,
                  size_t *ret_len)
{
    size_t at = 0;
    while (at < len) {
        size_t start;
        const char *found;
        if (template[at] != '{') {
            at++;
            continue;
        }
        if (at + 1 < len && template[at + 1] == '{') {
            at += 2;
            continue;
        }
        start = ++at;
        while (at < len && template[at] != '}' && template[at] != ':' &&
               template[at] != '!' && template[at] != '{') {
            at++;
        }
        found = refused_in_field(check, template + start, at - start, ret_len);
        if (found != NULL) {
            return found;
        }
    }
    return NULL;
}

const char *
csb_refused_word(const struct csb_check *check, const char *text, size_t len,
                 size_t *ret_len)
{
    size_t at = 0;
    while (at < len) {
        size_t start = at;
        while (at < len && (text[at] == '_' || (text[at] >= 'a' && text[at] <= 'z') ||
                            (text[at] >= 'A' && text[at] <= 'Z'))) {
            at++;
        }
        if (at > start &&
            csb_name_is_refused(check, text + start, at - start, CSB_ACCESS_READ)) {
            *ret_len = at - start;
            return text + start;
        }
        at += at == start;
    }
    return NULL;
}
