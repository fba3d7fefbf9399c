/* Theory of operation: collects what the rules find while one source is checked. Memory is
 * bounded by (number of rules) x (cap) findings. Out of memory sets `failed`, and the engine
 * then fails the whole check: a lost finding must never look like a clean source. */
#include "diagnostic.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

void
csb_diags_init(struct csb_diags *diags, uint32_t max_per_rule)
{
    memset(diags, 0, sizeof *diags);
    diags->max_per_rule = max_per_rule;
}

static void
diag_free(struct csb_diag *diag)
{
    free(diag->message);
    free(diag->label);
    free(diag->help);
    free(diag->note);
    free(diag->second);
}

void
csb_diags_done(struct csb_diags *diags)
{
    for (size_t i = 0; i < diags->len; i++) {
        diag_free(&diags->items[i]);
    }
    free(diags->items);
    memset(diags, 0, sizeof *diags);
}

/* False: there was no memory for a copy of the string, which may be NULL. */
static bool
string_copy(const char *string, char **ret)
{
    *ret = string == NULL ? NULL : strdup(string);
    return string == NULL || *ret != NULL;
}

static bool
diag_copy(const struct csb_diag *diag, struct csb_diag *ret)
{
    bool whole = true;
    *ret = *diag;
    /* Each of them, also after a failure: what *ret keeps of diag's would be freed twice. */
    whole = string_copy(diag->message, &ret->message) && whole;
    whole = string_copy(diag->label, &ret->label) && whole;
    whole = string_copy(diag->help, &ret->help) && whole;
    whole = string_copy(diag->note, &ret->note) && whole;
    whole = string_copy(diag->second, &ret->second) && whole;
    return whole;
}

int
csb_diags_copy(const struct csb_diags *diags, struct csb_diags *ret)
{
    *ret = *diags;
    ret->items = diags->len == 0 ? NULL : calloc(diags->len, sizeof *ret->items);
    ret->len = 0;
    ret->cap = ret->items == NULL ? 0 : diags->len;
    if (ret->items == NULL && diags->len != 0) {
        csb_diags_done(ret);
        return -ENOMEM;
    }
    for (size_t i = 0; i < diags->len; i++) {
        ret->len = i + 1;
        if (!diag_copy(&diags->items[i], &ret->items[i])) {
            csb_diags_done(ret);
            return -ENOMEM;
        }
    }
    return 0;
}

static char *
format_copy(const char *format, va_list arguments)
{
    struct csb_text text = {0};
    csb_text_vprintf(&text, format, arguments);
    return csb_text_steal(&text);
}

struct csb_diag *
csb_diags_add(struct csb_diags *diags, enum csb_rule_id rule,
              enum csb_severity severity, size_t start, size_t end, const char *format,
              ...)
{
    va_list arguments;
    struct csb_diag *diag;
    if (diags->counts[rule] >= diags->max_per_rule) {
        diags->suppressed[rule]++;
        return NULL;
    }
    if (diags->len == diags->cap) {
        size_t cap = diags->cap == 0 ? 16 : diags->cap * 2;
        struct csb_diag *items = realloc(diags->items, cap * sizeof *items);
        if (items == NULL) {
            diags->failed = true;
            return NULL;
        }
        diags->items = items;
        diags->cap = cap;
    }
    diags->counts[rule]++;
    diag = &diags->items[diags->len++];
    memset(diag, 0, sizeof *diag);
    diag->rule = rule;
    diag->severity = severity;
    diag->start = start;
    diag->end = end < start ? start : end;
    va_start(arguments, format);
    diag->message = format_copy(format, arguments);
    va_end(arguments);
    diags->failed = diags->failed || diag->message == NULL;
    return diag;
}

#define SETTER(field)                                                                  \
    void csb_diag_##field(struct csb_diag *diag, const char *format, ...)              \
    {                                                                                  \
        va_list arguments;                                                             \
        if (diag == NULL) {                                                            \
            return;                                                                    \
        }                                                                              \
        free(diag->field);                                                             \
        va_start(arguments, format);                                                   \
        diag->field = format_copy(format, arguments);                                  \
        va_end(arguments);                                                             \
    }

SETTER(label)
SETTER(help)
SETTER(note)

void
csb_diag_second(struct csb_diag *diag, size_t start, size_t end, const char *label)
{
    if (diag == NULL) {
        return;
    }
    free(diag->second);
    diag->second = strdup(label); /* without memory there is none: it only explains */
    diag->second_start = start;
    diag->second_end = end;
}

static int
compare(const void *left, const void *right)
{
    const struct csb_diag *a = left;
    const struct csb_diag *b = right;
    if (a->start != b->start) {
        return a->start < b->start ? -1 : 1;
    }
    if (a->rule != b->rule) {
        return a->rule < b->rule ? -1 : 1;
    }
    return a->end < b->end ? -1 : a->end > b->end;
}

void
csb_diags_finish(struct csb_diags *diags, const struct csb_source *source)
{
    size_t kept = 0;
    if (diags->len > 1) {
        qsort(diags->items, diags->len, sizeof *diags->items, compare);
    }
    for (size_t i = 0; i < diags->len; i++) {
        struct csb_diag *diag = &diags->items[i];
        if (kept > 0 && diags->items[kept - 1].rule == diag->rule &&
            diags->items[kept - 1].start == diag->start) {
            diag_free(diag);
            continue;
        }
        if (!diag->whole_source) {
            diag->from = csb_source_place(source, diag->start);
            diag->to = csb_source_place(source, diag->end);
            diag->second_from = csb_source_place(source, diag->second_start);
        }
        diags->items[kept++] = *diag;
    }
    diags->len = kept;
}

bool
csb_diags_blocking(const struct csb_diags *diags)
{
    for (size_t i = 0; i < diags->len; i++) {
        if (diags->items[i].severity == CSB_SEVERITY_ERROR) {
            return true;
        }
    }
    return false;
}
