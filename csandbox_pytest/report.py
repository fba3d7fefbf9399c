"""What a failing test shows of the code that ran in the sandbox. Hostile text is escaped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest

import csandbox
from csandbox._formats import visible
from csandbox_pytest.pools import RESULTS

_TAIL_LINES = 15
_LINE = 200
_RUNS = 5


def tail(text: str, lines: int = _TAIL_LINES) -> str:
    """The last lines of a stream, each bounded, with nothing in them that a terminal obeys."""
    every = text.rstrip("\n").split("\n")
    kept = [visible(line.expandtabs(4))[:_LINE] for line in every[-lines:]]
    if len(every) > lines:
        kept.insert(0, f"[… {len(every) - lines} lines left out …]")
    return "\n".join(kept)


def describe(result: csandbox.Result) -> str:
    """Verdict, what the guard found, what was denied, the ends of both streams."""
    parts = [visible(result.summary())]
    layers = [name for name, state in result.isolation.items() if state.startswith("degraded")]
    if layers:
        parts.append(f"not confined by: {', '.join(layers)}")
    if result.diagnostics and result.report is not None:
        parts.append(result.report.render().rstrip("\n"))
    for violation in result.violations:
        words = " ".join(f"{key}={visible(str(value))}" for key, value in violation.items())
        parts.append(f"denied: {words}")
    for name in ("stderr", "stdout"):
        text = getattr(result, name)
        if text:
            parts.append(f"{name}:\n{tail(text)}")
    code = result.code
    if code is not None:
        parts.append(f"`csandbox explain {code}` says what this verdict means")
    return "\n".join(parts)


def _seen_in(call: pytest.CallInfo[None]) -> Iterator[Any]:
    """Results in the variables of the test's own frames, for those who call csandbox themselves."""
    entries = call.excinfo.traceback if call.excinfo is not None else []
    for entry in entries:
        for value in list(entry.frame.f_locals.values()):
            if isinstance(value, (csandbox.Result, csandbox.GradeReport, csandbox.Report)):
                yield value


def add_sections(item: pytest.Item, call: pytest.CallInfo[None], report: Any) -> None:
    """One section for each run of the failing test."""
    found: list[Any] = []
    for result in (*item.stash.get(RESULTS, []), *_seen_in(call)):
        if not any(result is other for other in found):
            found.append(result)
    shown = found[-_RUNS:]
    for number, result in enumerate(shown, len(found) - len(shown) + 1):
        if isinstance(result, csandbox.Result):
            title, text = result.verdict, describe(result)
        elif isinstance(result, csandbox.GradeReport):
            title, text = result.verdict, _grade_words(result)
        else:
            title, text = "check", str(result)
        report.sections.append((f"csandbox: run {number} of {len(found)}: {title}", text))


def _grade_words(report: csandbox.GradeReport) -> str:
    text = "\n".join(visible(line) for line in str(report).split("\n"))
    return text + ("\n" + tail(report.feedback) if report.feedback else "")


def explain_comparison(op: str, left: object, right: object) -> list[str] | None:
    """For ``==`` and ``!=`` with a result on either side."""
    results = [value for value in (left, right) if isinstance(value, csandbox.Result)]
    if op not in ("==", "!=") or not results:
        return None
    if len(results) == 2:
        return [f"{left!r} {op} {right!r}", *_differences(*results)]
    other = right if results[0] is left else left
    meant = "verdict" if isinstance(other, str) and other.isidentifier() else "stdout"
    if isinstance(results[0], csandbox.CallResult) and not isinstance(other, str):
        meant = "value"
    return [
        f"{left!r} {op} {right!r}",
        f"a {type(results[0]).__name__} equals no {type(other).__name__}; "
        f"perhaps its .{meant} was meant",
        *describe(results[0]).split("\n"),
    ]


def _differences(left: csandbox.Result, right: csandbox.Result) -> list[str]:
    lines = []
    for spec in fields(left):
        first, second = getattr(left, spec.name), getattr(right, spec.name, None)
        if spec.compare and spec.name != "usage" and first != second:
            lines.append(f"{spec.name}: {repr(first)[:_LINE]} != {repr(second)[:_LINE]}")
    return lines or ["they differ only in what was measured (usage)"]
