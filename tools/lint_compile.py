"""Compile every C file of ours with warnings as errors, and run clang-tidy over it.

Both remember what was fine: the compiler by its cache of objects (tools/native.py), clang-tidy by
an empty file below build/tidy whose name is the digest of everything that it read. So a second
call takes a second, and a change is checked alone.

Usage: lint_compile.py [--no-tidy]; exit status 1 when either found something.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import ctests
import fetch_sources
import layout
import native

STAMPS = layout.ROOT / "build" / "tidy"
MODE = native.Mode(werror=True)
# Hardening is for gcc's code generator; clang-tidy only reads.
UNKNOWN_TO_TIDY = {*native.HARDENING, "-fcf-protection", "-mbranch-protection=standard"}


def sources() -> list[Path]:
    """Ours, the C tests and their helpers, and other C below tests/ (the probes)."""
    return [*layout.own_sources(), *sorted((layout.ROOT / "tests").rglob("*.c"))]


def tidy(source: Path) -> str:
    """Run clang-tidy over a file unless this very text was fine before; return its complaint."""
    tool = str(Path(sys.executable).parent / "clang-tidy")
    flags = [flag for flag in ctests.flags(source, MODE) if flag not in UNKNOWN_TO_TIDY]
    command = [tool, "--quiet", layout.inside(source), "--", *flags, "-Wno-unknown-warning-option"]
    stamp = STAMPS / _digest(source, command)
    if stamp.exists():
        return ""
    native.say(f"tidy {layout.inside(source)}")
    done = subprocess.run(command, cwd=layout.ROOT, capture_output=True, text=True, check=False)
    if done.returncode == 0 and not done.stdout:
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.touch()
        return ""
    return done.stdout or done.stderr


def _digest(source: Path, command: list[str]) -> str:
    """Digest of the file, of every header and table of ours, of the settings and the tool."""
    root = layout.ROOT
    read = [source, root / ".clang-tidy", root / "tests" / ".clang-tidy"]
    read += [root / "tools" / "requirements-lint.txt"]
    read += [*layout.headers(), *sorted((root / "tests").rglob("*.h"))]
    whole = hashlib.sha256("\0".join(command).encode())
    for path in read:
        whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()


def main() -> int:
    """Check; return the exit status."""
    fetch_sources.ensure()
    native.compile_all(sources(), lambda source: ctests.flags(source, MODE))
    if "--no-tidy" in sys.argv[1:]:
        return 0
    jobs = int(os.environ.get("CSANDBOX_JOBS", "0")) or os.cpu_count() or 1
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        complaints = [text for text in pool.map(tidy, sources()) if text]
    print(*complaints, sep="\n", end="\n" if complaints else "")
    return 1 if complaints else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (native.BuildError, fetch_sources.FetchError) as problem:
        sys.exit(f"error: {problem}")
