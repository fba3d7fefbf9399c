/* Theory of operation: a class that defines one of the inner special attributes plants it where
 * the interpreter or a C library will read it (__array_interface__ hands numpy any address); a
 * class whose __module__ is that of another module has its annotations evaluated there. The same
 * through type(), namedtuple and their kin, as far as their arguments are written out. Ordinary
 * protocol methods are untouched. */
#include <string.h>

#include "../resolve.h"
#include "../ruleset.h"

/* `__class_getitem__ = print`: a subscript, even one in an annotation, calls the builtin. */
static bool
is_acting_builtin(struct csb_check *check, const struct csb_site *site, TSNode value)
{
    static const char *const acting[] = {
        "print",   "input",   "open",       "eval",       "exec", "compile", "getattr",
        "setattr", "delattr", "__import__", "breakpoint", "exit", "quit"};
    if (csb_local_of(check, site->scope, value) != NULL) {
        return false;
    }
    for (size_t i = 0; i < CSB_ARRAY_LEN(acting); i++) {
        if (csb_node_text_is(check, value, acting[i])) {
            return true;
        }
    }
    return false;
}

static void
report_acting(struct csb_check *check, uint32_t start, uint32_t end, const char *name,
              size_t len)
{
    char shown[CSB_NAME_BYTES];
    struct csb_diag *diag = csb_report(check, CSB_RULE_205, start, end,
                                       "the special method `%s` is a builtin that acts",
                                       csb_escape_name(shown, sizeof shown, name, len));
    csb_diag_label(diag, "called where no call is written");
    csb_diag_help(diag, "define the method with def, and call the builtin in it");
}

/* Names of builtins are found from every module: no harm, and some libraries show their exceptions
 * like that. */
static bool
is_another_place(const struct csb_text *module)
{
    return module->len > 0 && csb_module_is_guarded(module->bytes, module->len) &&
           csb_name_compare(module->bytes, module->len, "builtins") != 0;
}

/* __module__ = "os": typing.get_type_hints would read the class's annotations as names of os. */
static void
check_place(struct csb_check *check, const struct csb_site *site, TSNode value)
{
    struct csb_text text = {0};
    if (csb_fold_string(check, site->scope, value, &text) == CSB_FOLD_WHOLE &&
        is_another_place(&text)) {
        char name[CSB_NAME_BYTES];
        struct csb_diag *diag = csb_report(
            check, CSB_RULE_205, ts_node_start_byte(value), ts_node_end_byte(value),
            "the class or function claims to be of the module `%s`",
            csb_escape_name(name, sizeof name, text.bytes, text.len));
        csb_diag_label(diag, "its annotations would be read there");
        csb_diag_help(diag, "use __name__, or leave it out");
    }
    csb_text_done(&text);
}

static TSNode
assigned(const struct csb_check *check, const struct csb_site *site)
{
    TSNode none = {0};
    return csb_kind(check, site->parent) == CSB_K_ASSIGNMENT
               ? csb_unwrap(check, csb_field(check, site->parent, CSB_F_RIGHT))
               : none;
}

/* One entry of a class's contents, written as {"name": value} or name=value. */
static void
check_entry(struct csb_check *check, const struct csb_site *site, TSNode entry)
{
    bool pair = csb_kind(check, entry) == CSB_K_PAIR;
    TSNode key = csb_field(check, entry, pair ? CSB_F_KEY : CSB_F_NAME);
    TSNode value = csb_field(check, entry, CSB_F_VALUE);
    struct csb_text name = {0};
    uint32_t flags;
    if (pair) {
        (void)csb_fold_string(check, site->scope, key, &name); /* or it stays empty */
    } else if (!ts_node_is_null(key)) {
        size_t len;
        const char *text = csb_node_text(check, key, &len);
        csb_text_add(&name, text, len);
    }
    flags = name.len == 0 ? 0 : csb_name_flags(name.bytes, name.len);
    if ((flags & CSB_N_DUNDER_INNER) != 0 &&
        !csb_guard_config_allows_attribute(check->config, name.bytes, name.len)) {
        struct csb_diag *diag =
            csb_report_named(check, CSB_RULE_205, key, "a class must not be made with",
                             name.bytes, name.len);
        csb_diag_label(diag, "read by the interpreter or by C code");
        csb_diag_help(diag, "give the attribute a name without double underscores");
    } else if ((flags & CSB_N_DUNDER) != 0 && is_acting_builtin(check, site, value)) {
        report_acting(check, ts_node_start_byte(key), ts_node_end_byte(key), name.bytes,
                      name.len);
    }
    if (name.len == 10 && memcmp(name.bytes, "__module__", 10) == 0) {
        check_place(check, site, value);
    }
    csb_text_done(&name);
}

