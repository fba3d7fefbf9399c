/* Theory of operation: a coding cookie (PEP 263) in the first two lines would make CPython read
 * other characters than the parser did, if it ever read these bytes from a file. Cookies that
 * cannot change anything are let through: UTF-8, and supersets of ASCII over pure ASCII. */
#include <string.h>

#include "../rule.h"

static bool
is_name_byte(char character)
{
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9') || character == '-' || character == '_' ||
           character == '.';
}

/* The codec named by a cookie comment; its length, or 0 when the line has none. */
static size_t
find_cookie(const char *line, size_t len, const char **ret_name)
{
    size_t at = 0;
    while (at < len && (line[at] == ' ' || line[at] == '\t' || line[at] == '\f')) {
        at++;
    }
    if (at == len || line[at] != '#') {
        return 0;
    }
    for (; at + 7 < len; at++) {
        size_t start;
        size_t end;
        if (memcmp(line + at, "coding", 6) != 0 ||
            (line[at + 6] != ':' && line[at + 6] != '=')) {
            continue;
        }
        start = at + 7;
        while (start < len && (line[start] == ' ' || line[start] == '\t')) {
            start++;
        }
        end = start;
        while (end < len && is_name_byte(line[end])) {
            end++;
        }
        if (end > start) {
            *ret_name = line + start;
            return end - start;
        }
    }
    return 0;
}

static bool
names_codec(const char *name, size_t len, const char *const *wanted)
{
    char plain[32];
    if (len >= sizeof plain) {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        char character = name[i];
        plain[i] = character == '_' || character == '.' ? '-'
                   : character >= 'A' && character <= 'Z' ? (char)(character | 0x20)
                                                          : character;
    }
    plain[len] = '\0';
    for (; *wanted != NULL; wanted++) {
        if (strcmp(plain, *wanted) == 0) {
            return true;
        }
    }
    return false;
}

static bool
is_harmless(const struct csb_check *check, const char *name, size_t len)
{
    static const char *const utf8[] = {"utf-8", "utf8", "utf-8-sig", "u8", "utf-8-unix",
                                       "utf-8-dos", NULL};
    static const char *const ascii[] = {"ascii",       "us-ascii",     "latin-1",
                                        "latin1",      "iso-8859-1",   "iso8859-1",
                                        "iso-8859-15", "iso-latin-1",  "l1",
                                        "cp1252",      "windows-1252", NULL};
    return names_codec(name, len, utf8) ||
           (check->source->ascii && names_codec(name, len, ascii));
}

static bool
is_blank_or_comment(const char *line, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (line[i] == '#') {
            return true;
        }
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\f') {
            return false;
        }
    }
    return true;
}

static void
check_source(struct csb_check *check)
{
    for (uint32_t number = 1; number <= 2 && number <= check->source->line_count; number++) {
        size_t len;
        const char *line = csb_source_line(check->source, number, &len);
        const char *name = NULL;
        size_t name_len = find_cookie(line, len, &name);
        if (name_len > 0) {
            char shown[CSB_NAME_BYTES];
            struct csb_diag *diag;
            size_t start = (size_t)((name_len > 0 ? name : line) - check->source->text);
            if (is_harmless(check, name, name_len)) {
                return;
            }
            diag = csb_report(check, CSB_RULE_004, start, start + name_len,
                              "the source declares the encoding `%s`, but only UTF-8 is read",
                              csb_escape_name(shown, sizeof shown, name, name_len));
            csb_diag_label(diag, "not UTF-8");
            csb_diag_help(diag, "save the source as UTF-8 and remove the declaration");
            return;
        }
        if (!is_blank_or_comment(line, len)) {
            return;
        }
    }
}

const struct csb_rule csb_rule_004 = {.check_source = check_source};
