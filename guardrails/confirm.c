/* Theory of operation: the facts are read once, and their imports once before. Where the parser
 * could read the source, the question is only whether it saw everything: each name must be one
 * of its identifiers, each import one of its imports, each refused name in a string one of its
 * identifiers or plain to see in the text. Where it could not, the tables alone decide, without
 * knowledge of scopes or receivers, so the answer is the stricter one. Linear in facts and
 * source: every step is paid for from a budget of that size, and a source for which it does not
 * suffice is refused (CPython repeats a class's name in every method, so the facts may be much
 * larger than the source). */
#include "confirm.h"

#include "facts.h"
#include "tables.h"
#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
    CSB_CONFIRM_NAME_BYTES = 128,
    LONGEST_MODULE = 256, /* longer ones have no guarded members */
    MOST_PRIVATE = 8,     /* places in a name where `__name` may begin */
    STEPS = 1 << 20,
    STEPS_PER_BYTE = 64, /* of source; honest code takes a tenth of it */
    FACT_STEPS = 8,      /* beside its bytes */
    WORD_STEPS = 32,     /* to look a word up in the tables */
    SEARCH_SHARE = 8,    /* bytes that a search for a word passes in one step */
};

struct opinion {
    const struct csb_guard_config *config;
    struct csb_findings *findings;
    struct csb_atoms imports; /* the parser's, by dotted name */
    const char *module;       /* of the import fact before */
    size_t module_len;
    bool
        relative; /* there may be relative imports, whose names CPython gives without dots */
    bool readable; /* the parser could read the source */
    bool refused;
    struct csb_atoms modules; /* CPython's imports, and the packages around them */
    uint64_t steps;           /* left */
};

/* Names that the compiler makes up, and harmless ones that the parser may take for a keyword
 * (`type(x).a = 1` is a type alias for it). It shows none of them. */
static const char *const made_up[] = {
    "__annotate__",
    "__annotations__",
    "__class__",
    "__classcell__",
    "__classdict__",
    "__classdictcell__",
    "__conditional_annotations__",
    "__doc__",
    "__firstlineno__",
    "__future__",
    "__module__",
    "__name__",
    "__qualname__",
    "__static_attributes__",
    "__type_params__",
    "case",
    "join", /* of a long f-string: "".join([...]) */
    "match",
    "print",
    "type",
};

static bool
is_made_up(enum csb_fact_kind kind, const char *name, size_t len)
{
    for (size_t i = 0; i < CSB_ARRAY_LEN(made_up); i++) {
        if (strlen(made_up[i]) == len && memcmp(made_up[i], name, len) == 0) {
            /* As an attribute __class__ is the way out; as a cell it is super()'s. */
            return strcmp(made_up[i], "__class__") != 0 || kind == CSB_FACT_LOCAL;
        }
    }
    return len > 0 && name[0] == '.'; /* .0, .defaults, .type_params */
}

static void
refuse_whole(struct opinion *opinion, struct csb_diag *diag, const char *help)
{
    opinion->refused = true;
    if (diag != NULL) {
        diag->whole_source = true;
    }
    csb_diag_help(diag, "%s", help);
}

/* Pay for a piece of work. False, and the source is refused, when it is too much. */
static bool
spend(struct opinion *opinion, uint64_t steps)
{
    if (opinion->steps == 0) {
        return false;
    }
    if (steps < opinion->steps) {
        opinion->steps -= steps;
        return true;
    }
    opinion->steps = 0;
    refuse_whole(opinion,
                 csb_diags_add(&opinion->findings->diags, CSB_RULE_010,
                               CSB_SEVERITY_ERROR, 0, 0,
                               "CPython finds more or longer names in this source than "
                               "can be compared with it"),
                 "use shorter names, above all for classes with private attributes");
    return false;
}

static void
refuse(struct opinion *opinion, const char *what, const char *name, size_t len)
{
    char shown[CSB_CONFIRM_NAME_BYTES];
    struct csb_diag *diag = csb_diags_add(
        &opinion->findings->diags, CSB_RULE_010, CSB_SEVERITY_ERROR, 0, 0,
        opinion->readable
            ? "CPython finds %s `%s` in this source, and the parser does not show it"
            : "the parser can not read this source, and CPython finds %s `%s` in it, "
              "which is not allowed",
        what, csb_escape_name(shown, sizeof shown, name, len));
    refuse_whole(opinion, diag,
                 "write it so that both read it alike: one statement a line, plain "
                 "string literals, no unusual continuation");
}

