"""The known escapes of layers ``kernel`` and ``limits``, with the guard off.

``corpus.jsonl`` holds them byte for byte. A kernel row must not print EFFECT, and the layer that
its ``stopped_by`` names must be the one that was in the way; a limits row must end with one of the
verdicts in its ``ends``, in time, and leave nothing.
"""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.confined import MiB, confined, denied, in_parallel, mode

ROWS = [
    json.loads(line) for line in Path(__file__).with_name("corpus.jsonl").read_text().splitlines()
]
KERNEL = {row["id"]: row for row in ROWS if row["layer"] == "kernel"}
LIMITS = {row["id"]: row for row in ROWS if row["layer"] == "limits"}
PROBE = Path("/tmp/probe")  # the rows name it
GRACE_S = 3.0  # start-up, clean-up, and a machine with other work; the limits themselves are exact

Result = dict[str, Any]


def _always(result: Result) -> bool:
    return "EFFECT" in result["out"]


#: Rows whose EFFECT is none: why, and what must hold instead.
HARMLESS: dict[str, tuple[str, Callable[[Result], bool]]] = {
    "k-access-probe": ("existence of a path is visible, see SECURITY.md", _always),
    "k-stat-probe": ("existence of a path is visible, see SECURITY.md", _always),
    "k-dev-full": ("every program may read /dev/zero", _always),
    "k-env-secrets": ("its own environment", lambda r: "CSANDBOX_CANARY" not in r["out"]),
    "k-read-src": ("its own working folder", _always),
    "k-read-ssh": ("its home is its own working folder", _always),
    "k-socketpair": ("asyncio needs one; it leads nowhere", _always),
    "k-sys-eventfd": ("stays inside the process", _always),
    "k-sys-rseq": ("glibc registers each thread", _always),
    "k-sys-set-robust": ("glibc registers each thread", _always),
    "k-block-signals": ("SIGKILL can not be blocked", lambda r: r["limit_hit"] == "wall"),
    "k-ignore-term": ("SIGKILL can not be ignored", lambda r: r["limit_hit"] == "wall"),
    "k-exec": ("prints before it tries", lambda r: r["out"] == "EFFECT-before\n"),
}

#: Rows without an attempt at anything outside: how they end.
OWN_AFFAIR = {
    "k-exit-code": ("exit_code", 77),
    "k-segv-self": ("signal", 11),
    "k-sigqueue-core": ("signal", 6),
    "k-xcpu-loop": ("limit_hit", "cpu"),
}


def _run(row: dict[str, Any]) -> tuple[Result, float]:
    waits = row["id"] in HARMLESS or row.get("ends", [""])[0] == "time_limit/wall"
    limits = {
        "cpu_s": 0.5,
        "wall_s": 1.5 if waits else 20.0,
        "memory_bytes": 200 * MiB,
        "output_bytes": 1 << 16,
        "file_bytes": 4 * MiB,
        "open_files": 64,
        "threads": 16,
    }
    start = time.monotonic()
    result = confined(row["code"], limits=limits)
    return result, time.monotonic() - start


@cache
def outcomes(mode: str) -> dict[str, tuple[Result, float]]:
    """Every row that can run here, run once."""
    made = not PROBE.exists()
    if made:
        PROBE.mkdir()
        PROBE.chmod(0o1777)  # its absence would look like a refusal
    before = set(PROBE.iterdir())
    os.environ["CSANDBOX_CANARY"] = "secret"
    try:
        rows = [row for row in ROWS if _available(row)]
        found = in_parallel(_run, rows, 3)
        left = {path.name for path in PROBE.iterdir() if path not in before}
        assert not {name for name in left if name.startswith("k_")}, left
    finally:
        del os.environ["CSANDBOX_CANARY"]
        if made:
            PROBE.rmdir()
    return dict(zip((row["id"] for row in rows), found, strict=True))


def _available(row: dict[str, Any]) -> bool:
    modules = [
        line.split()[1] for line in row["code"].splitlines() if line.startswith("import num")
    ]
    return all(find_spec(name) for name in modules)


def outcome(row: dict[str, Any]) -> tuple[Result, float]:
    if not _available(row):
        pytest.skip(f"{row['id']} needs numpy, which is not installed here")
    return outcomes(mode())[row["id"]]


def _stopped_by(name: str, result: Result) -> set[str]:
    """The layers that the outcome shows at work."""
    said = result["out"] + result["err"]
    layers = set()
    by_itself = f"errno -1 {errno.ENOSYS}" in said
    if name == "k-sys-seccomp-own":  # the last filter answers by itself and is not counted
        by_itself = f"errno -1 {errno.EPERM}" in said
    if denied(result) or by_itself:
        layers.add("seccomp")
    if "Errno 13" in said or "errno 13" in said:
        layers |= {"landlock", "mdwe"}  # the same errno; which of the two is in the row
    return layers


@pytest.mark.parametrize("name", list(KERNEL))
def test_kernel_row_has_no_effect(name: str) -> None:
    row = KERNEL[name]
    result, _ = outcome(row)
    if name in HARMLESS:
        why, holds = HARMLESS[name]
        assert holds(result), (why, result["out"], result["verdict"])
        return
    assert "EFFECT" not in result["out"]
    if name in OWN_AFFAIR:
        key, value = OWN_AFFAIR[name]
        assert result[key] == value
    elif name != "k-fd-inherit":  # nothing is open, so nothing refuses
        assert row["stopped_by"] in _stopped_by(name, result), (result["out"], result["err"])


@pytest.mark.parametrize("name", list(LIMITS))
def test_limits_row_ends_as_it_must(name: str) -> None:
    row = LIMITS[name]
    result, seconds = outcome(row)
    hit = f"/{result['limit_hit']}" if result["limit_hit"] else ""
    assert result["verdict"] + hit in row["ends"], result["err"][-500:]
    if result["limit_hit"] == "cpu":
        assert result["cpu_s"] <= 0.5 + 0.2
    if result["limit_hit"] == "wall":
        assert result["wall_s"] <= 1.5 + 0.2
        assert seconds < 1.5 + GRACE_S


@pytest.mark.modeless
def test_the_tables_of_this_file_name_rows() -> None:
    assert (set(HARMLESS) | set(OWN_AFFAIR)) <= set(KERNEL)
    assert len(KERNEL) == 90
    assert len(LIMITS) == 69
