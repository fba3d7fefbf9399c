"""The kinds of test besides plain programs and calls."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import csandbox
from csandbox import Answer, Call, CallTest, CheckerTest, PropertyTest, RoundTripTest, agrade, grade

SORT = "def sort(xs):\n    return sorted(xs)\n"


def test_property() -> None:
    test = PropertyTest(Call("sort", [[3, 1, 2]]), "value == sorted(args[0])")  # type: ignore[arg-type]
    assert grade(SORT, [test]).passed
    assert grade("def sort(xs):\n    return xs\n", [test]).verdict == "wrong_answer"


def test_property_over_several_calls() -> None:
    test = PropertyTest((Call("f", [1]), Call("f", [2])), "values[0] + 1 == values[1]")
    assert grade("def f(x):\n    return x + 5\n", [test]).passed
    assert not grade("def f(x):\n    return 5\n", [test]).passed
    # what the first call leaves behind is not there for the second
    assert not grade("n = 0\ndef f(x):\n    global n\n    n += 1\n    return n\n", [test]).passed


def test_property_that_an_answer_breaks_is_not_passed() -> None:
    test = PropertyTest((Call("f", []),), "value < 3")
    assert grade("def f():\n    return 'text'\n", [test]).verdict == "wrong_answer"
    assert grade("def f():\n    return [[]] * 9\n", [test]).verdict == "wrong_answer"
    endless = PropertyTest((Call("f", []),), "10 ** value > 0")
    assert grade("def f():\n    return 10**9\n", [endless]).verdict == "wrong_answer"


def test_round_trip() -> None:
    source = "def pack(s):\n    return s[::-1]\n\ndef unpack(s):\n    return s[::-1]\n"
    assert grade(source, [RoundTripTest("pack", "unpack", "abc")]).passed
    remembers = (
        "kept = []\ndef pack(s):\n    kept.append(s)\n    return 0\n"
        "def unpack(n):\n    return kept[n]\n"
    )
    report = grade(remembers, [RoundTripTest("pack", "unpack", "abc")])
    assert report.verdict == "runtime_error"


def test_trusted_checker() -> None:
    def divides(answer: Answer) -> bool | str:
        value = answer.value
        if type(value) is not int or value < 2:
            return f"{value!r} is no divisor above 1"
        return answer.expected % value == 0

    test = CheckerTest(divides, call=Call("f", [12]), expected=12)
    assert grade("def f(n):\n    return 4\n", [test]).passed
    report = grade("def f(n):\n    return 1\n", [test], feedback="full")
    assert report.verdict == "wrong_answer" and "no divisor" in report.tests[0].reason


@pytest.mark.parametrize("said", [1, "", None, [True], object()])
def test_only_true_is_true(said: object) -> None:
    test = CheckerTest(lambda answer: said, stdin="")  # type: ignore[arg-type,return-value]
    assert grade("print(1)", [test]).verdict == "wrong_answer"


def test_checker_that_fails_refuses() -> None:
    def broken(answer: Answer) -> bool:
        raise KeyError(answer.stdout)

    report = grade("print(1)", [CheckerTest(broken, stdin="")], feedback="full")
    assert report.verdict == "wrong_answer" and "checker failed" in report.tests[0].reason


def test_untrusted_checker_has_a_child_of_its_own() -> None:
    checker = (
        "def check(stdin, stdout, value, expected):\n"
        "    return int(stdin) % int(stdout) == 0 and int(stdout) == expected\n"
    )
    test = CheckerTest(checker, stdin="12", expected=3)
    assert grade("print(3)", [test]).passed
    assert grade("print(4)", [test]).verdict == "wrong_answer"
    assert grade("print('x')", [test]).verdict == "wrong_answer"  # the checker raises
    endless = CheckerTest("import os\nos._exit(0)\n", stdin="12")
    assert grade("print(3)", [endless]).verdict == "wrong_answer"


def test_whatever_may_be_answered_reaches_the_checker() -> None:
    """A value, and an output beside it, that together are larger than one value may be."""
    most = csandbox.ValueLimits()
    source = f"def f():\n    print('x' * 900_000)\n    return b'x' * {most.bytes - 64}\n"
    checker = "def check(i, o, v, e):\n    return len(o) == 900_001 and len(v) == e\n"
    test = CheckerTest(checker, call=Call("f"), expected=most.bytes - 64)
    report = grade(source, [test], feedback="full")
    assert report.passed, report.tests[0].reason
    # and the inverse of a round trip
    source = f"def f(x):\n    return [0] * {most.items}\ndef g(xs):\n    return len(xs)\n"
    assert grade(source, [RoundTripTest("f", "g", most.items)]).passed


def test_what_a_checker_cannot_be_given_is_the_callers_mistake() -> None:
    checker = "def check(i, o, v, e):\n    return True\n"
    with pytest.raises(TypeError, match="no plain data"):
        grade(SORT, [CheckerTest(checker, call=Call("sort"), expected=object())])


def test_entries() -> None:
    source = (
        "class Solution:\n    def twice(self, x):\n        return 2 * x\n"
        "    @staticmethod\n    def thrice(x):\n        return 3 * x\n"
    )
    tests = [CallTest("Solution().twice", [2], 4), CallTest("Solution.thrice", [2], 6)]
    assert grade(source, tests).passed


def test_tests_keep_copies() -> None:
    numbers = [1]
    test = CallTest("f", [numbers], numbers)
    numbers.append(2)
    assert test.args == ([1],) and test.expected == [1]
    with pytest.raises(TypeError, match="sequence of arguments"):
        CallTest("f", "text", 1)
    with pytest.raises(ValueError, match="either stdin or call"):
        CheckerTest(lambda answer: True)


NAPS = "import time\ndef f(x=1):\n    time.sleep(0.4)\n    return x\n"
NAPPING_CHECKER = "import time\ndef check(i, o, v, e):\n    time.sleep(0.4)\n    return True\n"


@pytest.mark.parametrize("isolation", ["test", "submission"])
@pytest.mark.parametrize(
    "test",
    [
        PropertyTest((Call("f", [1]), Call("f", [2])), "values == [1, 2]"),
        RoundTripTest("f", "f", 1),
        CheckerTest(NAPPING_CHECKER, call=Call("f", [1])),
    ],
)
def test_the_time_for_all_tests_bounds_every_run_of_one(
    test: PropertyTest | RoundTripTest | CheckerTest, isolation: str
) -> None:
    """Two naps of 0.4 s, each of which has room in 0.6 s."""
    options: dict[str, Any] = {"isolation": isolation, "limits": {"wall_s": 30.0}}
    report = grade(NAPS, [test], total_s=0.6, **options)
    assert report.verdict == "time_limit" and report.score == 0
    assert asyncio.run(agrade(NAPS, [test], total_s=0.6, **options)).verdict == "time_limit"
