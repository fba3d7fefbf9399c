"""grade() and grade_many() for event loops: the same steps, and no Python thread for any."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

from csandbox._errand import adone
from csandbox._flight import Flight
from csandbox._grade import Plan
from csandbox._grade_many import Pair, own_seed, width_of
from csandbox._grade_report import GradeReport
from csandbox._grade_tests import AnyTest
from csandbox._sizing import usable_cpus


async def agrade(source: str | bytes, tests: Iterable[AnyTest], **options: Any) -> GradeReport:
    """`grade` for asyncio and trio: no Python thread waits, and many may be on at once.

    The keywords are those of `grade` but for ``at_once``: its tests run one after the other. The
    report is the same. Cancelled, it has killed what runs (and with isolation="submission" the
    child that is branched) and waited for its end before it is left. The guard, comparisons and
    checkers that are functions run in the loop's thread, some milliseconds for usual sources and
    answers; what takes longer belongs into a checker that is source, or into
    ``asyncio.to_thread(grade, …)``.
    """
    return await adone(Plan.make(source, tests, **options).steps())


def agrade_many(
    pairs: Iterable[Pair],
    *,
    concurrency: int | None = None,
    ordered: bool = True,
    progress: Callable[[int, GradeReport], Any] | None = None,
    seed: int = 0,
    **options: Any,
) -> AsyncIterator[tuple[int, GradeReport]]:
    """`grade_many` as an async iterator, for asyncio and trio, without Python threads.

    At most `concurrency` are graded at once (default: two for each CPU that this process may use).
    The reports are those of `grade_many` with the same `seed`. Closing the iterator early, or
    cancelling the task that reads it, kills what runs and waits for its end.
    """
    width = width_of(concurrency, 2 * usable_cpus())
    return _agraded(pairs, width, ordered, progress, seed, options)


async def _agraded(
    pairs: Iterable[Pair],
    width: int,
    ordered: bool,
    progress: Callable[[int, GradeReport], Any] | None,
    seed: int,
    options: dict[str, Any],
) -> AsyncIterator[tuple[int, GradeReport]]:
    from csandbox._async import readable  # asyncio only where it is used

    source = enumerate(pairs)
    flight: Flight[GradeReport] = Flight()
    done, more = 0, True
    try:
        while more or len(flight) or flight.ready:
            while more and len(flight) < width and len(flight) + len(flight.ready) < 2 * width:
                following = next(source, None)
                if following is None:
                    more = False
                    break
                place, (submission, tests) = following
                own = own_seed(seed, place)
                plan = Plan.make(submission, tests, seed=own, **options)
                flight.begin(place, plan.steps())
            wanted = done if ordered else next(iter(flight.ready), None)
            if wanted is None or wanted not in flight.ready:
                await readable(flight.fileno())
                flight.take(0.0)
                continue
            report = flight.ready.pop(wanted)
            if isinstance(report, Exception):
                raise report
            done += 1
            if progress is not None:
                progress(done, report)
            yield wanted, report
    finally:
        flight.end()
