"""grade() for event loops: the same steps, and no Python thread for any."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from csandbox._errand import adone
from csandbox._grade import Plan
from csandbox._grade_report import GradeReport
from csandbox._grade_tests import AnyTest


async def agrade(source: str | bytes, tests: Iterable[AnyTest], **options: Any) -> GradeReport:
    """`grade` for asyncio and trio: no Python thread waits, and many may be on at once.

    The keywords are those of `grade`; ``at_once`` has no effect, the tests run one after the other.
    The report is the same. Cancelled, it has killed what runs (and with isolation="submission" the
    child that is branched) and waited for its end before it is left. The guard, comparisons and
    checkers that are functions run in the loop's thread, some milliseconds for usual sources and
    answers; what takes longer belongs into a checker that is source, or into
    ``asyncio.to_thread(grade, …)``.
    """
    return await adone(Plan.make(source, tests, **options).steps())
