"""Run the attacks of our own tests, confined, on this machine.

They are the programs of ``tests/escape/attacks``: one technique each, harmless when they work (an
effect in a folder of their own, or an errno). Still none is ever run with a layer less: where one
that is required is missing, nothing is tried.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from csandbox._attack_programs import ATTACKS
from csandbox._limits import Limits
from csandbox._result import Result
from csandbox._run import run
from csandbox._units import MiB

_EFFECT = "EFFECT"
_LIMITS = Limits(
    cpu_s=3,
    wall_s=10,
    file_bytes=8 * MiB,
    open_files=64,
    threads=8,
    memory_bytes=256 * MiB,
)
# Something that an attack could load if it could read it.
_LIBRARIES = ("/lib/x86_64-linux-gnu/libz.so.1", "/lib/x86_64-linux-gnu/libm.so.6",
              "/lib/aarch64-linux-gnu/libm.so.6", "/lib64/libm.so.6")  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """One attack: what it tries, what is in its way, and whether that held."""

    name: str
    what: str
    layers: str
    held: bool
    how: str

    def to_dict(self) -> dict[str, object]:
        """Plain data for JSON."""
        return dict(vars(self))


def _header(source: str, key: str) -> str:
    found = re.search(rf"^# {key}: (.*)$", source, re.MULTILINE)
    return found[1] if found else ""


@contextmanager
def _bait() -> Iterator[list[str]]:
    """The arguments of every attack: a folder with things to read and change, a descriptor."""
    folder = Path(tempfile.mkdtemp(prefix="csandbox-attack-"))
    try:
        folder.chmod(0o777)  # nothing but the sandbox may be what keeps the child out
        for name, text in (("secret", _EFFECT), ("open", "text")):
            (folder / name).write_text(text)
            (folder / name).chmod(0o666 if name == "open" else 0o644)
        (folder / "host_code.py").write_text(f"print('{_EFFECT}')")
        (folder / "empty").mkdir()
        library = next((path for path in _LIBRARIES if os.path.exists(path)), None)
        if library is not None:
            shutil.copyfile(library, folder / "library.so")
        with (folder / "secret").open() as file:
            os.set_inheritable(file.fileno(), True)
            yield [str(folder), str(file.fileno()), str(os.getpgrp())]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _judge(name: str, source: str, result: Result) -> Outcome:
    what = source.partition("\n")[0].lstrip("# ")
    unsure = result.verdict in ("internal_error", "time_limit")
    held = _EFFECT not in result.stdout and not unsure
    how = "it worked" if _EFFECT in result.stdout else result.summary()
    return Outcome(name, what, _header(source, "layers"), held, how)


def attack() -> Iterator[Outcome]:
    """Run every attack without the guard and with every layer of the kernel.

    Takes some seconds and leaves nothing behind. Raises UnsupportedError when a required layer
    cannot be enforced here, SetupError when no child can be started: nothing was tried then.
    """
    for name, source in ATTACKS.items():
        with _bait() as arguments:
            result = run(
                source,
                args=arguments,
                profile="open",
                limits=_LIMITS,
                filename=f"{name}.py",
                fresh=True,
            )
        yield _judge(name, source, result)


def by_layer(outcomes: Iterable[Outcome]) -> dict[str, tuple[int, int]]:
    """Layers in the way of an attack → how many were tried, and how many of them held."""
    table: dict[str, tuple[int, int]] = {}
    for outcome in outcomes:
        tried, held = table.get(outcome.layers, (0, 0))
        table[outcome.layers] = (tried + 1, held + outcome.held)
    return dict(sorted(table.items(), key=lambda item: -item[1][0]))