/* `_Class__name` is how CPython spells `__name` inside a class. The class's name may hold
 * underscores too, so `__name` is looked for from the end, in a few places. */
static bool
is_mangled(struct opinion *opinion, const struct csb_atoms *atoms, const char *name,
           size_t len)
{
    int tried = 0;
    if (len < 5 || name[0] != '_' || name[1] == '_') {
        return false;
    }
    for (size_t at = len - 3; at > 1 && tried < MOST_PRIVATE; at--) {
        if (name[at] != '_' || name[at + 1] != '_') {
            continue;
        }
        tried++;
        if (!spend(opinion, len - at)) {
            return false;
        }
        if (csb_atom_find(atoms, name + at, len - at) != NULL) {
            return true;
        }
    }
    return false;
}

/* Where relative imports are refused (CSB102) this is never asked; where they are not, they
 * fail at run time, since the program is no package. */
static bool
may_import_relatively(const struct csb_source *source)
{
    const char *at = source->text;
    const char *end = source->text + source->len;
    while ((at = memmem(at, (size_t)(end - at), "from", 4)) != NULL) {
        at += 4;
        at += strspn(at, " \t\f\\\n");
        if (*at == '.') {
            return true;
        }
    }
    return false;
}

static bool
is_import_shown(struct opinion *opinion, const char *name, size_t len)
{
    static const char future[] =
        "__future__"; /* a statement of its own for the parser */
    return opinion->relative ||
           (len == sizeof future - 1 && memcmp(name, future, len) == 0) ||
           csb_atom_find(&opinion->imports, name, len) != NULL ||
           is_mangled(opinion, &opinion->imports, name, len);
}

static bool
is_shown(struct opinion *opinion, enum csb_fact_kind kind, const char *name, size_t len)
{
    const struct csb_atoms *atoms = &opinion->findings->seen.atoms;
    if (kind == CSB_FACT_IMPORT) {
        return is_import_shown(opinion, name, len);
    }
    if (kind == CSB_FACT_NAME && (len == 0 || memchr(name, '.', len) != NULL)) {
        return is_import_shown(opinion, name, len);
    }
    return csb_atom_find(atoms, name, len) != NULL || is_made_up(kind, name, len) ||
           is_mangled(opinion, atoms, name, len);
}

/* Does a rule of this kind refuse, rather than observe or be off? */
static bool
enforced(const struct opinion *opinion, enum csb_rule_id rule)
{
    return csb_guard_config_enabled(opinion->config, rule) &&
           csb_guard_config_severity(opinion->config, rule) == CSB_SEVERITY_ERROR;
}

static void
judge_import(struct opinion *opinion, const char *name, size_t len)
{
    opinion->module = name;
    opinion->module_len = len;
    if (len == 0 ? enforced(opinion, CSB_RULE_102)
                 : enforced(opinion, CSB_RULE_101) &&
                       csb_guard_config_import(opinion->config, name, len) !=
                           CSB_IMPORT_ALLOWED) {
        refuse(opinion, "an import of", name, len);
    }
}

static void
judge_member(struct opinion *opinion, const char *name, size_t len)
{
    const struct csb_member *member =
        opinion->module == NULL
            ? NULL
            : csb_member_find(opinion->module, opinion->module_len, name, len);
    if ((member != NULL && enforced(opinion, member->rule)) ||
        (csb_name_flags(name, len) & (CSB_N_LEAK | CSB_N_LEAK_ANY) &&
         enforced(opinion, CSB_RULE_106))) {
        refuse(opinion, "an import of the member", name, len);
    }
}

static bool
is_special(const struct opinion *opinion, const char *name, size_t len)
{
    const uint32_t inner = CSB_N_FRAME | CSB_N_MAGIC | CSB_N_LEAK_ANY | CSB_N_NATIVE;
    uint32_t flags = csb_name_flags(name, len);
    return ((flags & inner) != 0 || csb_dunder_is_refused(flags)) &&
           enforced(opinion, CSB_RULE_201) &&
           !csb_guard_config_allows_attribute(opinion->config, name, len) &&
           !is_made_up(CSB_FACT_NAME, name, len);
}

