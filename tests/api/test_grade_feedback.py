"""What a submitter is told, and that nothing of a hidden test is in it."""

from __future__ import annotations

import json

import pytest

from csandbox import CallTest, GradeReport, InProcessTest, StdioTest, grade

SECRET = "swordfish"
WANTED = "perch"
#: Carries its input into everything that a run gives back.
LEAK = """
import sys
text = sys.stdin.read()
print("out", text)
print("err", text, file=sys.stderr)
"""
LEAK_CALL = """
import sys

def f(text):
    print("out", text)
    print("err", text, file=sys.stderr)
    if text.startswith("!"):
        raise ValueError("message " + text)
    return "value " + text
"""


def all_of(report: GradeReport) -> str:
    """Everything that a report can be made to say."""
    shown = (report.feedback, str(report), repr(report), report._repr_html_(), report.summary())
    return json.dumps(report.to_dict()) + "".join(shown) + repr(report.tests)


@pytest.mark.parametrize("level", ["none", "counts", "first", "full"])
@pytest.mark.parametrize("isolation", ["test", "submission"])
def test_hidden_tests_show_nothing(level: str, isolation: str) -> None:
    tests = [
        CallTest("f", [SECRET], WANTED, hidden=True),
        CallTest("f", ["!" + SECRET], WANTED, hidden=True),
    ]
    report = grade(
        LEAK_CALL, tests, stop="never", feedback=level, isolation=isolation, profile="open"
    )
    assert not report.passed
    assert SECRET not in all_of(report) and WANTED not in all_of(report)
    report = grade(LEAK, [StdioTest(SECRET, WANTED, hidden=True)], feedback=level)
    assert SECRET not in all_of(report) and WANTED not in all_of(report)


@pytest.mark.parametrize(
    ("level", "has_input", "has_expected"),
    [
        ("none", False, False),
        ("counts", False, False),
        ("first", True, False),
        ("full", True, True),
    ],
)
def test_levels(level: str, has_input: bool, has_expected: bool) -> None:
    report = grade(LEAK_CALL, [CallTest("f", [SECRET], WANTED)], feedback=level)
    assert (SECRET in all_of(report)) is has_input
    assert (WANTED in all_of(report)) is has_expected
    assert (report.feedback == "") is (level == "none")
    assert ("0 of 1 tests passed" in report.feedback) is (level != "none")


def test_first_shows_one_and_full_shows_all() -> None:
    tests = [
        CallTest("f", [SECRET], WANTED, hidden=True),
        CallTest("f", ["alpha"], WANTED),
        CallTest("f", ["beta"], WANTED),
        CallTest("f", ["right"], "value right"),
    ]
    first = grade(LEAK_CALL, tests, stop="never", feedback="first")
    assert "alpha" in first.feedback and "beta" not in all_of(first)
    full = grade(LEAK_CALL, tests, stop="never", feedback="full")
    assert "alpha" in full.feedback and "beta" in full.feedback and "right" not in full.feedback
    assert "1 hidden not passed" in full.feedback and SECRET not in all_of(full)


def test_hidden_failures_are_not_told_apart() -> None:
    """A verdict is some bits of the input's; of hidden tests the text has only their number."""
    crash = grade("1/0", [StdioTest("x", "y", hidden=True)], feedback="full")
    wrong = grade("print()", [StdioTest("x", "y", hidden=True)], feedback="full")
    assert crash.feedback == wrong.feedback


def test_weak_tests_are_said_to_be_weak() -> None:
    test = InProcessTest("assert f(2) == 4", id="weak")
    source = "def f(x):\n    return x * 2\n"
    with pytest.raises(ValueError, match="allow_weak"):
        grade(source, [test])
    report = grade(source, [test], allow_weak=True)
    assert report.passed and report.trust == "weak" and "weak" in report.summary()
    assert not grade("def f(x): return 5\n", [test], allow_weak=True).passed
    exits = "import sys\nsys.exit(0)\n"
    assert grade(exits, [test], allow_weak=True).verdict == "runtime_error"


def test_what_a_hidden_test_left_is_not_shown_by_another() -> None:
    """In one child a submission remembers; so hidden tests have a child of their own."""
    source = "kept = []\n\ndef f(text):\n    kept.append(text)\n    print(kept)\n    return kept\n"
    tests = [
        CallTest("f", [SECRET], WANTED, hidden=True),
        CallTest("f", ["open"], "right"),
        CallTest("f", ["also open"], "right"),
    ]
    for seed in range(3):
        report = grade(
            source, tests, isolation="submission", stop="never", feedback="full", seed=seed
        )
        assert SECRET not in all_of(report) and "also open" in report.feedback


#: What it does depends on its input in every way that a report has a figure or a word for.
SHAPE_CALL = """
import sys, time

def f(text):
    odd = text == "one"
    print("x" * (10 if odd else 1000))
    print("y" * (20 if odd else 2000), file=sys.stderr)
    held = bytearray(1 if odd else 40_000_000)
    if odd:
        end = time.process_time() + 0.1
        while time.process_time() < end:
            pass
    else:
        time.sleep(0.2)
    return [held[0]] * (1 if odd else 50)
"""
SHAPE_END = """
def f(text):
    if text == "one":
        raise ValueError("a message")
    import os
    os._exit(0)
"""
SHAPE_LIMIT = """
import time

def f(text):
    if text == "one":
        time.sleep(30)
    while True:
        pass
"""


@pytest.mark.parametrize("level", ["none", "counts", "first", "full"])
@pytest.mark.parametrize("source", [SHAPE_CALL, SHAPE_END, SHAPE_LIMIT])
def test_of_a_hidden_test_nothing_but_the_verdict_can_be_told(level: str, source: str) -> None:
    """Two hidden inputs that a submission tells apart, with one verdict: all forms are the same."""
    found = []
    for word in ("one", "two"):
        report = grade(
            source,
            [CallTest("f", [word], "expected " + word, hidden=True)],
            feedback=level, seed=1, profile="open", limits={"cpu_s": 0.3, "wall_s": 0.8},
        )  # fmt: skip
        data = json.dumps(report.to_dict())
        found.append((data, str(report), repr(report), report._repr_html_(), report.feedback,
                      repr(report.tests), report.usage))  # fmt: skip
        assert report.total_usage.wall_s > 0  # which the caller has all the same
    assert found[0] == found[1]
