"""audit_task over whole data sets, within a given time, and what it found as a table.

Used by tools/acceptance_grading.py. What was not reached in time is said to be so.
"""

from __future__ import annotations

import datetime
import os
import platform
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import csandbox
from csandbox import AuditReport, Limits
from csandbox._grade_tests import AnyTest

HUMANEVAL = Limits(cpu_s=0.5, wall_s=20)
CONTESTS = Limits(cpu_s=2, wall_s=30)
MOST_TESTS = 24  # of a contest task: each program of the kit has a child for each
NAMED = 8  # tasks of a kind of finding that the table names; the text on the terminal has all

#: What a row of the table is about, in its order: by code, or by code and kind of program.
ROWS = {
    "reference-fails": "the reference fails a test",
    "accepts null": "a program that does nothing passes all tests",
    "accepts hack": "a program that cheats passes all tests",
    "two-answers": "one input with two expected answers, or a right program is refused",
    "flaky": "the reference gets different verdicts for one test (three runs each)",
    "discriminates-nothing": "a test refuses no program that answers at all",
    "most-pass-by": "one program that does nothing passes at least half of the tests",
    "double": "two tests ask the same",
    "unconverted": "a part of the task's text is no data test",
    "slow": "the reference needs more than half of the time limit",
    "infrastructure": "the sandbox failed, so that nothing is known",
}


@dataclass
class Audited:
    """What was found in one data set: row → tasks, and the margins of the references."""

    name: str
    tasks: int = 0
    tests: int = 0
    reached: int = 0
    found: dict[str, list[str]] = field(default_factory=dict)
    margins: dict[str, float] = field(default_factory=dict)

    def add(self, task: str, report: AuditReport) -> None:
        """Take a report in, and say on the terminal what it found."""
        self.reached += 1
        if report.cpu_margin is not None:
            self.margins[task] = report.cpu_margin
        for finding in report.findings:
            row = finding.code
            if row == "accepts":
                row += " " + finding.message.rpartition("(")[2].rstrip(")")
            tasks = self.found.setdefault(row, [])
            if task not in tasks:
                tasks.append(task)
            if finding.code != "most-pass-by":
                print(f"  {task}: {finding} {', '.join(finding.tests[:4])}")


class Clock:
    """The time that is left for all audits, and a line about progress now and then."""

    def __init__(self, total_s: float) -> None:
        self.end = time.monotonic() + total_s
        self.told = 0.0

    def up(self, audited: Audited) -> bool:
        """Whether there is no time for another task."""
        now = time.monotonic()
        if now - self.told > 15:
            self.told = now
            left = f"{max(0.0, self.end - now):.0f} s left"
            text = f"audit: {audited.name} {audited.reached} of {audited.tasks}, {left}"
            print(text, file=sys.stderr, flush=True)
        return now >= self.end


def humaneval(tasks: Iterable[csandbox.Task], clock: Clock) -> Audited:
    """Every task with its canonical solution."""
    listed = list(tasks)
    audited = Audited("HumanEval", len(listed), sum(map(len, listed)))
    for task in listed:
        if clock.up(audited):
            break
        audited.add(
            task.id,
            csandbox.audit_task(task, reference=task.reference, limits=HUMANEVAL, repeat=3),
        )
    return audited


def contests(
    tasks: Mapping[str, Sequence[AnyTest]], solutions: Mapping[str, Mapping[str, str]], clock: Clock
) -> Audited:
    """Every task with our right solution as the reference."""
    used = {name: tests[:MOST_TESTS] for name, tests in tasks.items()}
    audited = Audited("CodeContests sample", len(tasks), sum(map(len, used.values())))
    for name, tests in used.items():
        if clock.up(audited):
            break
        right = solutions.get(name, {}).get("right")
        report = csandbox.audit_task(tests, reference=right, repeat=3, limits=CONTESTS)
        audited.add(name, report)
    return audited


def _margin(audited: Audited) -> str:
    if not audited.margins:
        return "no references"
    narrow = min(audited.margins, key=audited.margins.__getitem__)
    return (
        f"{len(audited.margins)} references; narrowest: {audited.margins[narrow]:.0f}× ({narrow})"
    )


def filled(page: str, text: str) -> str:
    """The page with the table at its place."""
    begin, end = "<!-- audit -->\n", "<!-- /audit -->"
    before, _, rest = page.partition(begin)
    return f"{before}{begin}{text}{end}{rest.partition(end)[2]}"


def table(sets: list[Audited], data_words: str) -> str:
    """All of it as a page of Markdown."""
    lines = [
        "| finding | " + " | ".join(one.name for one in sets) + " |",
        "|---|" + "---|" * len(sets),
    ]
    for row, words in ROWS.items():
        cells = []
        for one in sets:
            tasks = one.found.get(row, [])
            named = ", ".join(tasks[:NAMED]) + (", …" if len(tasks) > NAMED else "")
            cells.append(f"{len(tasks)}" + (f": {named}" if tasks else ""))
        lines.append(f"| {words} | " + " | ".join(cells) + " |")
    lines.append("| time limit over the slowest test | " + " | ".join(map(_margin, sets)) + " |")
    reached = "; ".join(
        f"{one.name}: {one.reached} of {one.tasks} tasks, {one.tests} tests" for one in sets
    )
    day = datetime.datetime.now(tz=datetime.timezone.utc).date()
    where = f"CPython {platform.python_version()}, {os.cpu_count()} CPUs"
    lines += ["", f"{day}, {where}. {reached}. {data_words}", ""]
    return "\n".join(lines)
