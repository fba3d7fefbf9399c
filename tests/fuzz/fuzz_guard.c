/* Theory of operation: libFuzzer target over the whole guard: any bytes are checked, and whatever
 * was found is rendered, so that places and excerpts are exercised too. Besides what the
 * sanitizers see, a few promises are asserted. Built and run by tests/fuzz/run.sh. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "render.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const all[] = {"CSB"};
static const char *const allow[] = {"math", "random", "sys", "operator", "sympy", "io"};
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

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct csb_grammar grammar;
    struct csb_guard_config *config = new_config();
    struct csb_findings findings;
    require(config != NULL && csb_grammar_init(&grammar, NULL) == 0, "set-up");
    if (csb_check_source(config, &grammar, (const char *)data, size, &findings, NULL) ==
        0) {
        check_findings(&findings);
        csb_findings_done(&findings);
    }
    csb_guard_config_free(config);
    return 0;
}
