"""The options: one table for the command line and the ini file. Imports nothing of csandbox."""

from __future__ import annotations

from typing import Any

import pytest

MISSING = "csandbox cannot confine code here"

MARKERS = (
    "csandbox(profile=None, **limits): profile and limits (cpu_s, memory_bytes, …) of the "
    "fixtures sandbox, sandbox_session and submission in this test",
    "confined(profile=None, files=None, **limits): the test function runs inside the sandbox, "
    "with plain data as arguments; its passing is its own word (trust: weak)",
)

# name, ini type, metavar, choices, what it is
_OPTIONS: tuple[tuple[str, str | None, str, tuple[str, ...] | None, str], ...] = (
    ("profile", None, "NAME|PATH", None, "profile of the fixtures (default: compute)"),
    ("cpu", None, "TIME", None, "CPU time of one run, such as 2s"),
    ("wall", None, "TIME", None, "time by the clock of one run"),
    ("memory", None, "SIZE", None, "memory of one run, such as 256MiB"),
    ("output", None, "SIZE", None, "output per stream of one run"),
    ("workers", None, "N", None, "runs at a time (default: the CPUs, shared by xdist's workers)"),
    ("missing", None, "WHAT", ("skip", "fail"), "where code cannot be confined (default: skip)"),
    ("submissions", "linelist", "GLOB", None, "files for the fixture submission; may be repeated"),
    ("allow-degraded", "linelist", "LAYER", None, "run though this layer is missing; repeatable"),
)


def add_options(parser: pytest.Parser) -> None:
    """``--csandbox-NAME`` and ``csandbox_NAME`` for each row."""
    group = parser.getgroup("csandbox", "csandbox: code that somebody else wrote")
    for name, kind, metavar, choices, text in _OPTIONS:
        flag, dest = f"--csandbox-{name}", f"csandbox_{name.replace('-', '_')}"
        action = "append" if kind == "linelist" else "store"
        more: dict[str, Any] = {} if choices is None else {"choices": choices}
        group.addoption(
            flag, action=action, dest=dest, default=None, metavar=metavar, help=text, **more
        )
        if kind == "linelist":
            parser.addini(dest, text, type="linelist", default=[])
        else:
            parser.addini(dest, text, default="")


def value(config: pytest.Config, name: str) -> Any:
    """The option, or else the ini file's word; "" and [] when neither says anything."""
    given = config.getoption(f"csandbox_{name}")
    return config.getini(f"csandbox_{name}") if given is None else given


def limits(config: pytest.Config) -> dict[str, float | int]:
    """The limits of one run that the options name. Raises UsageError."""
    from csandbox._units import parse_bytes, parse_seconds

    found: dict[str, float | int] = {}
    for name, field, parse in (
        ("cpu", "cpu_s", parse_seconds),
        ("wall", "wall_s", parse_seconds),
        ("memory", "memory_bytes", parse_bytes),
        ("output", "output_bytes", parse_bytes),
    ):
        text = value(config, name)
        if text:
            try:
                found[field] = parse(text)
            except ValueError as error:
                raise pytest.UsageError(f"--csandbox-{name}: {error}") from None
    return found


def workers(config: pytest.Config) -> int:
    """Runs at a time: as told, or this process's share of the CPUs."""
    import os

    text = str(value(config, "workers"))
    if text:
        if not text.isdigit() or int(text) < 1:
            raise pytest.UsageError(f"--csandbox-workers: {text!r} is no whole number above 0")
        return int(text)
    cpus = len(os.sched_getaffinity(0))
    return max(1, cpus // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


def missing(config: pytest.Config, why: str) -> None:
    """Skip or fail the test that needs what this machine does not have. Never returns."""
    text = f"{MISSING}: {why}"
    what = value(config, "missing") or "skip"
    if what not in ("skip", "fail"):
        raise pytest.UsageError(f"csandbox_missing: must be skip or fail, not {what!r}")
    if what == "fail":
        pytest.fail(text, pytrace=False)
    pytest.skip(text)
