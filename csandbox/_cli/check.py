"""``csandbox check FILE …``."""

from __future__ import annotations

import argparse
import sys

from csandbox._check import check
from csandbox._cli.arguments import Usage
from csandbox._cli.console import emit, emit_json, say, wants_color
from csandbox._cli.files import read_source
from csandbox._profile import Profile


def command(options: argparse.Namespace) -> int:
    """Check each file; 1 when any has an error."""
    if options.files.count("-") > 1:
        raise Usage("stdin (-) can be read once only")
    profile = Profile.load(options.profile)
    color = wants_color(options.color, sys.stdout)
    reports = []
    for path in options.files:
        source, name = read_source(path)
        report = check(source, profile=profile, filename=name)
        reports.append(report)
        text = "" if options.json else report.render(color=color)
        if text:
            emit(text)
    if options.json:
        emit_json([report.to_dict() for report in reports])
    wrong = sum(not report.ok for report in reports)
    if not options.quiet and not options.json:
        files = "1 file" if len(reports) == 1 else f"{len(reports)} files"
        say(
            f"{wrong} of {files} not allowed by profile {profile.name}"
            if wrong
            else f"{files} checked against profile {profile.name}: nothing to refuse"
        )
    return 1 if wrong else 0
