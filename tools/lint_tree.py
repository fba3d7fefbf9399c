"""What must not be in any tracked file: package index hosts, build paths, binaries, too much.

The patterns are put together from pieces, so that this file does not contain what it looks for.
Usage: lint_tree.py; exit status 1 when it found something, as `file:line: sentence`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_BYTES = 1 << 20
MAX_LINES = 500  # of Python; lint_c.py has that of C

HOSTS = "pypi|pythonhosted|npmjs|yarnpkg|crates|rubygems|deb.debian|security.debian|anaconda|quay"
FORBIDDEN = {
    "the host of a package index (name the package, not the place)": re.compile(
        rf"\b(?:{HOSTS})\.(?:org|com|io)\b"
    ),
    "a path of a build machine": re.compile(
        r"/root/\.(?:pyenv|cache|config|local)\b|/(?:tmp/wt|wo" + r"rk/(?:main|shared|\.lib))\b"
    ),
    "a merge conflict marker": re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE),
}


def tracked(root: Path) -> list[Path]:
    """Files that git tracks. Raises CalledProcessError outside a checkout."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True)
    return [Path(name.decode()) for name in listing.stdout.split(b"\0") if name]


def check(path: Path, content: bytes) -> list[str]:
    """Findings of one file."""
    if len(content) > MAX_BYTES:
        return [f"{path}:1: larger than {MAX_BYTES >> 20} MiB: data this large is not source"]
    if content[:4] == b"\x7fELF" or content[:2] == b"!<":
        return [f"{path}:1: a compiled file"]
    text = content.decode("utf-8", "replace")
    lines = text.count("\n")
    if path.suffix == ".py" and lines > MAX_LINES:
        return [f"{path}:{MAX_LINES}: {lines} lines: split it, one idea to a file"]
    return [
        f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]!r} is {what}"
        for what, pattern in FORBIDDEN.items()
        for match in pattern.finditer(text)
    ]


def lint(root: Path) -> list[str]:
    """Findings of all tracked files that are there."""
    files = [path for path in tracked(root) if (root / path).is_file()]
    return [finding for path in files for finding in check(path, (root / path).read_bytes())]


if __name__ == "__main__":
    try:
        problems = lint(ROOT)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"skipped: this is no git checkout ({error})", file=sys.stderr)
        sys.exit(0)
    print(*problems, sep="\n", end="\n" if problems else "")
    sys.exit(1 if problems else 0)
