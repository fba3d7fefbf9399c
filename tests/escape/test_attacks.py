"""Escapes of our own, one file and one technique each, with the guard off.

A file of ``attacks/`` begins with what it tries and the layers that are in its way. With all layers
on it must not print EFFECT. With those layers out it must, so that it is known to bite; where a
kernel, a container or a uid may be in the way as well, ``may not bite`` says which, and a control
that does not bite is skipped with that reason. Every effect is harmless and within a folder of the
test's own.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.confined import MiB, confined, in_parallel, mode, reachable_python

ATTACKS = {path.stem: path for path in sorted(Path(__file__).with_name("attacks").glob("*.txt"))}
LIMITS = {
    "cpu_s": 3,
    "wall_s": 6,
    "file_bytes": 8 * MiB,
    "open_files": 64,
    "threads": 8,
    "memory_bytes": 256 * MiB,
}


def header(path: Path, key: str) -> str:
    found = re.search(rf"^# {key}: (.*)$", path.read_text(), re.MULTILINE)
    return found[1] if found else ""


def layers(path: Path) -> list[str]:
    names = [name for name in header(path, "layers").split() if name != "none"]
    if "seccomp" in names:
        names.append("seccomp_notify")  # denials are the filter's, so it goes with it
    return names


@contextmanager
def folder() -> Iterator[Path]:
    """What an attack may try its hand at: files that anybody may read, or also write."""
    made = Path(tempfile.mkdtemp(prefix="attack-"))
    try:
        made.chmod(0o777)
        for name, text in (
            ("secret", "EFFECT"),
            ("open", "text"),
            ("host_code.py", "print('EFFECT')"),
        ):
            (made / name).write_text(text)
            (made / name).chmod(0o666 if name == "open" else 0o644)
        (made / "empty").mkdir()
        library = next(Path(p) for p in LIBRARIES if Path(p).exists())
        shutil.copyfile(library, made / "library.so")
        yield made
    finally:
        shutil.rmtree(made)


LIBRARIES = [
    "/lib/x86_64-linux-gnu/libcrypt.so.1", "/lib/x86_64-linux-gnu/libz.so.1",
    "/lib/x86_64-linux-gnu/libm.so.6", "/lib/aarch64-linux-gnu/libm.so.6", "/lib64/libm.so.6",
]  # fmt: skip


def run(path: Path, without: list[str]) -> dict[str, Any]:
    with folder() as made, (made / "secret").open() as file:
        os.set_inheritable(file.fileno(), True)
        arguments = [str(made), str(file.fileno()), str(os.getpgrp())]
        return confined(
            path.read_text(),
            args=arguments,
            limits=LIMITS,
            without=without,
            python=reachable_python(),
        )


@cache
def outcomes(mode: str) -> dict[str, dict[str, Any]]:
    """Every attack with all layers on, then with its own out (`name` and `name!`)."""
    found = in_parallel(lambda path: run(path, []), ATTACKS.values(), 3)
    controls = {name: path for name, path in ATTACKS.items() if layers(path)}
    bites = in_parallel(lambda path: run(path, layers(path)), controls.values(), 3)
    return {
        **dict(zip(ATTACKS, found, strict=True)),
        **dict(zip((f"{name}!" for name in controls), bites, strict=True)),
    }


@pytest.mark.parametrize("name", list(ATTACKS))
def test_attack_has_no_effect(name: str) -> None:
    result = outcomes(mode())[name]
    assert "EFFECT" not in result["out"], result["out"]
    assert result["verdict"] not in ("internal_error", "time_limit"), result["err"][-400:]


@pytest.mark.parametrize("name", [name for name, path in ATTACKS.items() if layers(path)])
def test_attack_bites_without_its_layers(name: str) -> None:
    result = outcomes(mode())[f"{name}!"]
    reason = header(ATTACKS[name], "may not bite")
    if "EFFECT" not in result["out"] and reason:
        pytest.skip(f"{name}: {reason}")
    assert "EFFECT" in result["out"], (
        result["verdict"],
        result["err"][-400:],
        result["violations"],
    )


@pytest.mark.modeless
def test_each_attack_names_its_layers_or_why_there_are_none() -> None:
    for name, path in ATTACKS.items():
        assert layers(path) or header(path, "may not bite"), name
    assert len(ATTACKS) >= 60


def test_a_forged_end_is_a_failure_all_the_same() -> None:
    result = outcomes(mode())["forged_end"]
    assert (result["exit_code"], result["verdict"]) == (3, "memory_limit")
