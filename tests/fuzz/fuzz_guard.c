/* Theory of operation: libFuzzer target over the whole guard: any bytes are checked, and whatever
 * was found is rendered, so that places and excerpts are exercised too. What stands behind two
 * NUL bytes are facts for the second opinion: lines whose first character tells the kind, or,
 * behind a third NUL, the packed list itself. Besides what the sanitizers see, a few promises
 * are asserted. Built and run by tests/fuzz/run.sh. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "confirm.h"
#include "facts.h"
#include "render.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const all[] = {"CSB"};
static const char *const allow[] = {"math",  "random", "sys",         "operator",
                                    "sympy", "io",     "collections", "typing"};
static const char *const deny[] = {"sys.modules", "io.open"};

static struct csb_guard_config *
new_config(void)
{
    const struct csb_guard_config_spec spec = {
        .profile = "fuzz",
        .select = {all, 1},
        .imports_allow = {allow, CSB_ARRAY_LEN(allow)},
        .imports_deny = {deny, CSB_ARRAY_LEN(deny)},
        .limits = {.max_source_bytes = 1 << 16,
                   .max_nodes = 100000,
                   .max_depth = 200,
                   .max_findings_per_rule = 20,
                   .max_time_ms = 10000},
    };
    struct csb_guard_config *config = NULL;
    return csb_guard_config_new(&config, &spec, NULL) == 0 ? config : NULL;
}

static void
require(bool condition, const char *what)
{
    if (!condition) {
        (void)fprintf(stderr, "promise broken: %s\n", what);
        abort();
    }
}

static void
check_findings(const struct csb_findings *findings)
{
    struct csb_text text = {0};
    struct csb_sheet sheet = {&findings->source, "fuzz.py", 7, 6, false};
    size_t last = 0;
    for (size_t i = 0; i < findings->diags.len; i++) {
        const struct csb_diag *diag = &findings->diags.items[i];
        const struct csb_view view = {
            csb_rule_info(diag->rule)->code,
            csb_severity_name(diag->severity),
            diag->message,
            diag->label,
            diag->help,
            diag->note,
            diag->from.line,
            diag->from.column,
            diag->start,
            diag->end,
            diag->second,
            diag->second_from.line,
            diag->second_start,
            diag->second_end,
        };
        require(diag->start >= last, "findings are in the order of the source");
        require(diag->end <= findings->source.len, "places are inside the source");
        require(diag->whole_source || diag->from.line >= 1, "each finding has a line");
        last = diag->start;
        csb_render_one(&text, &sheet, &view);
    }
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.bytes[i];
        require(byte == '\n' || (byte >= 0x20 && byte != 0x7f),
                "no control character reaches the terminal");
    }
    csb_text_done(&text);
}

/* Lines as a packed list. */
static void
pack_facts(const char *lines, size_t len, struct csb_text *ret)
{
    const char *end = lines + len;
    while (lines < end) {
        const char *line_end = memchr(lines, '\n', (size_t)(end - lines));
        size_t used = (size_t)((line_end == NULL ? end : line_end) - lines);
        if (used > 0) {
            struct csb_fact fact = {.kind = (uint32_t)lines[0] & 7,
                                    .length = (uint32_t)used - 1};
            csb_text_add(ret, (const char *)&fact, sizeof fact);
            csb_text_add(ret, lines + 1, used - 1);
        }
        lines += used + 1;
    }
}

static void
ask_again(const struct csb_guard_config *config, struct csb_findings *findings,
          const char *bytes, size_t len)
{
    struct csb_text facts = {0};
    bool may_help = csb_confirm_may_help(findings);
    bool agrees = true;
    if (len > 0 && bytes[0] == '\0') {
        csb_text_add(&facts, bytes + 1, len - 1);
    } else {
        pack_facts(bytes, len, &facts);
    }
    if (csb_confirm(config, findings, (const unsigned char *)facts.bytes, facts.len,
                    &agrees, NULL) == 0) {
        require(!agrees || may_help, "only what cannot be read is forgiven");
        require(agrees != csb_diags_blocking(&findings->diags),
                "what blocks does not run, and what does not run is told why");
    }
    csb_text_done(&facts);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    const char *split = size > 1 ? memmem(data, size, "\0\0", 2) : NULL;
    size_t len = split == NULL ? size : (size_t)(split - bytes);
    struct csb_grammar grammar;
    struct csb_guard_config *config = new_config();
    struct csb_findings findings;
    require(config != NULL && csb_grammar_init(&grammar, NULL) == 0, "set-up");
    if (csb_check_source(config, &grammar, bytes, len, &findings, NULL) == 0) {
        check_findings(&findings);
        if (split != NULL) {
            ask_again(config, &findings, split + 2, size - len - 2);
            check_findings(&findings);
        }
        csb_findings_done(&findings);
    }
    csb_guard_config_free(config);
    return 0;
}
