"""The second opinion without a run: a child compiles, tells what it found, and is ended."""

from __future__ import annotations

import re

from csandbox import _core
from csandbox._policy import policy_of
from csandbox._profile import Profile
from csandbox._report import Report

_LINE = re.compile(r"^  File .*, line (\d+)$", re.MULTILINE)


def confirmed(report: Report, text: bytes, checked: object, profile: Profile) -> Report:
    """The report after CPython's own compiler has been asked. Raises as ``run`` does."""
    data = _core.run(
        policy_of(profile, None, frozenset()),
        {
            "source": text,
            "filename": report.filename,
            "args": (),
            "stdin": b"",
            "env": {},
            "files": (),
            "limits": profile.limits.complete(),
            "checked": checked,
            "confirm_only": True,
        },
    )
    if data["diagnostics"] is not None:
        return report.with_findings(data["diagnostics"])
    if data["verdict"] != "compile_error":
        reason = data["error"] or f"it ended with {data['verdict']}"
        return report.with_findings([_finding("CSB010", "parser-disagreement", reason, 0, text)])
    if not report.ok:
        return report
    message = data["stderr"].decode("utf-8", "replace")
    lines = _LINE.findall(message)
    said = (message.strip().splitlines() or ["it gave no reason"])[-1]
    line = int(lines[-1]) if lines else 0
    return report.with_findings([_finding("CSB001", "syntax-error", said, line, text)])


def _finding(code: str, name: str, reason: str, line: int, text: bytes) -> _core.DiagnosticData:
    """What CPython says, or why it said nothing, about a source that the parser could read."""
    lines = text.split(b"\n")
    line = line if line <= len(lines) else 0
    start = sum(len(above) + 1 for above in lines[: line - 1]) if line else 0
    wrong = lines[line - 1] if line else b""
    return {
        "code": code,
        "name": name,
        "severity": "error",
        "message": f"CPython cannot compile this source: {reason}",
        "label": "",
        "help": "",
        "note": "",
        "line": line,
        "column": 1,
        "end_line": line,
        "end_column": len(wrong.decode("utf-8", "replace")) + 1,
        "start_byte": start,
        "end_byte": start + len(wrong),
        "second_label": "",
        "second_line": 0,
        "second_column": 0,
        "second_start_byte": 0,
        "second_end_byte": 0,
    }
