/* Theory of operation: the calls from which hidden names are usually built: chr, str, bytes,
 * join, replace, decode, translate, "%" and str.format. Each computes what CPython would, or
 * leaves the value unknown. Same bounds as fold.c. */
#include <stdlib.h>
#include <string.h>

#include "literal.h"
#include "resolve.h"
#include "value.h"

static const char *
bytes_of(const struct csb_value *value)
{
    return value->text.bytes == NULL ? "" : value->text.bytes;
}

static void
join(const struct csb_value *glue, const struct csb_value *list, struct csb_value *ret)
{
    ret->kind = CSB_V_TEXT;
    ret->whole = glue->whole;
    for (size_t i = 0; i < list->len && ret->whole; i++) {
        const struct csb_value *item = &list->items[i];
        if (item->kind != CSB_V_TEXT) {
            ret->whole = false;
            break;
        }
        csb_value_add(ret, glue->text.bytes, i == 0 ? 0 : glue->text.len);
        csb_value_add_value(ret, item);
    }
}

static void
replace(const struct csb_value *text, const struct csb_value *old,
        const struct csb_value *new, struct csb_value *ret)
{
    size_t at = 0;
    if (old->text.len == 0 || !old->whole) {
        return;
    }
    ret->kind = CSB_V_TEXT;
    ret->whole = true;
    while (at < text->text.len && ret->whole) {
        if (text->text.len - at >= old->text.len &&
            memcmp(bytes_of(text) + at, bytes_of(old), old->text.len) == 0) {
            csb_value_add_value(ret, new);
            at += old->text.len;
        } else {
            csb_value_add(ret, text->text.bytes + at++, 1);
        }
    }
}

/* bytes([95, 95]) and the like: Latin-1 text. */
static void
from_numbers(const struct csb_value *list, struct csb_value *ret)
{
    ret->kind = CSB_V_TEXT;
    ret->whole = true;
    for (size_t i = 0; i < list->len && ret->whole; i++) {
        const struct csb_value *item = &list->items[i];
        ret->whole =
            item->kind == CSB_V_INT && item->number >= 0 && item->number < 0x110000;
        if (ret->whole) {
            csb_value_add_char(ret, (uint32_t)item->number);
        }
    }
}

static int
hex_digit(char character)
{
    if (character >= '0' && character <= '9') {
        return character - '0';
    }
    character = (char)(character | 0x20);
    return character >= 'a' && character <= 'f' ? character - 'a' + 10 : -1;
}

static void
from_hex(const struct csb_value *text, struct csb_value *ret)
{
    size_t at = 0;
    ret->kind = CSB_V_TEXT;
    ret->whole = true;
    while (at + 1 < text->text.len) {
        int high = hex_digit(text->text.bytes[at]);
        int low = hex_digit(text->text.bytes[at + 1]);
        if (high < 0) {
            at++; /* a blank between bytes */
        } else if (low < 0) {
            return;
        } else {
            csb_value_add_char(ret, (uint32_t)(high << 4 | low));
            at += 2;
        }
    }
}

static void
rotate13(const struct csb_value *text, struct csb_value *ret)
{
    ret->kind = CSB_V_TEXT;
    ret->whole = true;
    for (size_t i = 0; i < text->text.len; i++) {
        char character = text->text.bytes[i];
        char lower = (char)(character | 0x20);
        if (lower >= 'a' && lower <= 'z') {
            character = (char)(character + (lower < 'n' ? 13 : -13));
        }
        csb_value_add(ret, &character, 1);
    }
}

/* The result of a template begins as the empty text; false when the template is that too. */
static bool
open_template(const struct csb_value *format, struct csb_value *ret)
{
    ret->kind = CSB_V_TEXT;
    ret->whole = format->whole;
    return format->text.bytes != NULL;
}

