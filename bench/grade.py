"""A task's tests as grade() runs them, against running its check() once in a plain interpreter."""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Callable
from typing import Any

import csandbox
from bench.core import Wrong, base_python
from bench.measure import Cost, interleave, ratio, timed
from bench.report import Figure, Section

PLAIN = "check() in python3 -I"
SEPARATE = "grade, a child for each test"
#: The goal of the issue, in its own words: ten times faster.
GOAL = 10.0
SPARES = 16
READY_S = 20.0
#: Of the size of HumanEval's, with as many tests as its tasks have in the middle.
SOLUTION = '''from typing import List


def close_pair(numbers: List[float], threshold: float) -> bool:
    """ Whether any two of the numbers are closer to each other than the threshold.
    >>> close_pair([1.0, 2.0, 3.0], 0.5)
    False
    """
    ordered = sorted(numbers)
    for one, other in zip(ordered, ordered[1:]):
        if other - one < threshold:
            return True
    return False
'''
CHECK = """

def check(candidate):
    assert candidate([1.0, 2.0, 3.9, 4.0, 5.0, 2.2], 0.3) == True
    assert candidate([1.0, 2.0, 3.9, 4.0, 5.0, 2.2], 0.05) == False
    assert candidate([1.0, 2.0, 5.9, 4.0, 5.0], 0.95) == True
    assert candidate([1.0, 2.0, 5.9, 4.0, 5.0], 0.8) == False
    assert candidate([1.0, 2.0, 3.0, 4.0, 5.0, 2.0], 0.1) == True
    assert candidate([1.1, 2.2, 3.1, 4.1, 5.1], 1.0) == True
    assert candidate([1.1, 2.2, 3.1, 4.1, 5.1], 0.5) == False
"""
TESTS = csandbox.load_asserts(CHECK, "close_pair", check="check")


def _ready(pool: csandbox.Pool) -> None:
    """Spares are made ahead of need, and not in the measured time."""
    pool.wait_ready(READY_S)


def _graded(pool: csandbox.Pool, **options: Any) -> Callable[[], Cost]:
    def work() -> None:
        report = csandbox.grade(SOLUTION, TESTS, pool=pool, **options)
        if not report.passed:
            raise Wrong(str(report))

    def measure() -> Cost:
        _ready(pool)
        return timed(work)

    return measure


def _plain() -> Cost:
    text = f"{SOLUTION}{CHECK}\n\ncheck(close_pair)\n"
    return timed(lambda: subprocess.run([base_python(), "-I", "-c", text], check=True))


def _rate(pool: csandbox.Pool, count: int, isolation: str) -> float:
    """Submissions a second, two at a time."""
    began = time.perf_counter()
    pairs = [(SOLUTION, TESTS)] * count
    graded = csandbox.grade_many(pairs, concurrency=2, isolation=isolation, pool=pool)
    if sum(report.passed for _, report in graded) != count:
        raise Wrong("a right submission was not passed")
    return count / (time.perf_counter() - began)


def grade(rounds: int, submissions: int) -> Section:
    """Seven tests, each in a fresh child; and submissions a second."""
    with csandbox.Pool("contest", workers=8, spares=SPARES) as pool:
        pool.wait_ready(READY_S)
        samples = interleave(
            {
                PLAIN: _plain,
                SEPARATE: _graded(pool),
                "the same, stop=never": _graded(pool, stop="never"),
                "the same, one after the other": _graded(pool, at_once=1),
                "grade, one child for all": _graded(pool, isolation="submission"),
            },
            rounds,
            before=lambda: _ready(pool),
        )
        rates = {
            isolation: statistics.median(_rate(pool, submissions, isolation) for _ in range(3))
            for isolation in ("test", "submission")
        }
    by = 1 / ratio(samples, SEPARATE, PLAIN)["p50"]
    figures = [Figure("grade, times faster than python3 -I", by, "x", least=GOAL)]
    figures += [
        Figure(f"submissions a second, isolation={name}", rate, "/s")
        for name, rate in rates.items()
    ]
    return Section(
        key="grade",
        title=f"grading a task of {len(TESTS)} tests, spares ready",
        base=PLAIN,
        samples=samples,
        figures=figures,
        notes=["submissions a second: two at a time on all CPUs, spares made meanwhile"],
        cpu=False,
    )
