"""A completion and a row of the data set in, a reward out: what all the faces have in common."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from csandbox._grade import grade
from csandbox._grade_async import agrade
from csandbox._grade_many import grade_many
from csandbox._grade_report import GradeReport
from csandbox._grade_tests import AnyTest
from csandbox.rl._entry import with_class
from csandbox.rl._extract import Extraction, extract, known_strategy
from csandbox.rl._rows import Rows
from csandbox.rl._shaping import Shaping, neutral_to_length

if TYPE_CHECKING:
    from csandbox.ray import GraderPool

_log = logging.getLogger("csandbox.rl")


@dataclass(frozen=True)
class Scored:
    """What came of one completion.

    ``reward`` is **None** when nothing is known: the sandbox failed (``fault`` says how), or the
    row was left out (`Rows`). ``report`` is None when there was no program to grade.
    """

    reward: float | None
    report: GradeReport | None
    extraction: Extraction
    fault: str | None = None

    @property
    def verdict(self) -> str:
        """The report's; "no_code" without a program, "no_tests" for a row that was left out."""
        if self.report is not None:
            return self.report.verdict
        return "no_code" if self.fault is None else "no_tests"


class Scorer:
    """Completions scored by tests.

    =========== ==============================================================================
    extract     how the program is found (`csandbox.rl.extract`)
    shaping     how a grade becomes a reward; nothing by default
    entry       the function that tests are about, for rows that do not say it
    compare     comparison for rows that do not say it
    incomplete  "raise", "drop" or "use": a row of which not all can become tests
    concurrency how many completions are graded at a time, by a batch
    ray         a `csandbox.ray.GraderPool`, to grade batches on a cluster
    grading     more keywords of `csandbox.grade`: profile, limits, isolation, pool, …
    =========== ==============================================================================

    Without a program the reward is that of a program that passes nothing. With
    ``Shaping(partial=True)`` every test runs; else grading ends at the first that is not passed.
    The order of tests is drawn from `seed` and the completion's place in its batch.
    """

    def __init__(
        self,
        *,
        extract: str = "auto",
        shaping: Shaping | None = None,
        entry: str | None = None,
        compare: str | None = None,
        incomplete: str = "raise",
        concurrency: int | None = None,
        ray: GraderPool | None = None,
        **grading: Any,
    ) -> None:
        """Check; see the class."""
        if "stop" in grading:
            raise TypeError("stop is chosen by the reward's shape (partial or not), not given")
        self.strategy = known_strategy(extract)
        self.shaping = shaping or Shaping()
        self.rows = Rows(entry=entry, compare=compare, incomplete=incomplete)
        self.concurrency = concurrency
        self.ray = ray
        self.seed = grading.pop("seed", 0)
        self.grading = {"stop": "never" if self.shaping.partial else "first", **grading}

    def score(self, completion: str, row: Any, **more: Any) -> Scored:
        """Score one; `more` are keywords of `grade` for this one.

        Raises RowError, and what `grade` raises for wrong arguments.
        """
        found = extract(completion, self.strategy)
        tests = self.rows.tests(row)
        if tests is None or found.code is None:
            return self._without_run(found, tests)
        options = {**self.grading, **more}
        report = grade(found.code, with_class(tests, found.code), seed=self.seed, **options)
        return self._scored(found, report)

    async def ascore(self, completion: str, row: Any) -> Scored:
        """`score` for asyncio, without a thread for what runs; cancelled, it is dead when left.

        The row becomes tests in a thread, since a data set's reference may have to run for them.
        """
        found = extract(completion, self.strategy)
        tests = await asyncio.to_thread(self.rows.tests, row)
        if tests is None or found.code is None:
            return self._without_run(found, tests)
        its_tests = with_class(tests, found.code)
        report = await agrade(found.code, its_tests, seed=self.seed, **self.grading)
        return self._scored(found, report)

    def score_many(
        self,
        completions: Sequence[str],
        rows: Sequence[Any],
        groups: Sequence[Hashable] | None = None,
    ) -> list[Scored]:
        """Score a batch, in its order. `groups` tell which completions answer the same prompt."""
        if len(completions) != len(rows):
            raise ValueError(f"{len(completions)} completions for {len(rows)} rows of tests")
        if self.shaping.length_neutral and groups is None:
            raise ValueError("length_neutral needs to know which completions share a prompt")
        found = [extract(text, self.strategy) for text in completions]
        tests = [self.rows.tests(row) for row in rows]
        scored: list[Scored | None] = [None] * len(found)
        pairs: list[tuple[str, Sequence[AnyTest]]] = []
        places: list[int] = []
        for place, (one, its_tests) in enumerate(zip(found, tests, strict=True)):
            if its_tests is None or one.code is None:
                scored[place] = self._without_run(one, its_tests)
            else:
                pairs.append((one.code, with_class(its_tests, one.code)))
                places.append(place)
        for number, report in self._graded(pairs):
            scored[places[number]] = self._scored(found[places[number]], report)
        done = [one for one in scored if one is not None]
        assert len(done) == len(found), "a completion was lost"
        return done if groups is None else self._neutral(done, completions, groups)

    def _graded(
        self, pairs: Sequence[tuple[str, Sequence[AnyTest]]]
    ) -> Iterator[tuple[int, GradeReport]]:
        if self.ray is not None:
            return self.ray.grade_many(pairs, seed=self.seed, **self.grading)
        return grade_many(pairs, concurrency=self.concurrency, seed=self.seed, **self.grading)

    def _neutral(
        self, scored: list[Scored], completions: Sequence[str], groups: Sequence[Hashable]
    ) -> list[Scored]:
        if not self.shaping.length_neutral:
            return scored
        rewards = neutral_to_length(
            [one.reward for one in scored], [len(text) for text in completions], groups
        )
        return [
            Scored(reward, one.report, one.extraction, one.fault)
            for reward, one in zip(rewards, scored, strict=True)
        ]

    def _without_run(self, found: Extraction, tests: Sequence[AnyTest] | None) -> Scored:
        if tests is None:
            return Scored(None, None, found, "the row has no tests that can be used")
        return Scored(self.shaping.reward(0.0, False, False), None, found)

    def _scored(self, found: Extraction, report: GradeReport) -> Scored:
        if report.score is None:
            fault = (
                next((row.reason for row in report if row.verdict == "internal_error"), "")
                or "the sandbox failed, not the code"
            )
            _log.warning("a sample is left out: %s", report.summary())
            return Scored(None, report, found, fault)
        reward = self.shaping.reward(report.score, report.passed, found.well_formed)
        return Scored(reward, report, found)