/* "%s" and "%c" with known values; anything else ends what is known. */
void
csb_fold_percent(const struct csb_value *format, const struct csb_value *right,
                 struct csb_value *ret)
{
    size_t next = 0;
    const char *text = format->text.bytes;
    if (!open_template(format, ret)) {
        return;
    }
    for (size_t i = 0; i < format->text.len && ret->whole; i++) {
        const struct csb_value *item = next == 0 ? right : NULL;
        if (text[i] != '%') {
            csb_value_add(ret, text + i, 1);
            continue;
        }
        i++;
        if (i < format->text.len && text[i] == '%') {
            csb_value_add(ret, "%", 1);
            continue;
        }
        if (right->kind == CSB_V_LIST) {
            item = next < right->len ? &right->items[next] : NULL;
        }
        next++;
        if (i < format->text.len && text[i] == 's' && item != NULL &&
            item->kind == CSB_V_TEXT) {
            csb_value_add_value(ret, item);
        } else if (i < format->text.len && text[i] == 'c' && item != NULL &&
                   item->kind == CSB_V_INT && item->number >= 0 &&
                   item->number < 0x110000) {
            csb_value_add_char(ret, (uint32_t)item->number);
        } else {
            ret->whole = false;
        }
    }
}

/* "{}".format("x"): automatic and numbered fields without anything else in them. */
static void
format_braces(const struct csb_value *format, const struct csb_value *list,
              struct csb_value *ret)
{
    size_t next = 0;
    const char *text = format->text.bytes;
    if (!open_template(format, ret)) {
        return;
    }
    for (size_t i = 0; i < format->text.len && ret->whole; i++) {
        char *end;
        unsigned long number;
        if (text[i] != '{' || (i + 1 < format->text.len && text[i + 1] == '{')) {
            csb_value_add(ret, text + i, 1);
            i += text[i] == '{' || text[i] == '}';
            continue;
        }
        number = strtoul(text + i + 1, &end, 10);
        if (end == text + i + 1) {
            number = next++;
        }
        if (*end != '}' || number >= list->len ||
            list->items[number].kind != CSB_V_TEXT) {
            ret->whole = false;
            break;
        }
        csb_value_add_value(ret, &list->items[number]);
        i = (size_t)(end - text);
    }
}

/* {65: 95}: pairs of numbers or characters. */
static void
translate(struct csb_folder *folder, const struct csb_value *text, TSNode table,
          struct csb_value *ret)
{
    struct csb_children pairs;
    TSNode pair;
    char map[128];
    if (csb_kind(folder->check, table) != CSB_K_DICTIONARY) {
        return;
    }
    for (size_t i = 0; i < sizeof map; i++) {
        map[i] = (char)i;
    }
    ret->kind = CSB_V_TEXT;
    ret->whole = true;
    csb_children_open(&pairs, table);
    while (ret->whole && csb_children_next(&pairs, &pair)) {
        struct csb_value key = {0};
        struct csb_value value = {0};
        csb_fold_node(folder, csb_field(folder->check, pair, CSB_F_KEY), &key);
        csb_fold_node(folder, csb_field(folder->check, pair, CSB_F_VALUE), &value);
        if (value.kind == CSB_V_TEXT && value.text.len == 1) {
            value.kind = CSB_V_INT;
            value.number = (unsigned char)value.text.bytes[0];
        }
        ret->whole = key.kind == CSB_V_INT && key.number >= 0 && key.number < 128 &&
                     value.kind == CSB_V_INT && value.number >= 0 && value.number < 128;
        if (ret->whole) {
            map[key.number] = (char)value.number;
        }
        csb_value_done(&key);
        csb_value_done(&value);
    }
    csb_children_close(&pairs);
    for (size_t at = 0; at < text->text.len; at++) {
        unsigned char byte = (unsigned char)text->text.bytes[at];
        csb_value_add(ret, byte < sizeof map ? &map[byte] : &text->text.bytes[at], 1);
    }
}

