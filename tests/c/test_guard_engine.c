/* Theory of operation: unit test of the whole check on small sources: what scopes know, where
 * budgets end, that hostile input gets an answer. What each rule finds is tested by its page. */
#include "engine.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "guard_fixture.h"

static void
test_names_that_may_be_the_builtin(void **state)
{
    static const struct {
        const char *source;
        const char *codes;
    } rows[] = {
        {"eval('1')", "CSB301"},
        {"def f(eval):\n return eval(1)", ""},
        {"def f():\n eval = len\n return eval(1)", ""},
        {"def eval(x): return x\neval(1)", ""},
        {"def f(): return eval(1)\ndef eval(x): return x\nf()", ""},
        {"def f(): return eval(1)\nf()\ndef eval(x): return x", "CSB301"},
        {"if x:\n eval = len\neval(1)", "CSB301"},
        {"for eval in []: pass\neval(1)", "CSB301"},
        {"class A:\n eval = 1\n def f(self): return eval(1)", "CSB301"},
        {"eval: int\neval(1)", "CSB301"},
        {"x = [eval for eval in [1]]\neval(1)", "CSB301"},
        {"x = [eval for eval in eval('1')]", "CSB301"},
        {"lambda eval: eval(1)", ""},
        {"lambda x=eval: x", "CSB301"},
        {"def f(x: eval): pass", "CSB301"},
        {"def f():\n global eval\n eval = len\neval(1)", "CSB301"},
        {"def f():\n eval = 1\n def g(): return eval\n return g", ""},
        {"def f():\n eval = 1\n class A:\n  def g(self): return eval\n return A", ""},
        {"import re\nre.compile('a')", "CSB101"},
        {"match x:\n case eval: eval(1)", "CSB301"},
        {"(eval := len)\neval(1)", "CSB301"},
    };
    (void)state;
    for (size_t i = 0; i < CSB_ARRAY_LEN(rows); i++) {
        const char *codes = guard_codes(rows[i].source);
        if (strcmp(codes, rows[i].codes) != 0) {
            fail_msg("%s: %s, not %s", rows[i].source, codes, rows[i].codes);
        }
    }
}

static void
test_modules_are_followed(void **state)
{
    static const char *const sources[] = {
        "import random as r\nr._os",
        "from random import _os",
        "import random\nm = random\nm._os",
        "import random, math\n[math, random][1]._os",
        "import random\nmatch x:\n case random._os.getpid: pass",
        "import random\ndef f(): return random._os",
        "__import__('random')._os",
        "import random \\\n as r\nr \\\n . _os",
    };
    (void)state;
    for (size_t i = 0; i < CSB_ARRAY_LEN(sources); i++) {
        if (strcmp(guard_codes(sources[i]), "CSB106") != 0) {
            fail_msg("%s: %s", sources[i], guard_codes(sources[i]));
        }
    }
}

static void
test_strings_are_folded(void **state)
{
    static const char *const names[] = {
        "'__class__'",
        "'__cl' 'ass__'",
        "'__cl' + 'ass__'",
        "'\\x5f\\137class\\u005f\\U0000005f'",
        "'\\N{LOW LINE}_class__'",
        "'__ssalc__'[::-1]",
        "'x__class__y'[1:-1]",
        "''.join(['__', 'class', '__'])",
        "''.join(map(chr, [95,95,99,108,97,115,115,95,95]))",
        "''.join(chr(c) for c in [95,95,99,108,97,115,115,95,95])",
        "'__%s__' % 'class'",
        "'__{}__'.format('class')",
        "f'__{\"class\"}__'",
        "bytes([95,95,99,108,97,115,115,95,95]).decode()",
        "bytes.fromhex('5f5f636c6173735f5f').decode()",
        "'@@class@@'.replace('@', '_')",
        "'__CLASS__'.lower()",
        "'AAclassAA'.translate({65: 95})",
        "('_' * 2 + 'class' + '_' * 2)",
        "' __class__ '.strip()",
    };
    (void)state;
    for (size_t i = 0; i < CSB_ARRAY_LEN(names); i++) {
        char source[256];
        (void)snprintf(source, sizeof source, "def f(x): return getattr(x, %s)",
                       names[i]);
        if (strcmp(guard_codes(source), "CSB203") != 0) {
            fail_msg("%s: %s", source, guard_codes(source));
        }
    }
}

static void
test_findings_are_capped_and_counted(void **state)
{
    (void)state;
    assert_string_equal(guard_codes("eval(1)\neval(2)\neval(3)\neval(4)\neval(5)\n"),
                        "CSB301 CSB301 CSB301");
}

static void
test_budgets(void **state)
{
    (void)state;
    assert_string_equal(guard_codes_of_many("", "x=1\n", 30000, ""), "CSB002");
    assert_string_equal(guard_codes_of_many("x=", "-", 200, "1"), "CSB003");
    assert_string_equal(guard_codes_of_many("x=[", "1,", 49000, "]"), "CSB008");
    assert_string_equal(guard_codes_of_many("if 1:\n", " ", 300, "x=1\n"), "CSB003");
    assert_string_equal(guard_codes_of_many("x=a", ".b", 10000, ""), "CSB003");
}

static void
test_nothing_is_read_of_what_cannot_be_read(void **state)
{
    (void)state;
    assert_string_equal(guard_codes_of("import os\0", 10), "CSB007");
    assert_string_equal(guard_codes("import os\n\xff"), "CSB009");
    assert_string_equal(guard_codes(""), "");
    assert_string_equal(guard_codes("\xef\xbb\xbf"), "");
}

/* Trees of broken sources have shapes that whole ones do not have; found by fuzzing. */
static void
test_broken_sources_get_an_answer(void **state)
{
    static const char *const sources[] = {
        "x for y in open(z",
        "n\nfor n in (0, 1): try:\n 10 / (n \n finally:\n  for q in z",
        "def f(\n",
        "class A(",
        "except as e.obj:",
        "case a.b.c",
        "import",
        "from . import (",
        "lambda",
        "f\"{",
        "@",
        "global",
    };
    (void)state;
    for (size_t i = 0; i < CSB_ARRAY_LEN(sources); i++) {
        (void)guard_codes(sources[i]);
    }
}

static void
test_configuration_names_the_wrong_key(void **state)
{
    static const char *const wrong[] = {"CSB999"};
    struct csb_guard_config *config = NULL;
    struct csb_error error = {0};
    struct csb_guard_config_spec spec = {
        .profile = "test",
        .select = {wrong, 1},
        .limits = {1, 1, 1, 1, 1},
    };
    (void)state;
    assert_int_equal(csb_guard_config_new(&config, &spec, &error), -EINVAL);
    assert_non_null(strstr(error.message, "select"));
    assert_non_null(strstr(error.message, "CSB999"));
    spec.select.len = 0;
    spec.limits.max_depth = 0;
    assert_int_equal(csb_guard_config_new(&config, &spec, &error), -EINVAL);
    assert_non_null(strstr(error.message, "max_depth"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_that_may_be_the_builtin),
        cmocka_unit_test(test_modules_are_followed),
        cmocka_unit_test(test_strings_are_folded),
        cmocka_unit_test(test_findings_are_capped_and_counted),
        cmocka_unit_test(test_budgets),
        cmocka_unit_test(test_nothing_is_read_of_what_cannot_be_read),
        cmocka_unit_test(test_broken_sources_get_an_answer),
        cmocka_unit_test(test_configuration_names_the_wrong_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
