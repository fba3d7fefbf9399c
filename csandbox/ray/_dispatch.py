"""Sends batches to actors and takes what comes: bounded, in order or not, nothing lost or doubled.

A batch's reports come through one reference, so they arrive together or not at all: what was on a
lost actor is sent again, each alone, and no report can be counted twice.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ray

from csandbox._errors import SetupError
from csandbox._grade_report import GradeReport, TestResult
from csandbox._grade_tests import AnyTest
from csandbox.ray._actor import Job
from csandbox.ray._slots import LOST, Slot

Found = tuple[int, "GradeReport | Exception"]


@dataclass
class _Batch:
    jobs: list[Job]
    slot: Slot
    actor: Any
    attempt: int


def lost_report(tests: Sequence[AnyTest], attempts: int, seed: int, profile: str) -> GradeReport:
    """The report of a submission whose actors were all lost: nothing is known, no score."""
    why = f"the Ray actor was lost, {attempts} times"
    rows = tuple(
        TestResult(
            test.id or str(place), "internal_error", test.weight, hidden=test.hidden,
            trust=test.trust, attempts=attempts, reason=why,
        )
        for place, test in enumerate(tests, 1)
    )  # fmt: skip
    return GradeReport(rows, None, seed=seed, profile=profile)


class Dispatch:
    """One `grade_many`: its input, what is on its way, what has come."""

    def __init__(
        self,
        slots: Sequence[Slot],
        jobs: Iterable[Job],
        options: Mapping[str, Any],
        *,
        batch: int,
        retries: int,
        profile: str,
    ) -> None:
        """Nothing is sent yet."""
        self._profile = profile
        self._slots = slots
        self._source = iter(jobs)
        self._options = dict(options)
        self._size = batch
        self._retries = retries
        self._again: deque[tuple[Job, int]] = deque()
        self._flying: dict[Any, _Batch] = {}
        self._ready: dict[int, GradeReport | Exception] = {}
        self._more = True

    def _on(self, slot: Slot) -> list[_Batch]:
        return [batch for batch in self._flying.values() if batch.slot is slot]

    def _room(self, slot: Slot) -> int:
        """How many more submissions the actor may have: two for each worker, and a batch."""
        here = self._on(slot)
        if any(batch.attempt > 1 for batch in here):
            return 0
        used = sum(len(batch.jobs) for batch in here)
        return max(0, 2 * slot.size.workers + self._size - 1 - used)

    def _next_jobs(self, most: int) -> list[Job]:
        jobs: list[Job] = []
        while self._more and len(jobs) < min(most, self._size):
            try:
                jobs.append(next(self._source))
            except StopIteration:
                self._more = False
        return jobs

    def _held(self) -> int:
        flying = sum(len(b.jobs) for b in self._flying.values())
        return flying + len(self._ready)

    def _usable(self) -> list[Slot]:
        usable = [slot for slot in self._slots if slot.usable]
        if not usable:
            raise SetupError(
                step="ray",
                message="every Ray actor was lost several times in a row; see Ray's logs",
            )
        return usable

    def _fill(self) -> None:
        """Send what there is room for; what was lost goes first, and each of it alone.

        A submission may be what its actor died of. Alone, it can only take itself along.
        """
        while self._again:
            idle = [slot for slot in self._usable() if not self._on(slot)]
            if not idle:
                return
            job, attempt = self._again.popleft()
            self._send([job], idle[0], attempt)
        while self._more:
            usable = self._usable()
            # In order, what is finished waits for an earlier one: that bounds what is taken ahead.
            most = 4 * sum(2 * slot.size.workers + self._size for slot in usable)
            slot = max(usable, key=self._room)
            jobs = self._next_jobs(min(self._room(slot), most - self._held()))
            if not jobs:
                return
            self._send(jobs, slot, 1)

    def _send(self, jobs: list[Job], slot: Slot, attempt: int) -> None:
        actor = slot.actor
        try:
            reference = actor.grade.remote(jobs, self._options)
        except LOST:
            slot.renew(actor)
            self._lost(jobs, attempt)
        else:
            self._flying[reference] = _Batch(jobs, slot, actor, attempt)

    def _lost(self, jobs: Sequence[Job], attempt: int) -> None:
        for job in jobs:
            if attempt > self._retries:
                self._ready[job.place] = lost_report(job.tests, attempt, job.seed, self._profile)
            else:
                self._again.append((job, attempt + 1))

    def _take(self) -> None:
        done, _ = ray.wait(list(self._flying), num_returns=1)
        for reference in done:
            batch = self._flying.pop(reference)
            try:
                found: list[Found] = ray.get(reference)
            except LOST:
                batch.slot.renew(batch.actor)
                self._lost(batch.jobs, batch.attempt)
            else:
                batch.slot.worked()
                self._ready.update(found)

    def results(self, ordered: bool) -> Iterator[Found]:
        """(place, report or exception), as they come or by place."""
        given = 0
        while True:
            self._fill()
            place = given if ordered else next(iter(self._ready), None)
            if place is not None and place in self._ready:
                yield place, self._ready.pop(place)
                given += 1
            elif self._flying:
                self._take()
            elif not self._again and not self._more:
                return
