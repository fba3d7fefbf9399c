"""A pytest plugin for the emulated machine: what begins, how it ended and why, as it happens.

A machine that is stopped, or that hangs, has then said where it was.
"""

from __future__ import annotations

import os
import time

import pytest

# Not stdout, which pytest keeps for itself.
_CONSOLE = int(os.environ["CSANDBOX_TEST_CONSOLE"])

_began: dict[str, float] = {}


def _say(text: str) -> None:
    for line in text.splitlines():
        os.write(_CONSOLE, f"CSB    {line}\n".encode(errors="replace"))


def pytest_runtest_logstart(nodeid: str) -> None:
    """Before anything of a test is done."""
    _began[nodeid] = time.monotonic()
    _say(f"> {nodeid}")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """The word for a test; for one that failed all that is known."""
    spent = time.monotonic() - _began.get(report.nodeid, time.monotonic())
    if report.failed:
        _say(f"  FAILED in {report.when}, {spent:.1f} s")
        _say(report.longreprtext)
    elif report.skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        _say(f"  skipped: {reason}")
    elif report.when == "call":
        _say(f"  passed, {spent:.1f} s")
