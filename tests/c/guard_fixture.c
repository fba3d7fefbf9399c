/* Theory of operation: shared by the guard's unit tests; one thread. */
#include "guard_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const all[] = {"CSB"};
static const char *const allow[] = {"math", "random", "sys", "collections", "os.path"};
static const char *const deny[] = {"collections.abc"};

struct csb_guard_config *
guard_fixture(void)
{
    struct csb_guard_config *config = NULL;
    struct csb_error error = {0};
    const struct csb_guard_config_spec spec = {
        .profile = "test",
        .select = {all, 1},
        .imports_allow = {allow, CSB_ARRAY_LEN(allow)},
        .imports_deny = {deny, 1},
        .limits = {.max_source_bytes = 100000,
                   .max_nodes = 50000,
                   .max_depth = 100,
                   .max_findings_per_rule = 3,
                   .max_time_ms = 10000},
    };
    assert_int_equal(csb_guard_config_new(&config, &spec, &error), 0);
    return config;
}

const char *
guard_codes_of(const char *bytes, size_t len)
{
    static char codes[512];
    struct csb_guard_config *config = guard_fixture();
    struct csb_grammar grammar;
    struct csb_findings findings;
    struct csb_error error = {0};
    size_t used = 0;
    assert_int_equal(csb_grammar_init(&grammar, &error), 0);
    assert_int_equal(csb_check_source(config, &grammar, bytes, len, &findings, &error),
                     0);
    codes[0] = '\0';
    for (size_t i = 0; i < findings.diags.len && used + 8 < sizeof codes; i++) {
        used += (size_t)snprintf(codes + used, sizeof codes - used, "%s%s",
                                 i == 0 ? "" : " ",
                                 csb_rule_info(findings.diags.items[i].rule)->code);
    }
    csb_findings_done(&findings);
    csb_guard_config_free(config);
    return codes;
}

const char *
guard_codes(const char *source)
{
    return guard_codes_of(source, strlen(source));
}

const char *
guard_codes_of_many(const char *head, const char *part, size_t count, const char *tail)
{
    size_t len = strlen(head) + count * strlen(part) + strlen(tail);
    char *source = malloc(len + 1);
    char *at = source;
    const char *codes;
    assert_non_null(source);
    at = stpcpy(at, head);
    for (size_t i = 0; i < count; i++) {
        at = stpcpy(at, part);
    }
    (void)stpcpy(at, tail);
    codes = guard_codes_of(source, len);
    free(source);
    return codes;
}
