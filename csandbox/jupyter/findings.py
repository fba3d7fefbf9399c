"""Findings, limits and violations as HTML for a notebook. Everything in it is escaped."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from csandbox._formats import visible

if TYPE_CHECKING:
    from csandbox import Diagnostic, Report, Result

_COLORS = {"error": "#c62828", "observed": "#b26a00", "advice": "#1565c0"}
_BOX = "border-left:3px solid {color};padding:0.2em 0.8em;margin:0.3em 0"
_CODE = (
    "margin:0.2em 0;padding:0;background:transparent;white-space:pre;overflow-x:auto;"
    "font-family:monospace"
)
# A longer line is cut around the finding.
_WIDTH = 100


def _e(text: object) -> str:
    return html.escape(visible(str(text)))


def _place(line: str, start: int, end: int) -> tuple[str, str, str]:
    """Before, marked, behind; cut to the width. Columns count characters from 0."""
    first = max(0, min(start - _WIDTH // 2, len(line) - _WIDTH))
    before, marked, behind = line[first:start], line[start:end], line[end : first + _WIDTH]
    return ("…" if first else "") + before, marked[:_WIDTH], behind


def _source(found: Diagnostic, lines: list[str], color: str) -> str:
    if not 0 < found.line <= len(lines):
        return ""
    line = visible(lines[found.line - 1]).expandtabs(1)
    start = min(found.column - 1, len(line))
    end = found.end_column - 1 if found.end_line == found.line else len(line)
    before, marked, behind = _place(line, start, max(end, start))
    number = str(found.line)
    pad = " " * len(number)
    carets = "^" * max(len(marked), 1)
    return (
        f'<pre style="{_CODE}"><span style="opacity:.6">{number} | </span>{html.escape(before)}'
        f'<b style="color:{color}">{html.escape(marked)}</b>{html.escape(behind)}\n'
        f'<span style="opacity:.6">{pad} | </span>{" " * len(before)}'
        f'<span style="color:{color}">{carets} {_e(found.label)}</span></pre>'
    )


def finding_html(found: Diagnostic, lines: list[str]) -> str:
    """One finding: severity, code, message, the line with carets, what to do."""
    color = _COLORS.get(found.severity, _COLORS["error"])
    parts = [
        f'<div style="{_BOX.format(color=color)}">',
        f'<b style="color:{color}">{_e(found.severity)}[{_e(found.code)}]</b> {_e(found.message)}',
        _source(found, lines, color),
    ]
    for name in ("help", "note"):
        text = getattr(found, name)
        if text:
            parts.append(f"<div><b>{name}:</b> {_e(text)}</div>")
    return "".join([*parts, "</div>"])


def report_html(report: Report) -> str:
    """All findings of one cell. Errors open, advice folded away."""
    lines = report.source.decode("utf-8", "replace").split("\n")
    errors = [found for found in report if found.severity == "error"]
    others = [found for found in report if found.severity != "error"]
    text = "".join(finding_html(found, lines) for found in errors)
    if others:
        words = f"{len(others)} finding{'s' if len(others) > 1 else ''} that did not block the cell"
        text += f"<details><summary>{words}</summary>"
        text += "".join(finding_html(found, lines) for found in others) + "</details>"
    for code, count in sorted(report.suppressed.items()):
        text += f"<div>{_e(code)}: and {count} more</div>"
    return text


def ending_html(result: Result, alive: bool) -> str:
    """How a cell ended that no exception of its own ended: a limit, a denied call, an exit."""
    color = _COLORS["error"]
    words = result.summary().removeprefix(f"{result.verdict}: ")
    parts = [
        f'<div style="{_BOX.format(color=color)}">',
        f'<b style="color:{color}">{_e(result.verdict)}</b> {_e(words)}',
        violations_html(result),
    ]
    if not alive:
        parts.append(
            "<div>The session has ended: <b>its variables are lost.</b> The next cell begins in a "
            "new one.</div>"
        )
    if result.code is not None:
        parts.append(f"<div><code>csandbox explain {_e(result.code)}</code> says more.</div>")
    return "".join([*parts, "</div>"])


def violations_html(result: Result) -> str:
    """A line for each denied system call; "" when there is none."""
    rows = []
    for violation in result.violations:
        words = ", ".join(
            f"{_e(key)} {_e(value)}"
            for key, value in violation.items()
            if key not in ("syscall", "count")
        )
        count = violation.get("count", 1)
        rows.append(
            f"<div>denied: <code>{_e(violation.get('syscall', '?'))}</code>"
            f"{f' ({words})' if words else ''}{f' ×{_e(count)}' if count != 1 else ''}</div>"
        )
    return "".join(rows)


def folded_violations_html(result: Result) -> str:
    """For a cell that ended well all the same: libraries try things and go on without them."""
    count = sum(violation.get("count", 1) for violation in result.violations)
    words = f"{count} system call{'s were' if count > 1 else ' was'} denied"
    return f"<details><summary>{words}</summary>{violations_html(result)}</details>"
