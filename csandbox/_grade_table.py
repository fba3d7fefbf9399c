"""A grading as a table, for terminals and for notebooks. Hostile text is escaped."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

from csandbox._units import format_bytes

if TYPE_CHECKING:
    from csandbox._grade_report import TestResult

_HEAD = ("test", "verdict", "weight", "cpu s", "wall s", "memory", "")
_MOST = 48  # characters of one cell


def plain(text: str, most: int = _MOST) -> str:
    """One line without anything that a terminal would obey, at most so many characters."""
    shown = "".join(
        char
        if unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
        else char.encode("unicode_escape", "surrogatepass").decode("ascii")
        for char in text[: most + 1]
    )
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def _cells(row: TestResult) -> tuple[str, ...]:
    notes = [row.limit_hit or "", "hidden" if row.hidden else "", row.reason, row.difference]
    notes.append("trust=weak" if row.trust == "weak" else "")
    return (
        plain(row.id),
        row.verdict,
        f"{row.weight:g}",
        *(("-", "-", "-") if row.hidden else _figures(row)),
        plain("; ".join(filter(None, notes)), 100),
    )


def _figures(row: TestResult) -> tuple[str, str, str]:
    usage = row.usage
    return (
        f"{usage.cpu_s:.3f}",
        f"{usage.wall_s:.3f}",
        format_bytes(usage.peak_memory_bytes),
    )


def as_text(rows: Sequence[TestResult], summary: str) -> str:
    """Aligned columns, one row per test, the summary last."""
    table = [_HEAD, *map(_cells, rows)]
    widths = [max(len(cells[i]) for cells in table) for i in range(len(_HEAD))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
        for cells in table
    ]
    return "\n".join([*lines, summary])


def as_html(rows: Sequence[TestResult], summary: str) -> str:
    """An HTML table; every cell is escaped."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in _HEAD)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in _cells(row)) + "</tr>"
        for row in rows
    )
    return f"<p>{html.escape(summary)}</p><table><tr>{head}</tr>{body}</table>"
