"""The static check: source in, Report out."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

from csandbox import _core
from csandbox._arguments import flag, shown
from csandbox._profile import Profile, as_profile
from csandbox._report import Report

#: Findings that say only that the parser cannot read the source as CPython does.
_UNREADABLE = frozenset({"CSB001", "CSB010"})
INTEGRITY = "CSB0"  # these rules hold in every profile, also where the guard is off


def source_bytes(source: str | bytes | bytearray | memoryview) -> bytes:
    """The source as bytes. A lone surrogate is kept, so that the guard can say where it is."""
    if isinstance(source, str):
        return source.encode("utf-8", "surrogatepass")
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    raise TypeError(f"source must be str or bytes, not {type(source).__name__}")


def file_name(filename: str | os.PathLike[str]) -> str:
    """The name shown in messages and tracebacks; ValueError when it cannot be one."""
    name = os.fspath(filename) if isinstance(filename, os.PathLike) else filename
    if not isinstance(name, str):
        raise TypeError(f"filename must be a string, not {type(name).__name__} ({shown(name)})")
    if not name or "\0" in name:
        raise ValueError(f"filename must not be empty or hold a NUL, not {shown(name)}")
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"filename holds a lone surrogate: {shown(name)}") from error
    return name


def guard_config(profile: Profile) -> dict[str, Any]:
    """What ``_core.Guard`` takes, from a profile."""
    guard = profile.guard
    return {
        "profile": profile.name,
        "select": guard.select if guard.enabled else (INTEGRITY,),
        "ignore": guard.ignore,
        "mode": dict(guard.mode),
        "imports_allow": guard.imports_allow,
        "imports_deny": guard.imports_deny,
        "max_source_bytes": guard.source_bytes,
        "max_nodes": guard.nodes,
        "max_depth": guard.depth,
        "max_findings_per_rule": guard.findings_per_rule,
        "max_time_ms": guard.time_ms,
        "builtins_allow": guard.builtins_allow,
        "attributes_allow": guard.attributes_allow,
        "import_help": dict(guard.import_help),
    }


@lru_cache(maxsize=64)
def guard_of(profile: Profile) -> _core.Guard:
    """The compiled guard of a profile, made once."""
    return _core.Guard(guard_config(profile))


def worth_confirming(report: Report) -> bool:
    """Whether a child should be asked: nothing blocks, or only that the parser cannot read it."""
    return all(d.severity != "error" or d.code in _UNREADABLE for d in report)


def check_bytes(raw: bytes, profile: Profile, filename: str) -> tuple[Report, bytes, object]:
    """The report, the normalised text that must be compiled, and what the second opinion needs."""
    guard = guard_of(profile)
    data = _core.check(guard, raw, filename)
    shown = data["source"] or raw
    report = Report(data["diagnostics"], shown, filename, data["suppressed"], guard)
    return report, data["source"], data["checked"]


class Checks:
    """`check_bytes` for work that runs one source many times: each source is checked once."""

    def __init__(self) -> None:
        self._known: dict[tuple[bytes, int, str], tuple[Profile, Report, bytes, object]] = {}

    def __call__(self, raw: bytes, profile: Profile, filename: str) -> tuple[Report, bytes, object]:
        """As `check_bytes`."""
        key = raw, id(profile), filename
        found = self._known.get(key)
        if found is None:
            # With the profile, so that its id stays its own.
            found = self._known[key] = profile, *check_bytes(raw, profile, filename)
        return found[1:]


def check(
    source: str | bytes,
    *,
    profile: str | os.PathLike[str] | Profile = "compute",
    filename: str | os.PathLike[str] = "submission.py",
    confirm: bool = False,
) -> Report:
    """Say what in the source a profile does not allow, and where, without running anything.

    `source` is text, or bytes of UTF-8 (a BOM is accepted). Findings are data, never an exception:
    iterate over the report, ask ``report.ok``, print it. Raises ProfileError when the profile is
    wrong.

    With `confirm` a confined child also compiles the source and compares what CPython made of it
    with what the parser saw, as every ``run`` does; nothing of it is executed. That takes some
    milliseconds, and raises UnsupportedError or SetupError as ``run`` does.

    The check is the first layer and made for people; what confines code are the kernel's layers in
    ``run``.
    """
    chosen, name = as_profile(profile), file_name(filename)
    flag(confirm, "confirm")
    report, text, checked = check_bytes(source_bytes(source), chosen, name)
    if confirm and worth_confirming(report):
        from csandbox._confirm import confirmed

        return confirmed(report, text, checked, chosen)
    return report
