"""grade_many(): many submissions, bounded concurrency, in order or as they finish."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from csandbox._grade import grade
from csandbox._grade_report import GradeReport
from csandbox._grade_tests import AnyTest
from csandbox._sizing import usable_cpus

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Pair = tuple["str | bytes", Iterable[AnyTest]]


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

    At most `concurrency` are graded at once (default: one for each CPU that this process may use),
    and at most twice as many are taken from `pairs` ahead of what was yielded, so that `pairs` may
    be endless. With ``ordered=False`` they come as they finish. `progress` is called in the
    caller's thread with the number that are done and the report, just before it is yielded.

    The report of a pair depends on its place and `seed`, not on what runs beside it: the order of
    its tests is drawn from both. `options` are those of `grade`, with ``at_once=1``. When grading
    raises, that is raised in place of the report, after those that run have ended; a generator that
    is closed early waits for those that run, and starts no more.
    """
    width = width_of(concurrency, usable_cpus())
    return _graded(pairs, width, ordered, progress, seed, options)


def width_of(concurrency: int | None, default: int) -> int:
    """How many at once; ValueError for what is no such number."""
    width = default if concurrency is None else concurrency
    if isinstance(width, bool) or not isinstance(width, int) or width < 1:
        raise ValueError(f"concurrency must be a whole number above 0, not {concurrency!r}")
    return width


def own_seed(seed: int, place: int) -> int:
    """The seed of one pair, from that of all and its place."""
    return (seed * 1_000_003 + place) & 0xFFFF_FFFF


def _graded(
    pairs: Iterable[Pair],
    width: int,
    ordered: bool,
    progress: Callable[[int, GradeReport], Any] | None,
    seed: int,
    options: dict[str, Any],
) -> Iterator[tuple[int, GradeReport]]:
    source = enumerate(pairs)
    # Here, since it brings logging, which `import csandbox` does not need.
    from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

    waiting: deque[tuple[int, Future[GradeReport]]] = deque()
    done = 0

    def fill(pool: ThreadPoolExecutor) -> None:
        while len(waiting) < 2 * width:
            try:
                place, (submission, tests) = next(source)
            except StopIteration:
                return
            own = own_seed(seed, place)
            work = pool.submit(grade, submission, tests, seed=own, **{"at_once": 1, **options})
            waiting.append((place, work))

    with ThreadPoolExecutor(width, thread_name_prefix="csandbox-grade") as pool:
        try:
            fill(pool)
            while waiting:
                if not ordered:
                    wait([work for _, work in waiting], return_when=FIRST_COMPLETED)
                    waiting.rotate(-next(i for i, (_, w) in enumerate(waiting) if w.done()))
                place, work = waiting.popleft()
                report = work.result()
                done += 1
                if progress is not None:
                    progress(done, report)
                yield place, report
                fill(pool)
        finally:
            for _, work in waiting:
                work.cancel()
