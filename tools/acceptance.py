"""Real programs must run, known escapes must not: `make acceptance CSANDBOX_DATA=DIR`.

DIR holds corpus/ and datasets/ (their README files describe the fields). Five parts:

humaneval   each canonical solution with its tests, profile contest, guard on: must be accepted
legit       honest programs, under the first profile that lets them run (contest, compute; agent
            only for rows that say that profiles may differ): accepted, stdout exact
kernel      escapes of layer "kernel", profile open (no guard): none may reach its effect
guard       escapes of layer "guardrail": at least 98 of 100 refused under minimal, and each that is
            not is in docs/explanation/what-the-guard-cannot-see.md with its reason
stdlib      every file of the standard library and its tests that CPython compiles: no integrity
            rule may refuse it, but for those that exist to be odd, each named here

Prints counts and every exception by id. Exit status: 0 as required, 1 not, 2 DIR is not usable.
Without a DIR it says so and exits with 0.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import os
import re
import subprocess
import sys
import sysconfig
import textwrap
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import csandbox

Row = Mapping[str, Any]

EFFECT = "EFFECT"
PROBE = Path("/tmp/probe")  # the corpus's rows name it
WATCHED = (PROBE, Path("/var/tmp"), Path("/dev/shm"))  # where rows try to leave something
CANARY = "CSANDBOX_ACCEPTANCE"  # sorts before HOME: k-env-secrets prints the first three names
LIMITS = csandbox.Limits(cpu_s=10, wall_s=40)
KERNEL_LIMITS = csandbox.Limits(cpu_s=1, wall_s=3, memory_bytes=256 * csandbox.MiB)
INDENT: dict[str, Any] = {
    "initial_indent": "    ",
    "subsequent_indent": "        ",
    "break_on_hyphens": False,
}
PROFILES = ("contest", "compute", "agent")
GUARD_PROFILES = ("minimal", "contest", "compute")

#: Honest programs that this version does not run, and why. Each is still tried, and one that runs
#: after all is a failure, so that this list stays true.
LEGIT_EXCEPTIONS = {
    "legit-layout-12": "opens __file__: the source is never a file in the child",
}


#: What passes the guard is listed there, by id.
CANNOT_SEE = Path(__file__).parents[1] / "docs" / "explanation" / "what-the-guard-cannot-see.md"
GUARD_GOAL = 0.98

#: Files of the standard library's tests that are there to be refused by somebody.
ODD_ON_PURPOSE = {
    "test/encoded_modules/module_iso_8859_1.py": "ISO 8859-1, to test coding cookies",
    "test/encoded_modules/module_koi8_r.py": "KOI8-R, to test coding cookies",
    "test/test_source_encoding.py": "KOI8-R, to test coding cookies",
    "test/test_traceback.py": "full-width identifiers, to test carets",
    "test/test_unicode_identifiers.py": "identifiers that NFKC changes, to test them",
}


def _ended_by_limit(result: csandbox.Result) -> bool:
    return result.verdict == "time_limit"


def _always(result: csandbox.Result) -> bool:
    return True


#: Rows of layer "kernel" that may print EFFECT: why that is harmless, and what must hold then.
KERNEL_HARMLESS: dict[str, tuple[str, Callable[[csandbox.Result], bool]]] = {
    "k-access-probe": ("existence of a path is visible, see SECURITY.md", _always),
    "k-stat-probe": ("existence of a path is visible, see SECURITY.md", _always),
    "k-block-signals": ("prints before it sleeps; the wall limit ends it", _ended_by_limit),
    "k-ignore-term": ("prints before it sleeps; the wall limit ends it", _ended_by_limit),
    "k-dev-full": ("/dev/zero is one of the devices that every profile reads", _always),
    "k-env-secrets": (
        "prints its own environment; nothing of the caller's is in it",
        lambda result: CANARY not in result.stdout,
    ),
    "k-exec": (
        "prints EFFECT-before; the exec after it is refused",
        lambda result: result.stdout == "EFFECT-before\n" and _denied(result, "execve"),
    ),
    "k-read-src": ("lists its own working folder", _always),
    "k-read-ssh": ("its home is its own working folder", _always),
    "k-socketpair": ("control row: asyncio needs one", _always),
    "k-sys-eventfd": ("stays inside the process", _always),
    "k-sys-rseq": ("glibc registers each thread; stays inside the process", _always),
    "k-sys-set-robust": ("glibc registers each thread; stays inside the process", _always),
}


@dataclass
class Part:
    """What one part found: a sentence, failures, and exceptions that are no failures."""

    name: str
    sentence: str = ""
    failures: dict[str, str] = field(default_factory=dict)
    exceptions: dict[str, str] = field(default_factory=dict)


class DataError(Exception):
    """The folder does not hold what is needed; the message says what is missing."""


def read_rows(path: Path) -> list[Row]:
    """Rows of a JSON-lines file, gzipped or not."""
    try:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from None
    return [json.loads(line) for line in raw.splitlines()]


def source_of(row: Row) -> bytes:
    """The program, byte for byte."""
    return base64.b64decode(row["code_b64"]) if "code_b64" in row else row["code"].encode()


def _denied(result: csandbox.Result, name: str) -> bool:
    return any(violation["syscall"] == name for violation in result.violations)


def one_line(text: str) -> str:
    """The last line of a program's output, short and without control characters."""
    last = text.strip().splitlines()[-1:] or [""]
    return ascii(last[0][:120])


