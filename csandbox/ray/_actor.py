"""What runs on each node: an actor that holds one Pool and grades what it is sent."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from csandbox._grade import grade
from csandbox._grade_report import GradeReport
from csandbox._grade_tests import AnyTest
from csandbox._pool import Pool


class Job(NamedTuple):
    """One submission on its way: its place in the input, and what `grade` needs."""

    place: int
    source: str | bytes
    tests: Sequence[AnyTest]
    seed: int


class Grader:
    """A Pool of `workers`, and as many threads that use it. Lives in a process of Ray's."""

    def __init__(self, profile: Any, workers: int, options: Mapping[str, Any]) -> None:
        """Start the pool at once, so that an actor that cannot work is known before it is used."""
        self.pool = Pool(profile, workers=workers, **options)
        self.threads = ThreadPoolExecutor(workers, thread_name_prefix="csandbox-grade")
        self.done = 0
        self.pool.wait_ready()

    def grade(
        self, jobs: Sequence[Job], options: Mapping[str, Any]
    ) -> list[tuple[int, GradeReport | Exception]]:
        """A report for each job, in order, or the exception that grading it raised."""
        running = [
            (job.place, self.threads.submit(
                grade, job.source, job.tests, seed=job.seed, pool=self.pool, **options
            ))
            for job in jobs
        ]  # fmt: skip
        found: list[tuple[int, GradeReport | Exception]] = []
        for place, work in running:
            try:
                found.append((place, work.result()))
            except Exception as error:  # it is the caller's, who wants to see it as it is
                found.append((place, error))
        self.done += len(found)
        return found

    def facts(self) -> dict[str, Any]:
        """Where it is and what it has done."""
        return {"pid": os.getpid(), "done": self.done, "pool": self.pool.stats()}

    def close(self) -> None:
        """End the pool's processes; the actor is of no use then."""
        self.threads.shutdown(wait=False, cancel_futures=True)
        self.pool.close()
