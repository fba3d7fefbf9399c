"""What the built extensions export, need and record: one init function, and no path of ours.

Usage: lint_binary.py FILE...; exit status 1 when it found something.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

#: module -> the shared libraries that it may need
MAY_NEED = {
    "_core": {
        *("libc", "libseccomp", "libutf8proc", "libcbor"),
        *("libpthread", "libm", "ld-linux-x86-64"),
    },
    "_child": {"libc", "libpthread"},
    "_janitor": {"libc"},
}
#: a program: it exports nothing
PROGRAMS = {"_janitor"}
#: dynamic section entries that a hardened library has
MUST_HAVE = {"BIND_NOW": re.compile(r"\(BIND_NOW\)|\bNOW\b")}


def exported(path: Path) -> set[str]:
    """Names of the symbols that other objects can bind to."""
    return set(_output(["nm", "-D", "--defined-only", "--format=just-symbols", str(path)]).split())


def check(path: Path) -> list[str]:
    """Findings of one extension."""
    module = path.name.partition(".")[0]
    findings = []
    names = exported(path)
    may_export = set() if module in PROGRAMS else {f"PyInit_{module}"}
    if names != may_export:
        shown = (", ".join(sorted(found)) or "nothing" for found in (names, may_export))
        findings.append("exports {}: it must be {}".format(*shown))
    dynamic = _output(["readelf", "--dynamic", "--wide", str(path)])
    for needed in re.findall(r"\(NEEDED\).*\[([^\]]+)\]", dynamic):
        if needed.partition(".so")[0] not in MAY_NEED[module]:
            findings.append(f"needs {needed}, which tools/lint_binary.py does not list")
    if re.search(r"\((?:RPATH|RUNPATH|TEXTREL)\)", dynamic):
        findings.append("has a run path or text relocations")
    findings += [f"lacks {name}" for name, there in MUST_HAVE.items() if not there.search(dynamic)]
    segments = _output(["readelf", "--program-headers", "--wide", str(path)])
    if not re.search(r"GNU_RELRO", segments) or re.search(r"GNU_STACK.*\bRWE\b", segments):
        findings.append("has no read-only relocations, or an executable stack")
    return [f"{path}: {finding}" for finding in findings]


def _output(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    problems = [problem for name in sys.argv[1:] for problem in check(Path(name))]
    print(*problems, sep="\n", end="\n" if problems else "")
    sys.exit(1 if problems or len(sys.argv) < 2 else 0)
