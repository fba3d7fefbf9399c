/* The findings of one check: a bounded list with a cap per rule.
 *
 * Owned by one check, used by one thread at a time. Strings are heap copies owned by the list.
 * Findings beyond a rule's cap are counted, not kept, so that hostile input cannot make the
 * answer large. */
#ifndef CSB_GUARD_DIAGNOSTIC_H
#define CSB_GUARD_DIAGNOSTIC_H

#include "registry.h"
#include "source.h"

struct csb_diag {
    enum csb_rule_id rule;
    enum csb_severity severity;
    bool whole_source; /* no place: the finding is about the source as a whole */
    size_t start;      /* bytes of the normalised text */
    size_t end;
    char *message; /* one sentence without a full stop; hostile text escaped */
    char *label;   /* may be NULL */
    char *help;    /* may be NULL */
    char *note;    /* may be NULL */
    char *second;  /* label of another place that explains this one; NULL: none */
    size_t second_start;
    size_t second_end;
    struct csb_place second_from;
    struct csb_place from;
    struct csb_place to; /* exclusive */
};

struct csb_diags {
    struct csb_diag *items;
    size_t len;
    size_t cap;
    uint32_t max_per_rule;
    uint32_t counts[CSB_RULE_COUNT];
    uint32_t suppressed[CSB_RULE_COUNT];
    bool failed; /* an allocation failed; the whole check must fail closed */
};

void csb_diags_init(struct csb_diags *diags, uint32_t max_per_rule);
void csb_diags_done(struct csb_diags *diags);

/* A copy of its own. 0 with *ret to be released by csb_diags_done, or -ENOMEM with *ret empty. */
CSB_MUST_USE int csb_diags_copy(const struct csb_diags *diags, struct csb_diags *ret);

/* Add a finding over [start, end). Returns NULL when it is only counted (or out of memory):
 * the setters below accept that. The pointer is valid until the next csb_diags_add. */
struct csb_diag *csb_diags_add(struct csb_diags *diags, enum csb_rule_id rule,
                               enum csb_severity severity, size_t start, size_t end,
                               const char *format, ...) CSB_PRINTF(6, 7);
void csb_diag_label(struct csb_diag *diag, const char *format, ...) CSB_PRINTF(2, 3);
void csb_diag_help(struct csb_diag *diag, const char *format, ...) CSB_PRINTF(2, 3);
void csb_diag_note(struct csb_diag *diag, const char *format, ...) CSB_PRINTF(2, 3);
void csb_diag_second(struct csb_diag *diag, size_t start, size_t end,
                     const char *label);

/* Sort by place, drop repeats of one rule at one place, fill line and column. */
void csb_diags_finish(struct csb_diags *diags, const struct csb_source *source);

/* True when a finding blocks the run. */
bool csb_diags_blocking(const struct csb_diags *diags);

#endif