def what_happened(result: csandbox.Result) -> str:
    """A result as one line."""
    return (
        f"{result.summary()} | stdout {one_line(result.stdout)} | stderr {one_line(result.stderr)}"
    )


class Tester:
    """Runs rows in threads with one interpreter, and says what it has."""

    def __init__(self, python: str | None, jobs: int) -> None:
        self.python = python
        self.pool = ThreadPoolExecutor(jobs)
        self.executable = python or sys.executable
        version = self._ask("import sys; print(*sys.version_info[:3])").split()
        self.version = tuple(int(part) for part in version)
        self._has: dict[str, bool] = {}

    def _ask(self, code: str) -> str:
        command = [self.executable, "-I", "-c", code]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def has(self, module: str) -> bool:
        """Whether the interpreter can find a module."""
        if module not in self._has:
            code = f"import importlib.util as u; print(u.find_spec({module!r}) is not None)"
            self._has[module] = self._ask(code).strip() == "True"
        return self._has[module]

    def why_not(self, row: Row) -> str:
        """Why a row cannot be run here; "" when it can."""
        wanted = tuple(int(part) for part in row["min_python"].split("."))
        if self.version < wanted:
            return f"not run: needs CPython {row['min_python']}"
        missing = [name for name in row["needs"] if not self.has(name)]
        return f"not run: needs {', '.join(missing)}" if missing else ""

    def run(self, source: str | bytes, **options: Any) -> csandbox.Result | csandbox.SandboxError:
        """One run; what is our fault comes back as a value, to be counted like the rest."""
        try:
            return csandbox.run(source, python=self.python, **options)
        except csandbox.SandboxError as error:
            return error

    def each(self, work: Callable[[Row], Any], rows: list[Row]) -> Iterator[tuple[Row, Any]]:
        """(row, result) in order; the work is done in threads."""
        return zip(rows, self.pool.map(work, rows), strict=True)


def humaneval(tester: Tester, rows: list[Row]) -> Part:
    """Each solution with its tests; the line printed after them is the evidence that they ran."""

    def work(row: Row) -> csandbox.Result | csandbox.SandboxError:
        program = (
            f"{row['prompt']}{row['canonical_solution']}\n{row['test']}\n"
            f"check({row['entry_point']})\nprint('tests done')\n"
        )
        return tester.run(program, profile="contest", limits=LIMITS, filename="solution.py")

    part = Part("humaneval")
    for row, result in tester.each(work, rows):
        if isinstance(result, csandbox.SandboxError):
            part.failures[row["task_id"]] = str(result)
        elif not result.ok or not result.stdout.endswith("tests done\n"):
            part.failures[row["task_id"]] = what_happened(result)
    passed = len(rows) - len(part.failures)
    part.sentence = f"{passed} of {len(rows)} solutions pass their tests under contest"
    return part


def run_honest(
    tester: Tester, row: Row
) -> tuple[str, str, csandbox.Result | csandbox.SandboxError]:
    """(profile, why not a narrower one, result) under the narrowest profile that lets it run.

    Programs that write files begin at compute: contest has none to write.
    """
    first = 1 if row["class"] == "files" or row["needs"] else 0
    last = len(PROFILES) if row.get("policy_dependent") else len(PROFILES) - 1
    refused: list[str] = []
    for name in PROFILES[first:last]:
        result = tester.run(source_of(row), profile=name, stdin=row["stdin"] or "", limits=LIMITS)
        if isinstance(result, csandbox.SandboxError) or result.verdict != "rejected":
            break
        codes = sorted({d.code for d in result.diagnostics if d.severity == "error"})
        refused.append(f"{name} refuses it ({', '.join(codes)})")
    return name, "; ".join(refused), result


