/* Theory of operation: the storage of folded values. Whatever appends to a value does it here, so
 * that no way of building one can grow beyond CSB_VALUE_MOST: what does not fit ends the
 * knowledge and costs nothing. */
#include "value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "literal.h"

void
csb_value_done(struct csb_value *value)
{
    csb_text_done(&value->text);
    for (size_t i = 0; i < value->len; i++) {
        csb_text_done(&value->items[i].text); /* lists hold texts and numbers only */
    }
    free(value->items);
    memset(value, 0, sizeof *value);
}

void
csb_value_copy(const struct csb_value *from, struct csb_value *ret)
{
    ret->kind = from->kind == CSB_V_LIST ? CSB_V_UNKNOWN : from->kind;
    ret->whole = true;
    ret->number = from->number;
    csb_value_add(ret, from->text.bytes, from->text.len);
    ret->whole = from->whole;
}

void
csb_value_append(struct csb_value *list, struct csb_value *item)
{
    list->kind = CSB_V_LIST;
    if (list->len >= CSB_VALUE_MOST) {
        csb_value_done(item);
        return;
    }
    if (item->kind == CSB_V_LIST) {
        csb_value_done(item);
    }
    /* Full whenever its length is a power of two. */
    if ((list->len & (list->len - 1)) == 0) {
        size_t room = list->len == 0 ? 1 : list->len * 2;
        struct csb_value *items = realloc(list->items, room * sizeof *items);
        if (items == NULL) {
            csb_value_done(item);
            list->text.failed =
                true; /* ends the check: a shorter list is another one */
            return;
        }
        list->items = items;
    }
    list->items[list->len++] = *item;
    memset(item, 0, sizeof *item);
}

void
csb_value_add(struct csb_value *text, const char *bytes, size_t len)
{
    size_t room = CSB_VALUE_MOST - text->text.len;
    if (!text->whole) {
        return;
    }
    if (len > room) {
        len = room;
        text->whole = false;
    }
    csb_text_add(&text->text, bytes == NULL ? "" : bytes, len);
}

void
csb_value_add_char(struct csb_value *text, uint32_t character)
{
    struct csb_text one = {0};
    csb_text_char(&one, character);
    text->text.failed = text->text.failed || one.failed;
    csb_value_add(text, one.bytes, one.len);
    csb_text_done(&one);
}

void
csb_value_add_value(struct csb_value *text, const struct csb_value *piece)
{
    char digits[24];
    switch (piece->kind) {
    case CSB_V_TEXT:
        csb_value_add(text, piece->text.bytes, piece->text.len);
        text->whole = text->whole && piece->whole;
        break;
    case CSB_V_INT:
        csb_value_add(
            text, digits,
            (size_t)snprintf(digits, sizeof digits, "%lld", (long long)piece->number));
        break;
    default:
        text->whole = false;
        break;
    }
}