static void
change_case(const struct csb_value *text, bool up, struct csb_value *ret)
{
    ret->kind = CSB_V_TEXT;
    ret->whole = true; /* only a whole text has methods here */
    for (size_t i = 0; i < text->text.len; i++) {
        char character = text->text.bytes[i];
        if (up ? character >= 'a' && character <= 'z'
               : character >= 'A' && character <= 'Z') {
            character ^= 0x20;
        }
        csb_value_add(ret, &character, 1);
    }
}

static void
strip(const struct csb_value *text, const struct csb_value *set, struct csb_value *ret)
{
    static const char blanks[] = " \t\n\r\f\v";
    bool given = set->kind == CSB_V_TEXT;
    const char *drop = given ? bytes_of(set) : blanks;
    size_t count = given ? set->text.len : sizeof blanks - 1;
    size_t from = 0;
    size_t to = text->text.len;
    while (from < to && memchr(drop, text->text.bytes[from], count) != NULL) {
        from++;
    }
    while (to > from && memchr(drop, text->text.bytes[to - 1], count) != NULL) {
        to--;
    }
    ret->kind = CSB_V_TEXT;
    ret->whole = true;
    csb_value_add(ret, bytes_of(text) + from, to - from);
}

static bool
is_codec(const struct csb_value *name, const char *wanted)
{
    return name->kind == CSB_V_TEXT && name->text.len == strlen(wanted) &&
           memcmp(bytes_of(name), wanted, name->text.len) == 0;
}

/* Methods of a text whose value is known. */
static void
call_method(struct csb_folder *folder, TSNode call, TSNode name,
            const struct csb_value *self, struct csb_value *ret)
{
    const struct csb_check *check = folder->check;
    TSNode first_node = csb_argument(check, call, 0, NULL, NULL);
    struct csb_value first = {0};
    struct csb_value second = {0};
    csb_fold_node(folder, first_node, &first);
    csb_fold_node(folder, csb_argument(check, call, 1, NULL, NULL), &second);
    if (csb_node_text_is(check, name, "join") && first.kind == CSB_V_LIST) {
        join(self, &first, ret);
    } else if (csb_node_text_is(check, name, "format")) {
        struct csb_value list = {.kind = CSB_V_LIST};
        csb_value_append(&list, &first);
        csb_value_append(&list, &second);
        format_braces(self, &list, ret);
        csb_value_done(&list);
    } else if (!self->whole) {
        /* The rest would need the whole text. */
    } else if (csb_node_text_is(check, name, "replace") && first.kind == CSB_V_TEXT &&
               second.kind == CSB_V_TEXT) {
        replace(self, &first, &second, ret);
    } else if (csb_node_text_is(check, name, "decode") ||
               csb_node_text_is(check, name, "encode")) {
        if (ts_node_is_null(first_node) || is_codec(&first, "utf-8") ||
            is_codec(&first, "utf8") || is_codec(&first, "ascii") ||
            is_codec(&first, "latin-1") || is_codec(&first, "latin1")) {
            strip(self, &(struct csb_value){.kind = CSB_V_TEXT}, ret);
        }
    } else if (csb_node_text_is(check, name, "translate")) {
        translate(folder, self, first_node, ret);
    } else if (csb_node_text_is(check, name, "lower") ||
               csb_node_text_is(check, name, "casefold")) {
        change_case(self, false, ret);
    } else if (csb_node_text_is(check, name, "upper")) {
        change_case(self, true, ret);
    } else if (csb_node_text_is(check, name, "strip") &&
               (ts_node_is_null(first_node) || first.whole)) {
        strip(self, &first, ret);
    }
    csb_value_done(&first);
    csb_value_done(&second);
}

/* map(chr, [...]) as a list of characters. */
static void
map_chr(const struct csb_value *list, struct csb_value *ret)
{
    ret->kind = CSB_V_LIST;
    for (size_t i = 0; i < list->len; i++) {
        struct csb_value item = {0};
        if (list->items[i].kind == CSB_V_INT && list->items[i].number >= 0 &&
            list->items[i].number < 0x110000) {
            item.kind = CSB_V_TEXT;
            item.whole = true;
            csb_value_add_char(&item, (uint32_t)list->items[i].number);
        }
        csb_value_append(ret, &item);
    }
}

