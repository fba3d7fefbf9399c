"""Every published way of talking a grader into it is refused, and what looks like it passes.

Hacks run with the guard off (profile open), so that what refuses them is the process design and not
a rule; their twins run with it on (profile contest), so that nobody honest pays for it.
"""

from __future__ import annotations

import random

import pytest

import csandbox
from tests.confined import in_parallel
from tests.hacks.kit import MODES, Technique, plain_verdict, techniques

BY_NAME = {technique.name: technique for technique in techniques()}
#: users.md §5.3: rows that a program can try. H18 is here by its hidden tests, H20 and H34 are
#: tested apart: the first is `InProcessTest`, the second is tests/escape.
ROWS = {f"H{number}" for number in range(1, 34)} - {"H20"}


def graded(
    technique: Technique, which: str, mode: str, isolation: str = "test"
) -> csandbox.GradeReport:
    twin = technique.head.get("twin profile", "contest")
    tests = technique.tests(mode)
    # A hack is refused by its first test; a twin has to pass all, and each is a process.
    kept = tests if which == "hack" or mode == "call" else tests[:2]
    isolation = technique.head.get("isolation", isolation)
    return csandbox.grade(
        technique.source(which, mode),
        kept,
        profile="open" if which == "hack" else twin,
        limits=technique.limits,
        isolation="submission" if which == "honest" and mode == "call" else isolation,
        stop="never" if "nothing passes" in technique.head else "first",
        feedback="full",
        seed=SEED,
    )


SEED = 3  # not the order in which the tests are given


def wrong_of_a_hack(report: csandbox.GradeReport) -> bool:
    """Passed, or without a score: neither must be in a submission's power."""
    return report.passed or report.score is None or "internal_error" in report.counts


@pytest.mark.parametrize(
    ("mode", "isolation"), [*((m, "test") for m in MODES), ("call", "submission")]
)
def test_hacks_are_refused(mode: str, isolation: str) -> None:
    # All of them in one test: the pool behind the runs lives as long as a test does.
    reports = in_parallel(lambda t: graded(t, "hack", mode, isolation), techniques(), width=2)
    pairs = list(zip(techniques(), reports, strict=True))
    wrong = [f"{t.name}:\n{report}" for t, report in pairs if wrong_of_a_hack(report)]
    wrong += [
        f"{t.name} passes a test:\n{report}"
        for t, report in pairs
        if "nothing passes" in t.head and report.score != 0
    ]
    assert not wrong, "\n".join(wrong)
    assert all(report.score is not None and report.score < 1 for report in reports)


@pytest.mark.parametrize("mode", MODES)
def test_honest_twins_pass(mode: str) -> None:
    reports = in_parallel(lambda t: graded(t, "honest", mode), techniques(), width=2)
    pairs = zip(techniques(), reports, strict=True)
    wrong = [f"{t.name}:\n{report}\n{report.feedback}" for t, report in pairs if not report.passed]
    assert not wrong, "\n".join(wrong)


def test_the_kit_covers_every_row_of_the_catalogue() -> None:
    named = " ".join(technique.head["technique"] for technique in techniques())
    assert {row for row in ROWS if row not in named.replace(",", " ").split()} == set()
    assert len(techniques()) >= 34


def test_marks_would_be_followed() -> None:
    """In one process the hack gives every answer: what refuses it is that nothing is shared."""
    technique = BY_NAME["79_marks_between_branches"]
    order = list(technique.cases)
    random.Random(SEED).shuffle(order)
    with csandbox.Session("open") as session:
        session.run(technique.source("hack", "call"))
        values = [session.call("solve", args).value for args, _ in order]
    assert values == [expected for _, expected in order]
    report = graded(technique, "hack", "call")
    assert report.isolation == "submission", report.isolation_note


def test_a_plain_grader_is_talked_into_it() -> None:
    said = in_parallel(lambda t: plain_verdict(t, "hack"), techniques(), width=2)
    expected = [technique.head["plain grader"] for technique in techniques()]
    wrong = [
        f"{t.name}: {s}, not {e}"
        for t, s, e in zip(techniques(), said, expected, strict=True)
        if s != e
    ]
    assert not wrong, "\n".join(wrong)


def test_the_plain_grader_accepts_the_twins() -> None:
    """So that what it accepts of the hacks is not because it accepts nothing, or all."""
    said = in_parallel(lambda t: plain_verdict(t, "honest"), techniques(), width=2)
    assert {
        t.name for t, word in zip(techniques(), said, strict=True) if word != "accepted"
    } == set()
    assert plain_verdict(BY_NAME["39_hard_coded"], "hack") == "refused"
