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

static struct csb_guard_config *
new_config(uint64_t max_source_bytes, uint64_t max_nodes)
{
    struct csb_guard_config *config = NULL;
    struct csb_error error = {0};
    const struct csb_guard_config_spec spec = {
        .profile = "test",
        .select = {all, 1},
        .imports_allow = {allow, CSB_ARRAY_LEN(allow)},
        .imports_deny = {deny, 1},
        .limits = {.max_source_bytes = max_source_bytes,
                   .max_nodes = max_nodes,
                   .max_depth = 100,
                   .max_findings_per_rule = 3,
                   .max_time_ms = 10000},
    };
    assert_int_equal(csb_guard_config_new(&config, &spec, &error), 0);
    return config;
}

struct csb_guard_config *
guard_fixture(void)
{
    return new_config(100000, 50000);
}

static const char *
codes_under(struct csb_guard_config *config, const char *bytes, size_t len,
            struct csb_spent *ret)
{
    static char codes[512];
    struct csb_grammar grammar;
    struct csb_findings findings;
    struct csb_error error = {0};
    size_t used = 0;
    assert_int_equal(csb_grammar_init(&grammar, &error), 0);
    assert_int_equal(csb_check_source(config, &grammar, bytes, len, &findings, &error),
                     0);
    if (ret != NULL) {
        *ret = findings.spent;
    }
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
guard_codes_of(const char *bytes, size_t len)
{
    return codes_under(guard_fixture(), bytes, len, NULL);
}

const char *
guard_codes(const char *source)
{
    return guard_codes_of(source, strlen(source));
}

static char *
repeated(const char *head, const char *part, size_t count, const char *tail)
{
    char *source = malloc(strlen(head) + count * strlen(part) + strlen(tail) + 1);
    char *at = source;
    assert_non_null(source);
    at = stpcpy(at, head);
    for (size_t i = 0; i < count; i++) {
        at = stpcpy(at, part);
    }
    (void)stpcpy(at, tail);
    return source;
}

const char *
guard_codes_of_many(const char *head, const char *part, size_t count, const char *tail)
{
    char *source = repeated(head, part, count, tail);
    const char *codes = guard_codes(source);
    free(source);
    return codes;
}

const char *
guard_spent_of_many(const char *head, const char *part, size_t count, const char *tail,
                    struct csb_spent *ret)
{
    char *source = repeated(head, part, count, tail);
    const char *codes =
        codes_under(new_config(1 << 20, 1000000), source, strlen(source), ret);
    free(source);
    return codes;
}