/* Is this module imported, or one around it or inside it? */
static bool
is_near_import(const struct opinion *opinion, const char *module)
{
    size_t at = 0;
    while (module[at] != '\0') {
        at += strcspn(module + at + 1, ".") + 1;
        if (csb_atom_find(&opinion->modules, module, at) != NULL) {
            return true;
        }
    }
    return false;
}

/* A member that is guarded in one of the modules at hand: nobody can see of which it is. */
static bool
is_guarded_member(const struct opinion *opinion, const char *name, size_t len)
{
    const struct csb_member *row = csb_member_first(name, len);
    for (; row != NULL; row = csb_member_next(row)) {
        char dotted[LONGEST_MODULE];
        int used = snprintf(dotted, sizeof dotted, "%s.%s", row->module, row->member);
        if (enforced(opinion, row->rule) && is_near_import(opinion, row->module) &&
            !(used > 0 && (size_t)used < sizeof dotted &&
              csb_guard_config_allows_builtin(opinion->config, dotted, (size_t)used))) {
            return true;
        }
    }
    return false;
}

static void
judge_name(struct opinion *opinion, enum csb_fact_kind kind, const char *name,
           size_t len)
{
    uint32_t flags = csb_name_flags(name, len);
    /* "open" in a string is a word like any other: a key, a column of prices. */
    if (kind != CSB_FACT_STRING && flags & CSB_N_BUILTIN &&
        enforced(opinion, CSB_RULE_301) &&
        !csb_guard_config_allows_builtin(opinion->config, name, len)) {
        refuse(opinion, "the builtin", name, len);
    } else if (is_special(opinion, name, len)) {
        refuse(opinion, "the special attribute", name, len);
    } else if (kind != CSB_FACT_LOCAL && flags & CSB_N_MEMBER &&
               is_guarded_member(opinion, name, len)) {
        refuse(opinion, "the member", name, len);
    } else if (kind == CSB_FACT_NAME && flags & CSB_N_LEAK &&
               enforced(opinion, CSB_RULE_106) &&
               csb_atom_find(&opinion->modules, name, len) == NULL) {
        refuse(opinion, "the member", name, len); /* a module within a module */
    }
}

/* Is a refused name plain to see, as an identifier or as text? */
static bool
is_in_sight(struct opinion *opinion, const char *name, size_t len)
{
    const struct csb_findings *findings = opinion->findings;
    return csb_atom_find(&findings->seen.atoms, name, len) != NULL ||
           (spend(opinion, findings->source.len / SEARCH_SHARE) &&
            memmem(findings->source.text, findings->source.len, name, len) != NULL);
}

/* A string that holds the name of a special attribute may be a way to it. */
static void
judge_string(struct opinion *opinion, const char *text, size_t len)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
                               "0123456789";
    size_t at = 0;
    while (at < len && !opinion->refused) {
        const char *name = text + at;
        size_t start = at;
        while (at < len && text[at] != '\0' && strchr(word, text[at]) != NULL) {
            at++;
        }
        if (at == start) {
            at++;
        } else if (!spend(opinion, WORD_STEPS)) {
            return;
        } else if (!opinion->readable) {
            judge_name(opinion, CSB_FACT_STRING, name, at - start);
        } else if (is_special(opinion, name, at - start) &&
                   !is_in_sight(opinion, name, at - start)) {
            refuse(opinion, "a string with the name", name, at - start);
        }
    }
}

static void
judge(struct opinion *opinion, enum csb_fact_kind kind, const char *text, size_t len)
{
    if (kind == CSB_FACT_STRING) {
        judge_string(opinion, text, len);
        return;
    }
    if (opinion->readable) {
        if (!is_shown(opinion, kind, text, len)) {
            refuse(opinion, kind == CSB_FACT_IMPORT ? "an import of" : "the name", text,
                   len);
        }
        return;
    }
    switch (kind) {
    case CSB_FACT_IMPORT:
        judge_import(opinion, text, len);
        break;
    case CSB_FACT_FROM:
        judge_member(opinion, text, len);
        break;
    default:
        judge_name(opinion, kind, text, len);
    }
}

static bool
is_forgivable(const struct csb_diag *diag)
{
    return diag->severity != CSB_SEVERITY_ERROR || diag->rule == CSB_RULE_001 ||
           diag->rule == CSB_RULE_010;
}

