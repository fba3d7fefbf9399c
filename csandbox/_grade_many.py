"""grade_many(), agrade_many(): many submissions, some at once, in order or as they finish.

Both carry out the same `_Many`; they differ in how they wait for it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any

from csandbox._flight import Flight
from csandbox._grade import Plan
from csandbox._grade_report import GradeReport
from csandbox._grade_tests import AnyTest
from csandbox._sizing import usable_cpus

Pair = tuple["str | bytes", Iterable[AnyTest]]
_LOOK_S = 0.1  # a wait looks at Python's signals this often


def grade_many(
    pairs: Iterable[Pair],
    *,
    concurrency: int | None = None,
    ordered: bool = True,
    progress: Callable[[int, GradeReport], Any] | None = None,
    seed: int = 0,
    **options: Any,
) -> Iterator[tuple[int, GradeReport]]:
    """Grade (submission, tests) pairs; yields (place, report), place counted from 0.

    At most `concurrency` are graded at once (default: two for each CPU that this process may use),
    and at most twice as many are taken from `pairs` ahead of what was yielded, so that `pairs` may
    be endless. With ``ordered=False`` they come as they finish. `progress` is called with the
    number that are done and the report, just before it is yielded.

    The report of a pair depends on its place and `seed`, not on what runs beside it: the order of
    its tests is drawn from both. `options` are those of `grade`; ``at_once`` has no effect, the
    tests of one pair run one after the other. No thread is started: the guard, comparisons and
    checkers that are functions run in the caller's. When grading raises, that is raised in place of
    the report. A generator that is closed early, or left by an exception, kills what runs and waits
    for its end.
    """
    return _graded(_Many(pairs, concurrency, ordered, progress, seed, options))


def agrade_many(
    pairs: Iterable[Pair],
    *,
    concurrency: int | None = None,
    ordered: bool = True,
    progress: Callable[[int, GradeReport], Any] | None = None,
    seed: int = 0,
    **options: Any,
) -> AsyncIterator[tuple[int, GradeReport]]:
    """`grade_many` as an async iterator, for asyncio and trio: the same reports.

    Closing the iterator early, or cancelling the task that reads it, kills what runs and waits for
    its end.
    """
    return _agraded(_Many(pairs, concurrency, ordered, progress, seed, options))


def _graded(many: _Many) -> Iterator[tuple[int, GradeReport]]:
    try:
        while many.going():
            item = many.following()
            if item is None:
                many.flight.take(_LOOK_S)
            else:
                yield item
    finally:
        many.flight.end()


async def _agraded(many: _Many) -> AsyncIterator[tuple[int, GradeReport]]:
    from csandbox._async import readable  # asyncio only where it is used

    try:
        while many.going():
            item = many.following()
            if item is None:
                await readable(many.flight.fileno())
                many.flight.take(0.0)
            else:
                yield item
    finally:
        many.flight.end()


class _Many:
    """Pairs that are taken as they are needed, gradings on their way, reports to be handed over."""

    def __init__(
        self,
        pairs: Iterable[Pair],
        concurrency: int | None,
        ordered: bool,
        progress: Callable[[int, GradeReport], Any] | None,
        seed: int,
        options: dict[str, Any],
    ) -> None:
        width = 2 * usable_cpus() if concurrency is None else concurrency
        if isinstance(width, bool) or not isinstance(width, int) or width < 1:
            raise ValueError(f"concurrency must be a whole number above 0, not {concurrency!r}")
        self._width = width
        self._pairs = enumerate(pairs)
        self._more = True
        self._ordered = ordered
        self._progress = progress
        self._seed = seed
        self._options = options
        self._done = 0
        self.flight: Flight[GradeReport] = Flight()

    def going(self) -> bool:
        """Begin what there is room for; whether a report is still to come."""
        flight = self.flight
        while self._more and len(flight) < self._width and self._held < 2 * self._width:
            following = next(self._pairs, None)
            if following is None:
                self._more = False
            else:
                place, (submission, tests) = following
                own = (self._seed * 1_000_003 + place) & 0xFFFF_FFFF
                plan = Plan.make(submission, tests, seed=own, **self._options)
                flight.begin(place, plan.steps())
        return self._held > 0

    @property
    def _held(self) -> int:
        return len(self.flight) + len(self.flight.ready)

    def following(self) -> tuple[int, GradeReport] | None:
        """The next one to hand over, when it is ready. Raises what its grading raised."""
        ready = self.flight.ready
        place = self._done if self._ordered else next(iter(ready), self._done)
        if place not in ready:
            return None
        report = ready.pop(place)
        if isinstance(report, Exception):
            raise report
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, report)
        return place, report
