/* Values of the constant folder: text, whole numbers, lists of values. */
#ifndef CSB_GUARD_VALUE_H
#define CSB_GUARD_VALUE_H

#include "rule.h"

enum csb_value_kind { CSB_V_UNKNOWN, CSB_V_TEXT, CSB_V_INT, CSB_V_LIST };

struct csb_value {
    enum csb_value_kind kind;
    bool whole; /* TEXT: false when only the beginning is known */
    struct csb_text text;
    int64_t number;
    struct csb_value *items;
    size_t len;
};

#define CSB_VALUE_MOST 4096 /* bytes of a text, items of a list */
#define CSB_VALUE_DEPTH 24

/* A name bound by a comprehension that is being unrolled. */
struct csb_fold_env {
    const char *name;
    size_t len;
    const struct csb_value *value;
    const struct csb_fold_env *outer;
};

struct csb_folder {
    struct csb_check *check;
    uint32_t scope;
    const struct csb_fold_env *env;
    int depth;
};

void csb_value_done(struct csb_value *value);

/* Evaluate into *ret (which must be zeroed or done). Unknown when it cannot be known. */
void csb_fold_node(struct csb_folder *folder, TSNode node, struct csb_value *ret);

/* The same for a call; in fold_call.c. */
void csb_fold_call(struct csb_folder *folder, TSNode node, struct csb_value *ret);

/* A copy of characters [from, to) of a text, stepping; the offsets are already in range. */
void csb_value_slice(const struct csb_value *text, int64_t from, int64_t to, int64_t step,
                     struct csb_value *ret);

/* text[slice] for a whole text. */
void csb_fold_slice(struct csb_folder *folder, TSNode slice, const struct csb_value *text,
                    struct csb_value *ret);

/* Append a value to a list; takes ownership of *item. */
void csb_value_append(struct csb_value *list, struct csb_value *item);

/* "{}".format and "%" with values that are known; PREFIX up to the first unknown one. */
void csb_fold_percent(const struct csb_value *format, const struct csb_value *right,
                      struct csb_value *ret);

#endif
