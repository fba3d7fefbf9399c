/* Theory of operation: constant, sorted tables and binary search; the data is in names.def and
 * members.def. Used by the guard in the caller and by the walk over code objects in the child.
 * A name that is in no table is ordinary: the tables only ever add suspicion. */
#include "tables.h"

#include <string.h>

struct name_row {
    const char *name;
    uint32_t flags;
};

static const struct name_row name_rows[] = {
#define CSB_NAME(name, flags) {name, flags},
#include "names.def"
#undef CSB_NAME
};

static const struct csb_member member_rows[] = {
#define CSB_MEMBER(member, module, rule, when, why)                                    \
    {member, module, CSB_RULE_##rule, CSB_WHEN_##when, why},
#include "members.def"
#undef CSB_MEMBER
};

int
csb_name_compare(const char *name, size_t len, const char *row)
{
    size_t row_len = strlen(row);
    int order = memcmp(name, row, len < row_len ? len : row_len);
    return order != 0 ? order : (len > row_len) - (len < row_len);
}

/* First row of the member table whose member is not below `name`. */
static size_t
member_lower_bound(const char *name, size_t len)
{
    size_t low = 0;
    size_t high = CSB_ARRAY_LEN(member_rows);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (csb_name_compare(name, len, member_rows[middle].member) > 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const struct csb_member *
csb_member_first(const char *member, size_t len)
{
    size_t at = member_lower_bound(member, len);
    return at < CSB_ARRAY_LEN(member_rows) &&
                   csb_name_compare(member, len, member_rows[at].member) == 0
               ? &member_rows[at]
               : NULL;
}

const struct csb_member *
csb_member_next(const struct csb_member *row)
{
    const struct csb_member *next = row + 1;
    return next < member_rows + CSB_ARRAY_LEN(member_rows) &&
                   strcmp(next->member, row->member) == 0
               ? next
               : NULL;
}

uint32_t
csb_name_flags(const char *name, size_t len)
{
    size_t low = 0;
    size_t high = CSB_ARRAY_LEN(name_rows);
    uint32_t flags = 0;
    if (len > 4 && memcmp(name, "__", 2) == 0 && memcmp(name + len - 2, "__", 2) == 0) {
        flags |= CSB_N_DUNDER;
    }
    if (csb_member_first(name, len) != NULL) {
        flags |= CSB_N_MEMBER;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = csb_name_compare(name, len, name_rows[middle].name);
        if (order == 0) {
            return flags | name_rows[middle].flags;
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return flags;
}

bool
csb_dunder_is_refused(uint32_t flags)
{
    return (flags & CSB_N_DUNDER) != 0 &&
           (flags & (CSB_N_DUNDER_METHOD | CSB_N_DUNDER_DATA | CSB_N_DUNDER_SHAPE)) ==
               0;
}

static const struct csb_member *
find_exactly(const char *module, size_t module_len, const char *member,
             size_t member_len)
{
    const struct csb_member *row = csb_member_first(member, member_len);
    while (row != NULL && csb_name_compare(module, module_len, row->module) != 0) {
        row = csb_member_next(row);
    }
    return row;
}

const struct csb_member *
csb_member_find(const char *module, size_t module_len, const char *member,
                size_t member_len)
{
    const struct csb_member *row = find_exactly(module, module_len, member, member_len);
    const char *last = memrchr(module, '.', module_len);
    if (row != NULL || last == NULL) {
        return row;
    }
    last++;
    last += last < module + module_len && *last == '_'; /* pprint._types */
    return find_exactly(last, module_len - (size_t)(last - module), member, member_len);
}

bool
csb_module_is_guarded(const char *module, size_t len)
{
    for (size_t i = 0; i < CSB_ARRAY_LEN(member_rows); i++) {
        if (csb_name_compare(module, len, member_rows[i].module) == 0) {
            return true;
        }
    }
    return false;
}

bool
csb_module_has_members(const char *module, size_t len)
{
    for (size_t i = 0; i < CSB_ARRAY_LEN(member_rows); i++) {
        if (member_rows[i].member[0] != '_' &&
            (csb_name_flags(member_rows[i].member, strlen(member_rows[i].member)) &
             CSB_N_BUILTIN) != 0 &&
            csb_name_compare(module, len, member_rows[i].module) == 0) {
            return true;
        }
    }
    return false;
}

size_t
csb_name_count(void)
{
    return CSB_ARRAY_LEN(name_rows);
}

const char *
csb_name_at(size_t index)
{
    return name_rows[index].name;
}

size_t
csb_member_count(void)
{
    return CSB_ARRAY_LEN(member_rows);
}

const struct csb_member *
csb_member_at(size_t index)
{
    return &member_rows[index];
}