/* {"name": value, ...} or dict(name=value, ...) */
static void
check_contents(struct csb_check *check, const struct csb_site *site, TSNode contents)
{
    struct csb_children entries;
    TSNode entry;
    contents = csb_unwrap(check, contents);
    if (csb_kind(check, contents) == CSB_K_CALL &&
        csb_node_text_is(check, csb_callee(check, contents), "dict")) {
        contents = csb_field(check, contents, CSB_F_ARGUMENTS);
    } else if (csb_kind(check, contents) != CSB_K_DICTIONARY) {
        return;
    }
    csb_children_open(&entries, contents);
    while (csb_children_next(&entries, &entry)) {
        check_entry(check, site, entry);
    }
    csb_children_close(&entries);
}

static void
check_call(struct csb_check *check, const struct csb_site *site)
{
    char path[CSB_PATH_BYTES];
    const struct csb_member *member;
    TSNode module;
    if (site->role != CSB_ROLE_CALL) {
        return;
    }
    if (site->kind == CSB_SITE_NAME &&
        (csb_site_flags(check, site) & CSB_N_TYPE) != 0) {
        check_contents(check, site, csb_argument(check, site->parent, 2, NULL, NULL));
        return;
    }
    member = csb_site_member(check, site, path);
    if (member == NULL || member->rule != CSB_RULE_205) {
        return;
    }
    module = csb_argument(check, site->parent, UINT32_MAX, "module", NULL);
    if (!ts_node_is_null(module)) {
        check_place(check, site, module);
    }
    check_contents(check, site,
                   csb_argument(check, site->parent, UINT32_MAX, "namespace", NULL));
}

static void
check_definition(struct csb_check *check, const struct csb_site *site)
{
    uint32_t flags = csb_site_flags(check, site);
    const struct csb_atom *atom = csb_atom_of(check, site->atom);
    TSNode value = assigned(check, site);
    struct csb_diag *diag;
    if (csb_atom_is(check, site->atom, "__module__")) {
        check_place(check, site, value);
    } else if ((flags & CSB_N_DUNDER_INNER) == 0) {
        if (!ts_node_is_null(value) && is_acting_builtin(check, site, value)) {
            report_acting(check, site->start, site->end, atom->name, atom->len);
        }
    } else {
        diag = csb_report_special(check, CSB_RULE_205, site, "a class must not define",
                                  "");
        csb_diag_label(diag, "read by the interpreter or by C code");
        csb_diag_help(diag, "give the attribute a name without double underscores");
    }
}

static void
check_site(struct csb_check *check, const struct csb_site *site)
{
    uint32_t flags = csb_site_flags(check, site);
    check_call(check, site);
    if (site->kind == CSB_SITE_ATTRIBUTE) {
        if (site->role == CSB_ROLE_STORE &&
            csb_atom_is(check, site->atom, "__module__")) {
            check_place(check, site, assigned(check, site));
        }
        return;
    }
    if ((flags & CSB_N_DUNDER) != 0 && (flags & CSB_N_IMPORT) == 0 &&
        check->scopes.items[site->scope].kind == CSB_SCOPE_CLASS &&
        (site->role == CSB_ROLE_STORE || site->role == CSB_ROLE_HIDDEN)) {
        check_definition(check, site);
    }
}

const struct csb_rule csb_rule_205 = {
    .sites = CSB_SITE_NAME | CSB_SITE_FUNCTION | CSB_SITE_ATTRIBUTE,
    .check_site = check_site,
};