static void
call_function(struct csb_folder *folder, TSNode call, TSNode function,
              struct csb_value *ret)
{
    const struct csb_check *check = folder->check;
    TSNode node = csb_argument(check, call, 0, NULL, NULL);
    struct csb_value first = {0};
    csb_fold_node(folder, node, &first);
    if (csb_node_text_is(check, function, "chr") && first.kind == CSB_V_INT &&
        first.number >= 0 && first.number < 0x110000) {
        ret->kind = CSB_V_TEXT;
        ret->whole = true;
        csb_value_add_char(ret, (uint32_t)first.number);
    } else if (csb_node_text_is(check, function, "ord") && first.kind == CSB_V_TEXT &&
               first.whole && first.text.len == 1) {
        ret->kind = CSB_V_INT;
        ret->number = (unsigned char)first.text.bytes[0];
    } else if ((csb_node_text_is(check, function, "str") ||
                csb_node_text_is(check, function, "list") ||
                csb_node_text_is(check, function, "tuple")) &&
               first.kind != CSB_V_UNKNOWN) {
        *ret = first;
        return;
    } else if ((csb_node_text_is(check, function, "bytes") ||
                csb_node_text_is(check, function, "bytearray")) &&
               first.kind == CSB_V_LIST) {
        from_numbers(&first, ret);
    } else if (csb_node_text_is(check, function, "map") &&
               csb_node_text_is(check, node, "chr")) {
        struct csb_value list = {0};
        csb_fold_node(folder, csb_argument(check, call, 1, NULL, NULL), &list);
        if (list.kind == CSB_V_LIST) {
            map_chr(&list, ret);
        }
        csb_value_done(&list);
    }
    csb_value_done(&first);
}

static void
call_codecs(struct csb_folder *folder, TSNode call, struct csb_value *ret)
{
    const struct csb_check *check = folder->check;
    struct csb_value text = {0};
    struct csb_value codec = {0};
    csb_fold_node(folder, csb_argument(check, call, 0, "obj", NULL), &text);
    csb_fold_node(folder, csb_argument(check, call, 1, "encoding", NULL), &codec);
    if (text.kind == CSB_V_TEXT && text.whole &&
        (is_codec(&codec, "rot13") || is_codec(&codec, "rot_13"))) {
        rotate13(&text, ret);
    }
    csb_value_done(&text);
    csb_value_done(&codec);
}

void
csb_fold_call(struct csb_folder *folder, TSNode node, struct csb_value *ret)
{
    const struct csb_check *check = folder->check;
    TSNode function = csb_callee(check, node);
    struct csb_value self = {0};
    TSNode object;
    TSNode name;
    if (csb_kind(check, function) == CSB_K_IDENTIFIER) {
        call_function(folder, node, function, ret);
        return;
    }
    if (csb_kind(check, function) != CSB_K_ATTRIBUTE) {
        return;
    }
    object = csb_field(check, function, CSB_F_OBJECT);
    name = csb_field(check, function, CSB_F_ATTRIBUTE);
    csb_fold_node(folder, object, &self);
    if (self.kind == CSB_V_TEXT) {
        call_method(folder, node, name, &self, ret);
    } else if (csb_node_text_is(check, object, "codecs")) {
        call_codecs(folder, node, ret);
    } else if (csb_node_text_is(check, name, "fromhex")) {
        struct csb_value text = {0};
        csb_fold_node(folder, csb_argument(check, node, 0, NULL, NULL), &text);
        if (text.kind == CSB_V_TEXT && text.whole) {
            from_hex(&text, ret);
        }
        csb_value_done(&text);
    }
    csb_value_done(&self);
}