/* The parser could not read it, CPython could, and nothing in it is refused. */
static void
forgive(struct csb_findings *findings)
{
    for (size_t i = 0; i < findings->diags.len; i++) {
        struct csb_diag *diag = &findings->diags.items[i];
        if (diag->severity == CSB_SEVERITY_ERROR && is_forgivable(diag)) {
            diag->severity = CSB_SEVERITY_ADVICE;
            csb_diag_note(diag,
                          "CPython reads this source, and nothing that it found in "
                          "it is refused");
        }
    }
}

bool
csb_confirm_may_help(const struct csb_findings *findings)
{
    for (size_t i = 0; i < findings->diags.len; i++) {
        if (!is_forgivable(&findings->diags.items[i])) {
            return false;
        }
    }
    return true;
}

/* The parser's imports as a set; leading dots of relative ones are not in CPython's name. */
static int
collect_imports(struct opinion *opinion)
{
    const struct csb_text *paths = &opinion->findings->seen.paths;
    size_t at = 0;
    if (csb_atoms_init(&opinion->imports) < 0) {
        return -ENOMEM;
    }
    while (at < paths->len) {
        const char *path = paths->bytes + at;
        size_t len = strlen(path);
        size_t dots = strspn(path, ".");
        if (csb_atom(&opinion->imports, path + dots, len - dots) == CSB_NO_ATOM) {
            return -ENOMEM;
        }
        at += len + 1;
    }
    return 0;
}

/* The modules that CPython imports, with the packages around them. */
static int
collect_modules(struct opinion *opinion, const unsigned char *at,
                const unsigned char *end)
{
    struct csb_fact fact;
    const char *text;
    if (csb_atoms_init(&opinion->modules) < 0) {
        return -ENOMEM;
    }
    while (csb_fact_next(&at, end, &fact, &text) &&
           spend(opinion, FACT_STEPS + fact.length)) {
        size_t len = fact.length < LONGEST_MODULE ? fact.length : LONGEST_MODULE;
        for (size_t i = 1; fact.kind == CSB_FACT_IMPORT && i <= len; i++) {
            if (i < fact.length && text[i] != '.') {
                continue;
            }
            if (!spend(opinion, i)) {
                break;
            }
            if (csb_atom(&opinion->modules, text, i) == CSB_NO_ATOM) {
                return -ENOMEM;
            }
        }
    }
    return 0;
}

static void
judge_all(struct opinion *opinion, const unsigned char *at, const unsigned char *end)
{
    struct csb_fact fact;
    const char *text;
    while (csb_fact_next(&at, end, &fact, &text) &&
           spend(opinion, FACT_STEPS + fact.length)) {
        judge(opinion, (enum csb_fact_kind)fact.kind, text, fact.length);
    }
    if (at != end && opinion->steps > 0) {
        refuse(opinion, "a broken list of names at", "", 0);
    }
    if (!opinion->refused && !opinion->readable) {
        forgive(opinion->findings);
    }
}

int
csb_confirm(const struct csb_guard_config *config, struct csb_findings *findings,
            const unsigned char *facts, size_t count, bool *ret_agrees,
            struct csb_error *reterr)
{
    struct opinion opinion = {.config = config, .findings = findings};
    int result;
    *ret_agrees = false;
    if (!csb_confirm_may_help(findings)) {
        return 0;
    }
    if (count == 0) {
        facts = (const unsigned char *)""; /* no list may come as NULL */
    }
    opinion.relative = may_import_relatively(&findings->source);
    opinion.readable = !csb_diags_blocking(&findings->diags);
    opinion.steps = STEPS + (uint64_t)findings->source.len * STEPS_PER_BYTE;
    result = collect_imports(&opinion);
    if (result == 0 && !opinion.readable) {
        result = collect_modules(&opinion, facts, facts + count);
    }
    if (result == 0) {
        judge_all(&opinion, facts, facts + count);
    }
    csb_atoms_done(&opinion.imports);
    csb_atoms_done(&opinion.modules);
    if (result < 0 || findings->diags.failed) {
        return csb_fail(reterr, CSB_STEP_MEMORY, ENOMEM, "no memory to compare");
    }
    csb_diags_finish(&findings->diags, &findings->source);
    *ret_agrees = !opinion.refused;
    return 0;
}
