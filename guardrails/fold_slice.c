/* Theory of operation: slices of texts whose value is known ("__ssalc__"[::-1]). Offsets are
 * clamped before use; a step of zero or an unknown bound leaves the value unknown. */
#include <string.h>

#include "value.h"

void
csb_value_slice(const struct csb_value *text, int64_t from, int64_t to, int64_t step,
                struct csb_value *ret)
{
    ret->kind = CSB_V_TEXT;
    ret->whole = true;
    /* Names are ASCII; a text with wide characters would need an index of characters. */
    for (int64_t at = from; step > 0 ? at < to : at > to; at += step) {
        csb_value_add(ret, text->text.bytes + at, 1);
    }
}

/* The bound of a slice, or `absent` when it is not written. False when it is not known. */
static bool
slice_bound(struct csb_folder *folder, TSNode node, int64_t len, int64_t low,
            int64_t *ret)
{
    struct csb_value value = {0};
    bool known;
    csb_fold_node(folder, node, &value);
    known = value.kind == CSB_V_INT;
    if (known) {
        int64_t number = value.number < 0 ? value.number + len : value.number;
        *ret = number < low ? low : number > len ? len : number;
    }
    csb_value_done(&value);
    return known;
}

void
csb_fold_slice(struct csb_folder *folder, TSNode slice, const struct csb_value *text,
               struct csb_value *ret)
{
    int64_t len = (int64_t)text->text.len;
    int64_t bounds[3] = {0, len, 1};
    bool given[3] = {false, false, false};
    TSNode parts[3];
    size_t part = 0;
    memset(parts, 0, sizeof parts);
    for (uint32_t i = 0; i < ts_node_child_count(slice); i++) {
        TSNode child = ts_node_child(slice, i);
        if (csb_node_text_is(folder->check, child, ":")) {
            part++;
        } else if (part < 3 && ts_node_is_named(child)) {
            parts[part] = child;
            given[part] = true;
        }
    }
    if (given[2]) {
        struct csb_value step = {0};
        csb_fold_node(folder, parts[2], &step);
        bounds[2] = step.kind == CSB_V_INT ? step.number : 0;
        csb_value_done(&step);
    }
    if (bounds[2] == 0 || bounds[2] > CSB_VALUE_MOST || bounds[2] < -CSB_VALUE_MOST) {
        return;
    }
    if (bounds[2] < 0) {
        bounds[0] = len - 1;
        bounds[1] = -1;
    }
    for (int i = 0; i < 2; i++) {
        if (given[i] &&
            !slice_bound(folder, parts[i], len, bounds[2] < 0 ? -1 : 0, &bounds[i])) {
            return;
        }
    }
    if (bounds[0] >= len) {
        bounds[0] = bounds[2] < 0 ? len - 1 : len;
    }
    csb_value_slice(text, bounds[0], bounds[1], bounds[2], ret);
}
