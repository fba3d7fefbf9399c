"""Other ways to run untrusted Python, from the package index, in an environment of their own.

``python -m bench.rivals`` makes it (build/bench-venv, from tools/requirements-bench.txt); what the
index does not give is left out, loudly. Each is a worker (`rival.py`) that times its own calls.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench.measure import Cost

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / "build" / "bench-venv"
REQUIREMENTS = ROOT / "tools" / "requirements-bench.txt"
MADE = VENV / ".requirements"
WORKER = Path(__file__).with_name("rival.py")
#: Name in the tables -> what is asked of it.
NAMES = {
    "monty": "pydantic-monty, a session for each run",
    "sandlock": "sandlock, python3 -I -c in its sandbox",
    "smolagents": "smolagents' LocalPythonExecutor, one for each run",
}


def prepare() -> str:
    """Make the environment; why it could not be made, or ""."""
    wanted = REQUIREMENTS.read_bytes()
    if MADE.is_file() and MADE.read_bytes() == wanted:
        return ""
    venv.create(VENV, clear=True, with_pip=True, symlinks=True)
    done = subprocess.run(
        [
            *(VENV / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "install"),
            *("--quiet", "--require-hashes", "--only-binary", ":all:"),
            *("--requirement", REQUIREMENTS),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        return (done.stdout.strip() or "pip failed").splitlines()[-1]
    MADE.write_bytes(wanted)
    return ""


@dataclass
class Found:
    """The rivals that are here: name -> measure; and a note for each, or for its absence."""

    measure: dict[str, Callable[[], Cost]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def _start(stack: ExitStack, name: str, found: Found) -> None:
    process = stack.enter_context(
        subprocess.Popen(
            [VENV / "bin" / "python", WORKER, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    )
    assert process.stdin and process.stdout and process.stderr
    asked, answers = process.stdin, process.stdout
    stack.callback(asked.close)  # before the wait of Popen.__exit__
    version = answers.readline().strip()
    if not version:
        process.kill()
        said = process.stderr.read().strip().splitlines()
        found.notes.append(f"NOT MEASURED: {name}: {said[-1] if said else 'ended at once'}")
        return

    def measure() -> Cost:
        asked.write("run\n")
        asked.flush()
        return Cost(float(answers.readline()), 0.0)

    found.measure[name] = measure
    found.notes.append(f"{name}: {NAMES[name]}, version {version}.")


@contextmanager
def rivals() -> Iterator[Found]:
    """Workers of all rivals that can be had."""
    found = Found()
    with ExitStack() as stack:
        if not MADE.is_file():
            found.notes.append(
                "NOT MEASURED: monty, sandlock, smolagents: the package index did not give them "
                "(python -m bench.rivals says why)"
            )
        else:
            for name in NAMES:
                _start(stack, name, found)
        yield found


if __name__ == "__main__":
    fault = prepare()
    if fault:
        print(f"the rivals of the bench are NOT MEASURED: {fault}", file=sys.stderr)
