"""grade_many(): bounded, lazy, in order or not, and the same every time."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from csandbox import CallTest, GradeReport, StdioTest, grade_many

TESTS = [CallTest("f", [n], n) for n in range(3)]
GOOD, BAD = "def f(x):\n    return x\n", "def f(x):\n    return -1\n"


def test_in_order_and_deterministic() -> None:
    pairs = [(GOOD if n % 2 else BAD, TESTS) for n in range(6)]
    options = {"isolation": "submission", "stop": "never", "seed": 4}
    runs = [list(grade_many(pairs, concurrency=c, **options)) for c in (1, 3)]  # type: ignore[arg-type]
    assert [place for place, _ in runs[0]] == list(range(6))
    for (_, one), (_, other) in zip(*runs, strict=True):
        assert one.seed == other.seed and one.score == other.score
        assert [r.verdict for r in one] == [r.verdict for r in other]
    assert [report.passed for _, report in runs[0]] == [False, True] * 3


def test_as_they_finish() -> None:
    slow = "import time\ntime.sleep(1.5)\nprint(1)\n"
    pairs = [(slow, [StdioTest("", "1")]), ("print(1)\n", [StdioTest("", "1")])]
    places = [place for place, _ in grade_many(pairs, concurrency=2, ordered=False)]
    assert places == [1, 0]


def test_lazy_bounded_and_progress() -> None:
    taken = []
    running, most = [0], [0]
    threads = threading.active_count()

    def pairs() -> Iterator[tuple[str, list[CallTest]]]:
        while True:  # endless
            taken.append(1)
            yield GOOD, TESTS

    def progress(done: int, report: GradeReport) -> None:
        running[0] += 1
        most[0] = max(most[0], done)
        assert threading.active_count() == threads and report.passed

    graded = grade_many(pairs(), concurrency=2, isolation="submission", progress=progress)
    assert [next(graded)[0] for _ in range(3)] == [0, 1, 2]
    graded.close()  # type: ignore[attr-defined]
    assert len(taken) <= 8 and running == [3] and most == [3]


def test_left_early_kills_what_runs() -> None:
    sleeps = "import time\ndef f(x):\n    time.sleep(300)\n"
    limits = {"wall_s": 300.0}
    pairs = [(GOOD, TESTS), (sleeps, TESTS), (sleeps, TESTS)]
    for isolation in ("test", "submission"):
        graded = grade_many(pairs, concurrency=2, limits=limits, isolation=isolation)
        assert next(graded)[1].passed
        graded.close()  # type: ignore[attr-defined]


def test_a_callers_mistake_is_raised() -> None:
    with pytest.raises(ValueError, match="no tests"):
        list(grade_many([(GOOD, TESTS), (GOOD, [])], isolation="submission"))
    with pytest.raises(ValueError, match="concurrency"):
        grade_many([], concurrency=0)
    assert list(grade_many([])) == []
