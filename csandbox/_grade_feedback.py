"""What may be told of a grading, by level; hidden tests never show data at any level.

Nor do they show what their runs used: a submission that may choose its time or its memory by what
it reads tells its input by them.

The levels, each with all that the one before it shows:

none    the verdict of each test, for the caller; the submitter's text is empty
counts  how many tests passed; those that are not hidden also by verdict
first   the input of the first failing test that is not hidden, and what the submission made of it,
        without the expected value
full    the same for every failing test that is not hidden, with the first difference
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from csandbox._grade_report import TestResult
from csandbox._grade_table import plain
from csandbox._result import Usage

LEVELS = ("none", "counts", "first", "full")
_FAILED = "the program failed"  # how it failed, a submission can choose by its input
_MOST = 2000  # characters of one excerpt


@dataclass(frozen=True)
class Row:
    """A row with everything in it, before it is cut to a level. Never leaves this package."""

    result: TestResult
    #: Words of the sandbox's own that hold no data of test or run; safe at every level.
    plain_reason: str = ""


def known_level(level: str) -> str:
    """The level; ValueError names those that exist."""
    if level not in LEVELS:
        raise ValueError(f"feedback must be one of {', '.join(LEVELS)}, not {level!r}")
    return level


def excerpt(text: str) -> str:
    """The beginning of a long text, with a word about the rest."""
    if len(text) <= _MOST:
        return text
    return f"{text[:_MOST]}… ({len(text) - _MOST} characters more)"


def redact(rows: Sequence[Row], level: str) -> tuple[TestResult, ...]:
    """The rows as the level allows them to be seen."""
    first = next((row for row in rows if _may_show(row.result)), None)
    shown = []
    for row in rows:
        open_ = _may_show(row.result) and (level == "full" or (level == "first" and row is first))
        shown.append(_cut(row, level) if open_ else _closed(row))
    return tuple(shown)


def _may_show(row: TestResult) -> bool:
    return not row.hidden and not row.passed and row.verdict != "skipped"


def _cut(row: Row, level: str) -> TestResult:
    result = row.result
    if level == "full":
        return result
    # Why an answer is wrong may hold the expected value; why there was none is the run's own.
    told = result.verdict not in ("wrong_answer", "presentation")
    reason = result.reason if told else row.plain_reason
    return replace(result, reason=reason, difference="")


def _closed(row: Row) -> TestResult:
    result = row.result
    return replace(
        result,
        usage=Usage() if result.hidden else result.usage,
        limit_hit=None if result.hidden else result.limit_hit,
        reason=_FAILED if result.hidden and result.verdict == "runtime_error" else row.plain_reason,
        input="",
        stdout="",
        stderr="",
        value="",
        difference="",
        violations=(),
    )


def message(rows: Sequence[TestResult], level: str) -> str:
    """The text for the submitter, from rows that are already cut. No ids, no times."""
    if level == "none":
        return ""
    passed = sum(row.passed for row in rows)
    lines = [f"{passed} of {len(rows)} tests passed"]
    seen = Counter(r.verdict for r in rows if not r.hidden and not r.passed)
    lines += [f"  {count} × {verdict}" for verdict, count in sorted(seen.items())]
    hidden = sum(1 for row in rows if row.hidden and not row.passed)
    if hidden:
        lines.append(f"  {hidden} hidden not passed")
    for row in rows:
        if row.input or row.difference or row.stdout or row.stderr or row.value:
            lines += _one(row)
    return "\n".join(lines)


def _one(row: TestResult) -> list[str]:
    parts = [("input", row.input), ("output", row.stdout), ("errors", row.stderr)]
    parts += [("value", row.value), ("difference", row.difference)]
    lines = ["", f"{row.verdict}:" + (f" {plain(row.reason, 200)}" if row.reason else "")]
    for name, text in parts:
        if text:
            lines.append(f"  {name}:")
            lines += [f"    {plain(line, 200)}" for line in text.splitlines()[:20]]
    return lines
