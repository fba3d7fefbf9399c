"""Build and run the C unit tests: one program for each tests/c/test_*.c.

The pure C files (no Python.h) and tree-sitter go into one archive, from which the linker takes
what a test needs, so a test lists nothing. Other .c files of tests/c are shared helpers.
A test that needs linker options (say, to make the n-th malloc fail) has them in a line

    /* link: -Wl,--wrap=malloc */

With --sanitize everything, tree-sitter included, runs under AddressSanitizer, LeakSanitizer and
UBSan. With --list only the names are printed; names given as arguments select tests.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

import fetch_sources
import layout
import native

TESTS = layout.ROOT / "tests" / "c"
LIBRARIES = (*native.CORE_LIBRARIES, "cmocka")
TIMEOUT_S = 120


def flags(source: Path, mode: native.Mode) -> list[str]:
    """Compiler flags of any C file: ours as in the extension; a test may see all pure headers."""
    if layout.ROOT / "tests" not in source.parents:
        return native.own_flags(source, mode, version="test")
    include = ["-Itests/c", "-Iext", "-Iguardrails", "-Igrading"]
    include += ["-isystem", layout.inside(layout.TREE_SITTER / "include")]
    include += native.system_include(native.pkg_config(LIBRARIES, "--cflags"))
    strict = ["-Werror"] if mode.werror else []
    base = ["-std=gnu11", "-D_GNU_SOURCE=", *native.code_flags(mode)]
    return [*base, *native.WARNINGS, *strict, *include]


def build(mode: native.Mode) -> dict[str, Path]:
    """Bring every test program up to date; return name -> program."""
    fetch_sources.ensure()
    folder = layout.ROOT / "build" / ("ctests-asan" if mode.sanitize else "ctests")
    helpers = [path for path in sorted(TESTS.glob("*.c")) if not path.name.startswith("test_")]
    sources = [*layout.pure_sources(), *helpers]
    objects = native.compile_all(sources, lambda s: flags(s, mode))
    archive = folder / "libpure.a"
    native.archive(archive, objects + native.third_party_objects(mode))
    tests = sorted(TESTS.glob("test_*.c"))
    made = native.compile_all(tests, lambda s: flags(s, mode))
    libraries = [*native.pkg_config(LIBRARIES, "--libs"), "-pthread", "-lm"]
    libraries += native.SANITIZERS if mode.sanitize else []
    programs = {}
    for test, thing in zip(tests, made, strict=True):
        options = " ".join(re.findall(r"^/\* link: (.*) \*/$", test.read_text(), re.MULTILINE))
        program = folder / test.stem
        needed = [thing, archive]
        native.link(program, needed, [*options.split(), *libraries])
        programs[test.stem] = program
    return programs


def run(name: str, program: Path) -> int:
    """Run one test program, show what it said when it failed; return the number of tests."""
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0"}
    environment |= {"UBSAN_OPTIONS": "print_stacktrace=1"}
    try:
        done = subprocess.run(
            [program],
            cwd=layout.ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT_S,
        )
        output, fault = done.stdout, f"exit status {done.returncode}" if done.returncode else ""
    except subprocess.TimeoutExpired as error:
        output, fault = error.stdout or b"", f"still running after {TIMEOUT_S} s"
    text = output.decode("utf-8", "replace")
    ran = sum(
        int(n) for n in re.findall(r"^\[==========\].* (\d+) test\(s\) run", text, re.MULTILINE)
    )
    if not fault and not ran:
        fault = "it ran no test"
    if fault:
        print(text)
    print(f"{'FAILED' if fault else 'ok':6}  {name:32} {fault or f'{ran} tests'}", flush=True)
    return -1 if fault else ran


def main() -> int:
    """Build, run, summarise; return the exit status."""
    parser = argparse.ArgumentParser(description="C unit tests")
    parser.add_argument("--sanitize", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("name", nargs="*")
    options = parser.parse_args()
    try:
        programs = build(native.Mode(sanitize=options.sanitize))
    except (native.BuildError, fetch_sources.FetchError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    unknown = set(options.name) - set(programs)
    if unknown:
        print(f"error: no such test: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    chosen = {name: programs[name] for name in sorted(options.name) or programs}
    if options.list:
        print(*chosen, sep="\n")
        return 0
    counts = [run(name, program) for name, program in chosen.items()]
    failed = sum(count < 0 for count in counts)
    total = sum(max(count, 0) for count in counts)
    print(f"C tests: {total} tests in {len(counts)} programs, {failed} failed")
    return 1 if failed or not counts else 0


if __name__ == "__main__":
    sys.exit(main())