def legit(tester: Tester, rows: list[Row]) -> Part:
    """Honest programs: accepted, and stdout to the byte."""

    def work(row: Row) -> tuple[str, str, csandbox.Result | csandbox.SandboxError | None]:
        return ("", "", None) if tester.why_not(row) else run_honest(tester, row)

    part = Part("legit")
    ran: Counter[str] = Counter()
    for row, (name, refused, result) in tester.each(work, rows):
        key = row["id"]
        if result is None:
            part.exceptions[key] = tester.why_not(row)
            continue
        problem = ""
        if isinstance(result, csandbox.SandboxError):
            problem = str(result)
        elif not result.ok:
            problem = what_happened(result)
        elif result.stdout_bytes != row["expect_stdout"].encode():
            problem = f"stdout {result.stdout[:80]!r}, not {row['expect_stdout'][:80]!r}"
        if problem and key in LEGIT_EXCEPTIONS:
            part.exceptions[key] = LEGIT_EXCEPTIONS[key]
        elif key in LEGIT_EXCEPTIONS:
            part.failures[key] = "runs now: take it out of LEGIT_EXCEPTIONS"
        elif problem:
            part.failures[key] = f"under {name}: {problem}"
        else:
            ran[name] += 1
            if refused:
                part.exceptions[key] = f"runs under {name}: {refused}"
    by_profile = ", ".join(f"{name} {ran[name]}" for name in PROFILES)
    part.sentence = f"{sum(ran.values())} of {len(rows)} honest programs run ({by_profile})"
    return part


def left_behind() -> set[Path]:
    """Files that rows of the corpus may have made outside the sandbox."""
    return {path for folder in WATCHED if folder.is_dir() for path in folder.glob("k_*")}


@contextmanager
def probe_folder() -> Iterator[None]:
    """A folder that anybody may write to: only the sandbox keeps the rows out of it."""
    made = not PROBE.exists()
    PROBE.mkdir(exist_ok=True)
    if made:
        PROBE.chmod(0o777)
    try:
        yield
    finally:
        if made and not any(PROBE.iterdir()):
            PROBE.rmdir()


def kernel(tester: Tester, rows: list[Row]) -> Part:
    """Escapes without the guard: no EFFECT line and nothing left outside."""

    def work(row: Row) -> csandbox.Result | csandbox.SandboxError | None:
        if tester.why_not(row):
            return None
        options = {"profile": "open", "stdin": row.get("stdin") or "", "limits": KERNEL_LIMITS}
        return tester.run(source_of(row), **options)

    part = Part("kernel")
    os.environ[CANARY] = "secret"
    before = left_behind()
    with probe_folder():
        results = list(tester.each(work, rows))
    for path in left_behind() - before:
        part.failures[str(path)] = "was made on the host"
    stopped = 0
    for row, result in results:
        key = row["id"]
        reason, holds = KERNEL_HARMLESS.get(key, ("", None))
        if result is None:
            part.exceptions[key] = tester.why_not(row)
        elif isinstance(result, csandbox.SandboxError):
            part.failures[key] = str(result)
        elif result.verdict == "internal_error":
            part.failures[key] = what_happened(result)
        elif EFFECT not in result.stdout:
            stopped += 1
        elif holds is not None and holds(result):
            part.exceptions[key] = reason
        else:
            part.failures[key] = f"reached its effect: {what_happened(result)}"
    harmless = sum(1 for key in part.exceptions if key in KERNEL_HARMLESS)
    part.sentence = (
        f"{stopped} of {len(rows)} escapes stopped without the guard, {harmless} harmless, "
        f"{len(part.failures)} reached their effect"
    )
    return part


def guard(tester: Tester, rows: list[Row]) -> Part:
    """What the guard says about escapes that are meant for it; misses are listed, not failures."""

    def work(row: Row) -> tuple[bool, ...] | str:
        try:
            source = source_of(row)
            return tuple(csandbox.check(source, profile=name).ok for name in GUARD_PROFILES)
        except Exception as error:  # whatever it is, the guard must not raise
            return f"{type(error).__name__}: {error}"

    part = Part("guard")
    missed: list[str] = []
    refused = dict.fromkeys(GUARD_PROFILES, 0)
    hostile = 0
    for row, accepted in tester.each(work, rows):
        if isinstance(accepted, str):
            part.failures[row["id"]] = f"the guard raised {accepted}"
            continue
        if row["should"].startswith(("control", "checker answers")):
            continue  # nothing to refuse, or only that it answers
        hostile += 1
        for name, ok in zip(GUARD_PROFILES, accepted, strict=True):
            refused[name] += not ok
        names = [name for name, ok in zip(GUARD_PROFILES, accepted, strict=True) if ok]
        if "minimal" in names:
            missed.append(row["id"])
        if names:
            part.exceptions[row["id"]] = f"not refused under {', '.join(names)}"
    listed = re.findall(r"^\| `([a-z-]+)` \|", CANNOT_SEE.read_text("utf-8"), re.MULTILINE)
    for key in sorted(set(missed) ^ set(listed) & {row["id"] for row in rows}):
        why = "passes minimal, and" if key in missed else "is refused, but"
        part.failures[key] = f"{why} {CANNOT_SEE.name} says otherwise"
    if refused["minimal"] < GUARD_GOAL * hostile:
        part.failures["minimal"] = f"refuses fewer than {GUARD_GOAL:.0%}"
    counts = ", ".join(f"{count} under {name}" for name, count in refused.items())
    share = refused["minimal"] / max(hostile, 1)
    part.sentence = (
        f"of {hostile} escapes the guard refuses {counts} ({share:.1%} "
        f"under minimal); rows: {len(rows)}"
    )
    return part


