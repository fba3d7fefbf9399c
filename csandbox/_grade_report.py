"""What came of grading: one row per test, a score, and what the submitter may be told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from csandbox._grade_table import as_html, as_text
from csandbox._grade_verdicts import worst
from csandbox._result import Usage


def added(usages: Iterable[Usage]) -> Usage:
    """The times added, and the largest memory."""
    rows = list(usages)
    return Usage(
        sum(u.cpu_s for u in rows),
        sum(u.wall_s for u in rows),
        sum(u.startup_s for u in rows),
        max((u.peak_memory_bytes for u in rows), default=0),
    )


@dataclass(frozen=True)
class TestResult:
    """One test's row.

    ``verdict`` is one of `Result`'s words, or wrong_answer, presentation, skipped. ``reason`` says
    in words why, without data of the test or of the run. The fields below it hold data and are
    empty unless the feedback level shows them and the test is not hidden: ``input``, ``stdout``,
    ``stderr`` and ``value`` are excerpts of the one run, ``difference`` names the first difference
    and holds the expected value. The row of a hidden test has no ``usage`` and no ``limit_hit``
    either, because a submission can choose them by its input. ``trust`` is "weak" for tests in the
    submission's process.
    """

    __test__ = False  # this is no test of pytest's

    id: str
    verdict: str
    weight: float = 1.0
    limit_hit: str | None = None
    usage: Usage = field(default_factory=Usage)
    hidden: bool = False
    trust: str = "sound"
    attempts: int = 1
    violations: tuple[str, ...] = ()
    reason: str = ""
    input: str = ""
    stdout: str = ""
    stderr: str = ""
    value: str = ""
    difference: str = ""

    @property
    def passed(self) -> bool:
        """Whether this test has positive evidence: it ran, answered in time, and was right."""
        return self.verdict == "accepted"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            **vars(self),
            "passed": self.passed,
            "usage": self.usage.to_dict(),
            "violations": list(self.violations),
        }


@dataclass(frozen=True, repr=False)
class GradeReport:
    """What came of grading one submission. Immutable, picklable.

    ``score`` is the passed share of the weights, in [0, 1], or **None** when the sandbox failed on
    a test after a retry: then nothing is known, and it is not 0. ``passed`` is True when every test
    passed. ``verdict`` is the worst of the tests'. ``tests`` has one row per test in the order in
    which they were given; `seed` made the order in which they ran. ``isolation`` is the one that
    was carried out; where it is another than was asked for, ``isolation_note`` says why.

    ``str()``, `to_dict` and the table of notebooks are cut to ``feedback_level``, so that they may
    be shown as they are: of hidden tests they have ids, weights and verdicts. ``feedback`` is the
    text made for the submitter; it has no test ids and no times. ``wall_s`` and ``total_usage``
    (times added, the largest memory) count hidden tests too, and are for you alone.
    """

    tests: tuple[TestResult, ...]
    score: float | None
    feedback_level: str = "none"
    feedback: str = ""
    seed: int = 0
    isolation: str = "test"
    isolation_note: str = ""
    layers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    profile: str = ""
    wall_s: float = 0.0
    total_usage: Usage = field(default_factory=Usage)

    @property
    def passed(self) -> bool:
        """Whether every test passed."""
        return bool(self.tests) and all(row.passed for row in self.tests)

    @property
    def verdict(self) -> str:
        """The worst of the tests' verdicts."""
        return worst(row.verdict for row in self.tests)

    @property
    def trust(self) -> str:
        """Say "weak" when any test shared its process with the submission, else "sound"."""
        return "weak" if any(row.trust == "weak" for row in self.tests) else "sound"

    @property
    def counts(self) -> Mapping[str, int]:
        """How many tests got each verdict."""
        return MappingProxyType(dict(Counter(row.verdict for row in self.tests)))

    @property
    def usage(self) -> Usage:
        """Sums of the times, and the largest memory, of the tests that are not hidden."""
        return added(row.usage for row in self.tests)

    def __iter__(self) -> Iterator[TestResult]:
        """The rows."""
        return iter(self.tests)

    def __len__(self) -> int:
        """How many tests there were."""
        return len(self.tests)

    def __bool__(self) -> bool:
        """The same as ``passed``: a report that is short or empty is never true."""
        return self.passed

    def summary(self) -> str:
        """One sentence for people."""
        total = len(self.tests)
        good = sum(row.passed for row in self.tests)
        if self.score is None:
            broken = self.counts.get("internal_error", 0)
            return (
                f"internal_error: the sandbox failed on {broken} of {total} tests, "
                "not the code; there is no score"
            )
        words = f"{self.verdict}: {good} of {total} tests passed, score {self.score:.3g}"
        return words + (" (trust: weak)" if self.trust == "weak" else "")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON. ``wall_s`` is None when there are hidden tests."""
        hidden = any(row.hidden for row in self.tests)
        return {
            "passed": self.passed,
            "score": self.score,
            "verdict": self.verdict,
            "trust": self.trust,
            "counts": dict(self.counts),
            "feedback_level": self.feedback_level,
            "feedback": self.feedback,
            "seed": self.seed,
            "isolation": self.isolation,
            "isolation_note": self.isolation_note,
            "layers": dict(self.layers),
            "profile": self.profile,
            "wall_s": None if hidden else self.wall_s,
            "usage": self.usage.to_dict(),
            "tests": [row.to_dict() for row in self.tests],
        }

    def __str__(self) -> str:
        """A table of the tests and the summary."""
        return as_text(self.tests, self.summary())

    def __repr__(self) -> str:
        """The same; a prompt shows it."""
        return str(self)

    def _repr_html_(self) -> str:
        """A table for notebooks; everything in it is escaped."""
        return as_html(self.tests, self.summary())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as plain data; MappingProxyType itself cannot be pickled."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        values["layers"] = dict(self.layers)
        return _rebuild, (values,)


def _rebuild(values: dict[str, Any]) -> GradeReport:
    values["layers"] = MappingProxyType(values["layers"])
    return GradeReport(**values)
