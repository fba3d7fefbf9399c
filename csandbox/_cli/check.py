"""``csandbox check FILE …``."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from csandbox._check import check
from csandbox._cli.arguments import Usage
from csandbox._cli.console import emit, emit_json, say, wants_color
from csandbox._cli.files import read_source
from csandbox._profile import Profile
from csandbox._report import Report


def _text(report: Report, style: str, color: bool) -> str:
    if style == "full":
        return report.render(color=color)
    if style == "concise":
        return "\n".join(map(str, report))
    return report.to_github() if style == "github" else ""


def _sarif(reports: list[Report]) -> dict[str, Any]:
    """One log with one run per file."""
    logs = [report.to_sarif() for report in reports]
    return {**logs[0], "runs": [run for log in logs for run in log["runs"]]}


def command(options: argparse.Namespace) -> int:
    """Check each file; 1 when any has an error."""
    if options.files.count("-") > 1:
        raise Usage("stdin (-) can be read once only")
    profile = Profile.load(options.profile)
    style = "json" if options.json else options.format
    color = wants_color(options.color, sys.stdout)
    reports = []
    for path in options.files:
        source, name = read_source(path)
        reports.append(check(source, profile=profile, filename=name))
        text = _text(reports[-1], style, color)
        if text:
            emit(text)
    if style == "json":
        emit_json([report.to_dict() for report in reports])
    elif style == "sarif":
        emit_json(_sarif(reports))
    wrong = sum(not report.ok for report in reports)
    if not options.quiet and style in ("full", "concise"):
        files = "1 file" if len(reports) == 1 else f"{len(reports)} files"
        say(
            f"{wrong} of {files} not allowed by profile {profile.name}"
            if wrong
            else f"{files} checked against profile {profile.name}: nothing to refuse"
        )
    return 1 if wrong else 0
