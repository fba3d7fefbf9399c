/* Values of the constant folder: text, whole numbers, lists of values. */
#ifndef CSB_GUARD_VALUE_H
#define CSB_GUARD_VALUE_H

#include "rule.h"

enum csb_value_kind { CSB_V_UNKNOWN, CSB_V_TEXT, CSB_V_INT, CSB_V_LIST };

struct csb_value {
    enum csb_value_kind kind; /* of a TEXT, text.len <= CSB_VALUE_MOST */
    bool whole;               /* TEXT: false when only the beginning is known */
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

/* A copy of a text or a number into *ret, which is zeroed; of a list nothing is known. */
void csb_value_copy(const struct csb_value *from, struct csb_value *ret);

/* Evaluate into *ret (which must be zeroed or done). Unknown when it cannot be known. */
void csb_fold_node(struct csb_folder *folder, TSNode node, struct csb_value *ret);

/* Take one step from the budget of the source. False when none is left or it is too late: then
 * the whole check ends as out of time. */
bool csb_fold_spend(struct csb_check *check);

/* csb_fold_node for a name; in fold_name.c. */
void csb_fold_name(struct csb_folder *folder, TSNode node, struct csb_value *ret);

/* left SIGN right into *ret, which is zeroed; SIGN is one of + - % *, or 0 for none of them. May
 * change *right. */
void csb_fold_combine(char sign, struct csb_value *left, struct csb_value *right,
                      struct csb_value *ret);

/* The SIGN of a binary operator or of an augmented assignment. */
char csb_fold_sign(const struct csb_check *check, TSNode expression);

/* csb_fold_node for a call; in fold_call.c. */
void csb_fold_call(struct csb_folder *folder, TSNode node, struct csb_value *ret);

/* A copy of characters [from, to) of a text, stepping; the offsets are already in range. */
void csb_value_slice(const struct csb_value *text, int64_t from, int64_t to,
                     int64_t step, struct csb_value *ret);

/* text[slice] for a whole text. */
void csb_fold_slice(struct csb_folder *folder, TSNode slice,
                    const struct csb_value *text, struct csb_value *ret);

/* Append a value to a list; takes ownership of *item. */
void csb_value_append(struct csb_value *list, struct csb_value *item);

/* Append to a TEXT of which all is known so far; nothing happens when that is not so. Beyond
 * CSB_VALUE_MOST bytes, and after an unknown piece, it is known only so far. `bytes` may be NULL
 * when `len` is 0. */
void csb_value_add(struct csb_value *text, const char *bytes, size_t len);
void csb_value_add_char(struct csb_value *text, uint32_t character);
void csb_value_add_value(struct csb_value *text, const struct csb_value *piece);

/* "{}".format and "%" with values that are known; PREFIX up to the first unknown one. */
void csb_fold_percent(const struct csb_value *format, const struct csb_value *right,
                      struct csb_value *ret);

#endif
