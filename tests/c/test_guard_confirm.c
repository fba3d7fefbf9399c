/* Theory of operation: unit test of the second opinion, with facts made by hand: what CPython
 * would send of programs that the parser reads otherwise, or not at all. */
#include "confirm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "facts.h"
#include "guard_fixture.h"
#include "text.h"

#define MOST_FACTS 6

struct given {
    uint32_t kind; /* enum csb_fact_kind */
    const char *text;
};

static void
add_fact(struct csb_text *facts, uint32_t kind, const char *text, size_t len)
{
    struct csb_fact fact = {.kind = kind, .length = (uint32_t)len};
    csb_text_add(facts, (const char *)&fact, sizeof fact);
    csb_text_add(facts, text, len);
}

/* Whether the program may run; *ret_blocked tells whether a finding still blocks it. */
static bool
agrees(const char *source, const struct csb_text *facts, bool *ret_blocked)
{
    struct csb_guard_config *config = guard_fixture();
    struct csb_grammar grammar;
    struct csb_findings findings;
    bool agreed = true;
    assert_int_equal(csb_grammar_init(&grammar, NULL), 0);
    assert_int_equal(
        csb_check_source(config, &grammar, source, strlen(source), &findings, NULL), 0);
    assert_int_equal(csb_confirm(config, &findings, (const unsigned char *)facts->bytes,
                                 facts->len, &agreed, NULL),
                     0);
    *ret_blocked = csb_diags_blocking(&findings.diags);
    csb_findings_done(&findings);
    csb_guard_config_free(config);
    return agreed;
}

#define UNREADABLE "x = b'\\u'; y = 'z'\n"

static const struct {
    const char *source;
    struct given facts[MOST_FACTS];
    bool agrees;
} rows[] = {
    {"", {{0}}, true}, /* no facts are a NULL pointer here; found by fuzzing */
    {UNREADABLE, {{0}}, true},
    {"x = 1", {{CSB_FACT_NAME, "x"}}, true},
    {"x = 1", {{CSB_FACT_NAME, "y"}}, false},
    {"class A: __x = 1", {{CSB_FACT_NAME, "A"}, {CSB_FACT_NAME, "_A__x"}}, true},
    {"class A__B: __x__y = 1",
     {{CSB_FACT_NAME, "A__B"}, {CSB_FACT_NAME, "_A__B__x__y"}},
     true},
    {"class A: __x = 1", {{CSB_FACT_NAME, "A"}, {CSB_FACT_NAME, "_A__z"}}, false},
    {"class A:\n import math; __y",
     {{CSB_FACT_NAME, "_A__y"}, {CSB_FACT_IMPORT, "_A__y"}},
     false},
    /* Refused names in strings must be plain to see. */
    {"x = '__globals__'", {{CSB_FACT_STRING, "__globals__"}}, true},
    {"x = '\\t__globals__'", {{CSB_FACT_STRING, "\t__globals__"}}, true},
    {"x = '__glob' 'als__'", {{CSB_FACT_STRING, "__globals__"}}, false},
    {"x = 'gi' '_frame'", {{CSB_FACT_STRING, "a.gi_frame.b"}}, false},
    {"x = '__in' 'it__'", {{CSB_FACT_STRING, "__init__"}}, true},
    /* Without the parser the tables decide: names, patterns' keywords, dotted strings. */
    {UNREADABLE, {{CSB_FACT_NAME, "x"}, {CSB_FACT_NAME, "y"}}, true},
    {UNREADABLE, {{CSB_FACT_STRING, "gi_frame"}}, false},
    {UNREADABLE, {{CSB_FACT_STRING, "gi_code.x"}}, false},
    {UNREADABLE, {{CSB_FACT_STRING, "real.__globals__"}}, false},
    {UNREADABLE, {{CSB_FACT_STRING, "real"}}, true},
    {UNREADABLE, {{CSB_FACT_STRING, "open"}}, true}, /* a key, not the builtin */
    {UNREADABLE, {{CSB_FACT_STRING, "system"}}, true},
    {UNREADABLE, {{CSB_FACT_IMPORT, "os"}, {CSB_FACT_STRING, "system"}}, false},
    {UNREADABLE, {{CSB_FACT_IMPORT, "sys"}, {CSB_FACT_NAME, "_getframe"}}, false},
    {UNREADABLE, {{CSB_FACT_NAME, "_getframe"}, {CSB_FACT_IMPORT, "sys"}}, false},
    {UNREADABLE, {{CSB_FACT_IMPORT, "sys"}, {CSB_FACT_STRING, "modules"}}, false},
    {UNREADABLE, {{CSB_FACT_IMPORT, "math"}, {CSB_FACT_NAME, "modules"}}, true},
    {UNREADABLE, {{CSB_FACT_IMPORT, "sys"}, {CSB_FACT_LOCAL, "modules"}}, true},
    {UNREADABLE, {{CSB_FACT_IMPORT, "os.path"}, {CSB_FACT_NAME, "system"}}, false},
    {UNREADABLE, {{CSB_FACT_IMPORT, "math"}, {CSB_FACT_NAME, "_io"}}, false},
    {UNREADABLE, {{CSB_FACT_IMPORT, "sys"}, {CSB_FACT_NAME, "sys"}}, true},
    /* Any other finding stays, whatever CPython says. */
    {"import socket", {{CSB_FACT_NAME, "socket"}}, false},
    {"import socket\n" UNREADABLE, {{CSB_FACT_NAME, "x"}}, false},
    {"().__class__\n" UNREADABLE, {{CSB_FACT_NAME, "x"}}, false},
};

