"""Grading on a Ray cluster: actors that each hold a Pool. Needs ``csandbox[ray]``.

As `csandbox.grade_many`, over all nodes:

    >>> with csandbox.ray.GraderPool() as pool:
    ...     for place, report in pool.grade_many(pairs):
    ...         print(place, report.score)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

try:
    import ray
except ImportError as _error:
    raise ImportError(
        "csandbox.ray needs Ray, which is not installed here: pip install 'csandbox[ray]'"
    ) from _error

from csandbox._closing import Closing
from csandbox._grade_report import GradeReport
from csandbox._grade_tests import AnyTest
from csandbox._profile import Profile, as_profile
from csandbox.ray._actor import Job
from csandbox.ray._dispatch import Dispatch
from csandbox.ray._slots import LOST, sizes, start

__all__ = ["GraderPool"]

_OF_THE_POOL = ("pool", "profile", "seed")


def _whole(value: Any, name: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{name} must be a whole number from {least} on, not {value!r}")
    return value


class GraderPool(Closing):
    """`grade` and `grade_many` over the nodes of a Ray cluster, with the results of one machine.

    =============== ============================================================================
    profile         as for `Pool`
    actors_per_node actors on each node that is alive and has CPUs in Ray's eyes
    workers         runs at a time in each actor; None: the node's CPUs shared by its actors
    num_cpus        what each actor reserves of Ray's "CPU"; None: as many as it has workers.
                    Ray only places by it and enforces nothing: `workers` is what bounds
    batch           submissions that go to an actor at once
    retries         how often a submission is sent again when its actor was lost; after that its
                    report says internal_error and has no score
    startup_s       the longest that all actors may take to start
    actor_options   more options of Ray's for the actors: ``runtime_env``, ``resources``, …
    pool_options    more keywords of `Pool`: ``limits``, ``preload``, ``spares``, …
    =============== ============================================================================

    Connects to Ray (``ray.init()``) when the process has not. The nodes are those that are there
    when it is made. An actor that is lost is replaced, on its node or on another one; what it had
    under way is sent again. Use it as a context manager, or `close` it.

    Raises SetupError when the actors do not start, and what `Pool` raises.
    """

    def __init__(
        self,
        profile: str | os.PathLike[str] | Profile = "contest",
        *,
        actors_per_node: int = 1,
        workers: int | None = None,
        num_cpus: float | None = None,
        batch: int = 4,
        retries: int = 2,
        startup_s: float = 120.0,
        actor_options: Mapping[str, Any] | None = None,
        **pool_options: Any,
    ) -> None:
        """Start the actors; see the class."""
        self.profile = as_profile(profile)  # a file is read here, the nodes need not have it
        self._batch = _whole(batch, "batch", 1)
        self._retries = _whole(retries, "retries", 0)
        per_node = _whole(actors_per_node, "actors_per_node", 1)
        if workers is not None:
            _whole(workers, "workers", 1)
        if not ray.is_initialized():
            ray.init()
        wanted = sizes(ray.nodes(), actors_per_node=per_node, workers=workers, num_cpus=num_cpus)
        if not wanted:
            raise ValueError("the Ray cluster has no node that is alive and has CPUs")
        make = {"profile": self.profile, "options": pool_options, "actor": actor_options or {}}
        self._slots = start(wanted, make, startup_s)
        self._closed = False

    @property
    def actors(self) -> int:
        """How many actors there are."""
        return len(self._slots)

    @property
    def workers(self) -> int:
        """Runs at a time in all actors together."""
        return sum(slot.size.workers for slot in self._slots)

    def grade_many(
        self,
        pairs: Iterable[tuple[str | bytes, Iterable[AnyTest]]],
        *,
        ordered: bool = True,
        progress: Callable[[int, GradeReport], Any] | None = None,
        seed: int = 0,
        **options: Any,
    ) -> Iterator[tuple[int, GradeReport]]:
        """As `csandbox.grade_many`, on the cluster: the same reports for the same `seed`.

        `pairs` is read only as far ahead as the actors can take (some eight submissions for each
        worker), so it may be endless. A generator that is closed early sends no more; what is on
        its way ends by its limits. `options` are those of `grade`, without profile and pool.
        """
        for name in _OF_THE_POOL:
            if name in options:
                raise TypeError(f"{name} is the GraderPool's own, not one of grade_many's options")
        if self._closed:
            raise ValueError("this GraderPool is closed")
        jobs = (
            Job(place, source, tuple(tests), (seed * 1_000_003 + place) & 0xFFFF_FFFF)
            for place, (source, tests) in enumerate(pairs)
        )
        dispatch = Dispatch(
            self._slots, jobs, options,
            batch=self._batch, retries=self._retries, profile=self.profile.name,
        )  # fmt: skip
        return _reports(dispatch, ordered, progress)

    def grade(
        self, source: str | bytes, tests: Iterable[AnyTest], *, seed: int = 0, **options: Any
    ) -> GradeReport:
        """Grade one submission on any actor."""
        return next(self.grade_many([(source, tests)], seed=seed, **options))[1]

    def stats(self) -> list[dict[str, Any]]:
        """One entry for each actor: node, workers, how often it was lost, pid and what it did."""
        found = []
        for slot in self._slots:
            own: dict[str, Any] = {"node": slot.size.node, "workers": slot.size.workers}
            own["lost"] = slot.lost
            try:
                own |= ray.get(slot.actor.facts.remote())
            except LOST:
                own["pid"] = None
            found.append(own)
        return found

    def close(self) -> None:
        """End the actors and their pools. Harmless when called again; Ray itself stays."""
        if not self._closed:
            self._closed = True
            for slot in self._slots:
                slot.close()

    def __repr__(self) -> str:
        """One line."""
        size = f"{self.actors} actors, {self.workers} workers"
        return f"<csandbox.ray.GraderPool {self.profile.name}: {size}>"


def _reports(
    dispatch: Dispatch, ordered: bool, progress: Callable[[int, GradeReport], Any] | None
) -> Iterator[tuple[int, GradeReport]]:
    for done, (place, report) in enumerate(dispatch.results(ordered), 1):
        if isinstance(report, Exception):
            raise report
        if progress is not None:
            progress(done, report)
        yield place, report
