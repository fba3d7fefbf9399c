"""Run every program beside this file and say how it ended and which layer stopped it.

`make demo`, or `python examples/demo.py`. Half of the programs are hostile; those meet the kernel's
layers under the profile `open`, which has no guard in front. Exit status: 0 when each outcome is
the expected one, 1 otherwise.
"""

from __future__ import annotations

import errno
import importlib.util
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import csandbox

HERE = Path(__file__).resolve().parent
LIMITS = csandbox.Limits(cpu_s=1, wall_s=60, memory_bytes=256 * csandbox.MiB)


@dataclass(frozen=True)
class Case:
    """A program, how it is run, and what has to come of it.

    ``layer`` is the beginning of what `layer()` says; "" when nothing stops the program.
    """

    file: str
    profile: str
    verdict: str
    layer: str = ""
    stdout: str | None = None
    stdin: str = ""
    needs: str | None = None


CASES = (
    Case("primes.py", "minimal", "accepted", stdout="78498\n"),
    Case("word_count.py", "contest", "accepted", stdout="a 3\nb 2\n", stdin="a b c A b a\n"),
    Case("deep_recursion.py", "contest", "accepted", stdout="20000\n"),
    Case("least_squares.py", "compute", "accepted", stdout="3.0 2.0\n", needs="numpy"),
    Case("scratch_files.py", "compute", "accepted", stdout="328350\n"),
    Case("off_by_one.py", "contest", "runtime_error", "none: IndexError", stdout="3\n1\n2\n"),
    Case("walks_subclasses.py", "contest", "rejected", "guard: CSB2", stdout=""),
    Case("walks_subclasses.py", "open", "accepted", "seccomp: clone", "no shell\n"),
    Case("reads_host_file.py", "open", "runtime_error", "Landlock: /etc/passwd", stdout=""),
    Case("opens_socket.py", "open", "runtime_error", "seccomp: socket", stdout=""),
    Case("forks.py", "open", "runtime_error", "seccomp: clone", stdout=""),
    Case("eats_memory.py", "open", "memory_limit", "limit: memory", stdout=""),
    Case("loops.py", "open", "time_limit", "limit: cpu", stdout=""),
    Case("floods_output.py", "open", "output_limit", "limit: output"),
)


def layer(result: csandbox.Result) -> str:
    """Which layer stopped the program, or refused it something, as the result tells it.

    The guard says so itself. seccomp's denials are counted from outside, limits are named; Landlock
    answers EACCES (seccomp's answer is EPERM), which the program's last line of stderr shows.
    """
    errors = [d for d in result.diagnostics if d.severity == "error"]
    if errors:
        return f"guard: {errors[0].code} {errors[0].name}"
    if result.limit_hit is not None:
        return f"limit: {result.limit_hit}"
    if result.violations:
        return f"seccomp: {', '.join(sorted({v['syscall'] for v in result.violations}))}"
    last = result.stderr.strip().splitlines()[-1] if result.stderr.strip() else ""
    if last.startswith(f"PermissionError: [Errno {errno.EACCES}]"):
        return f"Landlock: {last.rpartition(': ')[2].strip(chr(39))}"
    if result.verdict == "accepted":
        return ""
    return f"none: {last}"


def wrong(case: Case, result: csandbox.Result) -> str:
    """What differs from the expected outcome; "" when nothing does."""
    found = layer(result)
    if result.verdict != case.verdict:
        return f"expected {case.verdict}, got {result!r} {result.stderr}"
    if not found.startswith(case.layer) or bool(found) != bool(case.layer):
        return f"expected the layer {case.layer or 'none'!r}, got {found!r}"
    if case.stdout is not None and result.stdout != case.stdout:
        return f"expected the output {case.stdout!r}, got {result.stdout!r}"
    return ""


def main() -> int:
    """Print the table; return the exit status."""
    print(f"{'program':20} {'profile':8} {'verdict':14} {'stopped by':38} {'ms':>6}")
    failures = []
    ran = 0
    for case in CASES:
        if case.needs is not None and importlib.util.find_spec(case.needs) is None:
            print(f"{case.file:20} {case.profile:8} not run: {case.needs} is not installed")
            continue
        ran += 1
        source = (HERE / case.file).read_bytes()
        began = time.perf_counter()
        result = csandbox.run(
            source, stdin=case.stdin, profile=case.profile, limits=LIMITS, filename=case.file
        )
        spent_ms = (time.perf_counter() - began) * 1000
        shown = layer(result) or "-"
        print(f"{case.file:20} {case.profile:8} {result.verdict:14} {shown:38} {spent_ms:6.0f}")
        problem = wrong(case, result)
        if problem:
            failures.append(f"{case.file} under {case.profile}: {problem}")
    if failures:
        print(f"\n{len(failures)} not as expected:", *failures, sep="\n  ")
        return 1
    print(f"\n{ran} of {len(CASES)} runs made, every outcome as expected.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
