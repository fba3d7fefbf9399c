/* Theory of operation: characters that make a source look like another one: controls (a terminal
 * obeys them) and bidirectional embeddings, overrides and isolates (CVE-2021-42574). Tab, LF and
 * form feed are layout; marks such as U+200F and joiners occur in honest text and stay. */
#include "../rule.h"

static bool
is_refused(int32_t character)
{
    return (character < 0x20 && character != '\t' && character != '\n' &&
            character != '\f' && character != 0) ||
           character == 0x7f || (character >= 0x202a && character <= 0x202e) ||
           (character >= 0x2066 && character <= 0x2069);
}

static void
report(struct csb_check *check, size_t at, size_t len, int32_t character)
{
    struct csb_diag *diag =
        csb_report(check, CSB_RULE_006, at, at + len,
                   "the source holds the %s character U+%04X",
                   character < 0x80 ? "control" : "bidirectional", (unsigned)character);
    csb_diag_label(diag, "shows other text than it is");
    csb_diag_help(diag, "write it as an escape in a string: \"\\u%04x\"",
                  (unsigned)character);
}

static void
check_source(struct csb_check *check)
{
    const struct csb_source *source = check->source;
    size_t at = 0;
    while (at < source->len) {
        unsigned char byte = (unsigned char)source->text[at];
        size_t used = 1;
        int32_t character = byte;
        if (byte >= 0x20 && byte < 0x7f) {
            at++;
            continue;
        }
        /* Only U+20xx can be refused among the wide ones. */
        if (byte == 0xe2) {
            character = csb_utf8_next(source->text + at, source->len - at, &used);
        }
        if (byte < 0x80 || byte == 0xe2) {
            if (is_refused(character)) {
                report(check, at, used, character);
            }
        }
        at += used;
    }
}

const struct csb_rule csb_rule_006 = {.check_source = check_source};
