/* Theory of operation: runs in the caller; plain heap memory, nothing else. */
#include "string_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
csb_strings_done(struct csb_strings *strings)
{
    for (size_t i = 0; i < strings->count; i++) {
        free(strings->items[i]);
    }
    free(strings->items);
    *strings = (struct csb_strings){0};
}

/* Takes ownership of item, also on failure. */
static int
append_owned(struct csb_strings *strings, char *item)
{
    char **items = item == NULL
                       ? NULL
                       : realloc(strings->items, (strings->count + 2) * sizeof *items);
    if (items == NULL) {
        free(item);
        return -ENOMEM;
    }
    items[strings->count++] = item;
    items[strings->count] = NULL;
    strings->items = items;
    return 0;
}

int
csb_strings_add(struct csb_strings *strings, const char *item)
{
    return append_owned(strings, strdup(item));
}

int
csb_strings_add_pair(struct csb_strings *strings, const char *name, const char *value)
{
    size_t size = strlen(name) + strlen(value) + 2;
    char *item = malloc(size);
    if (item != NULL) {
        (void)snprintf(item, size, "%s=%s", name, value);
    }
    return append_owned(strings, item);
}