static void
test_what_may_run(void **state)
{
    (void)state;
    for (size_t i = 0; i < CSB_ARRAY_LEN(rows); i++) {
        struct csb_text facts = {0};
        bool blocked;
        bool agreed;
        for (size_t at = 0; at < MOST_FACTS && rows[i].facts[at].text != NULL; at++) {
            add_fact(&facts, rows[i].facts[at].kind, rows[i].facts[at].text,
                     strlen(rows[i].facts[at].text));
        }
        agreed = agrees(rows[i].source, &facts, &blocked);
        csb_text_done(&facts);
        if (agreed != rows[i].agrees || blocked == agreed) {
            fail_msg("%s: agrees %d, blocked %d", rows[i].source, agreed, blocked);
        }
    }
}

static void
test_a_broken_list_is_refused(void **state)
{
    struct csb_text facts = {0};
    bool blocked;
    (void)state;
    add_fact(&facts, CSB_FACT_NAME, "x", 1);
    facts.bytes[offsetof(struct csb_fact, length)] = 7;
    assert_false(agrees("x = 1", &facts, &blocked));
    assert_true(blocked);
    csb_text_done(&facts);
}

/* CPython repeats the class's name in every method: long names make facts of any size. */
static void
test_the_work_is_bounded(void **state)
{
    struct csb_text name = {0};
    struct csb_text facts = {0};
    bool blocked;
    (void)state;
    csb_text_puts(&name, "_C");
    csb_text_repeat(&name, '_', 40000);
    csb_text_puts(&name, "x");
    add_fact(&facts, CSB_FACT_NAME, name.bytes, name.len);
    assert_true(agrees("class C:\n __x = 1", &facts, &blocked));
    for (int i = 0; i < 1000; i++) {
        add_fact(&facts, CSB_FACT_NAME, name.bytes, name.len);
    }
    assert_false(agrees("class C:\n __x = 1", &facts, &blocked));
    assert_true(blocked);
    csb_text_done(&name);
    csb_text_done(&facts);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_may_run),
        cmocka_unit_test(test_a_broken_list_is_refused),
        cmocka_unit_test(test_the_work_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
