"""The static check against CPython's own parser, on real code: the standard library."""

from __future__ import annotations

import ast
import sysconfig
import warnings
from pathlib import Path

import csandbox
from bench.measure import Cost, interleave, timed
from bench.report import Section

#: Not programs that people write: generated tables, files made to break parsers.
LEFT_OUT = {"test", "tests", "lib2to3", "idlelib", "site-packages", "dist-packages", "__pycache__"}
SMALLEST_BYTES = 2_000
LARGEST_BYTES = 200_000


def corpus(wanted_bytes: int) -> list[bytes]:
    """Sources of the standard library, by name, until there are so many bytes.

    Each is UTF-8 that this CPython parses.
    """
    root = Path(sysconfig.get_paths()["stdlib"])
    found: list[bytes] = []
    total = 0
    for path in sorted(root.rglob("*.py")):
        if total >= wanted_bytes:
            break
        if LEFT_OUT & set(path.relative_to(root).parts):
            continue
        source = path.read_bytes()
        if not SMALLEST_BYTES <= len(source) <= LARGEST_BYTES or not _parses(source):
            continue
        found.append(source)
        total += len(source)
    return found


def _parses(source: bytes) -> bool:
    try:
        source.decode()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ast.parse(source)
    except (SyntaxError, ValueError, SyntaxWarning, DeprecationWarning):
        return False
    return True


def guard(rounds: int, wanted_bytes: int) -> Section:
    """`check` of every source against `ast.parse` of the same."""
    sources = corpus(wanted_bytes)

    def checking(profile: str) -> Cost:
        chosen = csandbox.Profile.load(profile)
        return timed(lambda: [csandbox.check(source, profile=chosen) for source in sources])

    findings = sum(len(list(csandbox.check(source, profile="compute"))) for source in sources)
    size = sum(map(len, sources))
    return Section(
        key="guard",
        title=f"check against ast.parse: {size} bytes in {len(sources)} files of the stdlib",
        base="ast.parse",
        samples=interleave(
            {
                "ast.parse": lambda: timed(lambda: [ast.parse(source) for source in sources]),
                "csandbox.check": lambda: checking("compute"),
                "csandbox.check, integrity only": lambda: checking("open"),
            },
            rounds,
        ),
        goals={"csandbox.check": (0.0, 1.0)},
        notes=(f"Profile compute reports {findings} findings in these files.",),
    )