def files_below(root: Path) -> list[Row]:
    """Each Python file but those of installed packages, as a row."""
    files = [path.relative_to(root) for path in sorted(root.rglob("*.py"))]
    return [
        {"id": path.as_posix(), "path": str(root / path)}
        for path in files
        if "site-packages" not in path.parts
    ]


def compiles(source: bytes) -> bool:
    """Whether this CPython reads the source."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(source, "stdlib", "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return False
    return True


def stdlib(tester: Tester, rows: list[Row]) -> Part:
    """Integrity rules over the standard library and its tests, both opinions where they differ."""

    def work(row: Row) -> str:
        source = Path(row["path"]).read_bytes()
        if csandbox.check(source, profile="open").ok:
            return "accepted"
        if not compiles(source):
            return "broken"
        report = csandbox.check(source, profile="open", confirm=True)
        return " ".join(sorted({d.code for d in report if d.severity == "error"})) or "confirmed"

    part = Part("stdlib")
    count: Counter[str] = Counter()
    for row, said in tester.each(work, rows):
        count[said] += 1
        if said in ("accepted", "broken"):
            continue
        if said == "confirmed":
            part.exceptions[row["id"]] = "only CPython reads it; nothing in it is refused"
        elif row["id"] in ODD_ON_PURPOSE:
            part.exceptions[row["id"]] = f"{said}: {ODD_ON_PURPOSE[row['id']]}"
        else:
            part.failures[row["id"]] = f"integrity rules refuse it: {said}"
    part.sentence = (
        f"of {len(rows)} files CPython refuses {count['broken']}; integrity rules refuse "
        f"{len(part.failures)} of the others, beside {len(part.exceptions) - count['confirmed']} "
        "that are odd on purpose"
    )
    return part


def say(part: Part, spent_s: float) -> None:
    """Print one part: the sentence, every exception by id (those of one reason together)."""
    print(f"{part.name:10} {part.sentence} ({spent_s:.1f} s)")
    by_reason: dict[str, list[str]] = {}
    for key, why in part.exceptions.items():
        by_reason.setdefault(why, []).append(key)
    for why, keys in by_reason.items():
        print(textwrap.fill(f"{why}: {', '.join(keys)}", 98, **INDENT))
    for key, why in part.failures.items():
        print(f"  ! {key}: {why}")
    sys.stdout.flush()


def main() -> int:
    """Run the five parts; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", default="", help="folder with corpus/ and datasets/")
    parser.add_argument("--python", default=None, help="run the programs with this CPython")
    parser.add_argument("--jobs", type=int, default=max(2, os.cpu_count() or 1))
    parser.add_argument(
        "--stdlib",
        type=Path,
        default=Path(sysconfig.get_path("stdlib")),
        help="folder whose files no integrity rule may refuse",
    )
    options = parser.parse_args()
    if not options.data:
        print("=" * 78)
        print("ACCEPTANCE WAS NOT RUN: there is no data. Nothing is known about real programs.")
        print("Call: make acceptance CSANDBOX_DATA=DIR   (DIR holds corpus/ and datasets/)")
        print("=" * 78)
        return 0
    folder = Path(options.data)
    try:
        tasks = read_rows(folder / "datasets" / "humaneval.jsonl.gz")
        honest = read_rows(folder / "corpus" / "legit.jsonl")
        escapes = read_rows(folder / "corpus" / "escapes.jsonl")
    except DataError as error:
        print(f"acceptance: {error}", file=sys.stderr)
        return 2
    tester = Tester(options.python, options.jobs)
    print(f"CPython {'.'.join(map(str, tester.version))}, {options.jobs} at a time")
    failed = 0
    for check, rows in (
        (humaneval, tasks),
        (legit, honest),
        (kernel, [row for row in escapes if row["layer"] == "kernel"]),
        (guard, [row for row in escapes if row["layer"] == "guardrail"]),
        (stdlib, files_below(options.stdlib)),
    ):
        began = time.perf_counter()
        part = check(tester, rows)
        say(part, time.perf_counter() - began)
        failed += len(part.failures)
    print(f"acceptance: {f'{failed} failed' if failed else 'as required'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
