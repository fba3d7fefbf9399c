"""Do the parser and CPython see the same in real files, and in made-up ones?

For each file: imports, attributes, calls, variables read and text constants as CPython's ``ast``
has them, against what the guard's walk saw; then the second opinion over the code objects. What
differs and why it may is in docs/explanation/parser-differences.md. The hunt mutates the same
files and grammar-made programs for a given time and reports what nobody has seen before.

Usage: differential.py [--share PERCENT] [--hunt SECONDS] [--seed N] [--jobs N] [--json FILE] [-v]
       [PATH...]

PATH is a file, a folder, or a .jsonl file of rows with ``code`` (or ``code_b64``,
``code_b64_zlib``); none means the standard library with its tests, the installed packages, and
tests/rules/differentials.jsonl. Exit status 1 when something is unexplained.
"""

from __future__ import annotations

import argparse
import ast
import base64
import json
import multiprocessing
import os
import random
import re
import sys
import sysconfig
import time
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import diff_views

from csandbox import _core

ROOT = Path(__file__).resolve().parent.parent
#: Neither reader's limits are the subject.
MAX_NODES = 1 << 26
#: What the hunt starts from.
SEED_BYTES, MOST_SEEDS = 200_000, 3000
_config: _core.Guard  # of a worker process
#: Codes by which a source is refused before anybody reads it as a program.
UNREAD = {"CSB002", "CSB003", "CSB004", "CSB005", "CSB006", "CSB007", "CSB008", "CSB009"}


def guard() -> _core.Guard:
    """All integrity rules, every import, no small limits."""
    return _core.Guard(
        {
            "profile": "differential",
            "select": ["CSB0"],
            "ignore": [],
            "mode": {},
            "imports_allow": [],
            "imports_deny": [],
            "max_source_bytes": 64 << 20,
            "max_nodes": MAX_NODES,
            "max_depth": 2000,
            "max_findings_per_rule": 5,
            "max_time_ms": 600_000,
            "builtins_allow": [],
            "attributes_allow": [],
            "import_help": {},
        }
    )


@dataclass
class Outcome:
    """What was found of one source: `verdict`, and for differences what was where."""

    verdict: str  # same | explained | unexplained | refused | cpython-refuses | unread
    kinds: list[str] = field(default_factory=list)  # of differences; codes of refusals
    detail: list[str] = field(default_factory=list)


def compiled(text: str) -> tuple[ast.AST, Any] | None:
    """Tree and code of what CPython accepts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text), compile(text, "<differential>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
            return None


def blocking(diagnostics: list[Any]) -> set[str]:
    """Codes of what blocks."""
    return {found["code"] for found in diagnostics if found["severity"] == "error"}


def judge(config: _core.Guard, source: bytes) -> Outcome:
    """Compare both readers over one source."""
    checked = _core.check(config, source, "differential.py")
    codes = blocking(checked["diagnostics"])
    if codes & UNREAD:
        return Outcome("unread", sorted(codes))
    text = checked["source"]
    read = compiled(text.decode("utf-8", "surrogatepass"))
    if read is None:
        return Outcome("cpython-refuses", sorted(codes))
    tree, code = read
    facts = diff_views.packed(diff_views.facts_of(code))
    second = _core.compare(checked["checked"], facts)
    after = blocking(second)
    if codes:
        return Outcome("refused" if after else "only-cpython-reads", sorted(after or codes))
    if after:
        said = [found["message"] for found in second if found["code"] in after]
        return Outcome("unexplained", ["second opinion"], said)
    return compared(text, diff_views.of_tree(tree), _core.view(text))


def compared(text: bytes, cpython: diff_views.View, seen: dict[str, list[str]]) -> Outcome:
    """What one saw and the other did not."""
    walk = diff_views.of_walk(seen)
    only_cpython = {kind: cpython[kind] - walk[kind] for kind in diff_views.KINDS}
    only_walk = {kind: walk[kind] - cpython[kind] for kind in diff_views.KINDS}
    explained = []
    if drop_prefixes(only_cpython["strings"], seen["prefixes"]):
        explained.append("named-escape")
    for name, explain in EXPLANATIONS.items():
        if explain(text, only_cpython, only_walk):
            explained.append(name)
    detail = [f"only CPython: {k} {shown(v)}" for k, v in only_cpython.items() if v]
    detail += [f"only the walk: {k} {shown(v)}" for k, v in only_walk.items() if v]
    if detail:
        return Outcome("unexplained", ["walk"], detail)
    return Outcome("explained" if explained else "same", explained)


def shown(items: Counter[str]) -> str:
    """A few of them, in ASCII."""
    most = [f"{text[:60]!a} x{count}" for text, count in items.most_common(4)]
    return ", ".join(most) + (", ..." if len(items) > 4 else "")


def drop_prefixes(strings: Counter[str], prefixes: list[str]) -> bool:
    r"""Take out what the walk knows but for a character by name (`\N{...}`)."""
    dropped = False
    for prefix in prefixes:
        pattern = re.compile(".".join(map(re.escape, prefix.split("\ufffd"))), re.DOTALL)
        match = next((text for text in strings if pattern.fullmatch(text)), None)
        if match is not None:
            strings.subtract([match])
            strings += Counter()
            dropped = True
    return dropped


def type_statement(text: bytes, cpython: diff_views.View, walk: diff_views.View) -> bool:
    """`type(x).a = 1` is a type alias for the parser, and `type` a keyword."""
    if b"type" not in text or not (cpython["names"]["type"] or cpython["calls"]["type"]):
        return False
    for kind in ("names", "calls"):
        del cpython[kind]["type"]
    return True


#: `{name:=` in a formatted string.
COLON_EQUALS = re.compile(rb"\{[^{}]*:=[^}]*(?:\}[^}\n]*)*", re.DOTALL)


def format_after_walrus(text: bytes, cpython: diff_views.View, walk: diff_views.View) -> bool:
    """The format of f"{x:=+8d}" is an expression for the parser, which so sees more of it."""
    found = b" ".join(COLON_EQUALS.findall(text)).decode("utf-8", "replace")
    formats = [spec for spec in cpython["strings"] if found and spec.startswith("=")]
    for spec in formats:
        del cpython["strings"][spec]
    for kind in ("names", "calls", "attributes"):
        for name in list(walk[kind]) if formats else ():
            if name in found:
                del walk[kind][name]
    for own in [text for text in walk["strings"] if ":=" in text]:
        del walk["strings"][own]
    return bool(formats)


def type_suffix(text: bytes, cpython: diff_views.View, walk: diff_views.View) -> bool:
    """In `v: t[0].mytype()` the grammar takes the end of the name for the keyword `type`."""
    found = set(re.findall(rb":[^\n]*\]\s*\.\s*(\w+type)\s*\(", text))
    calls = [name for name in cpython["calls"] if name.encode() in found]
    for name in calls:
        del cpython["calls"][name]
    return bool(calls)


#: Kinds of differences that are understood: each takes what it explains out of both sides and
#: says whether there was any. docs/explanation/parser-differences.md has an example of each.
EXPLANATIONS = {
    "type-statement": type_statement,
    "type-suffix": type_suffix,
    "format-after-walrus": format_after_walrus,
}


def sources(
    paths: list[Path], share: float, chance: random.Random
) -> Iterator[tuple[str, Path | bytes]]:
    """Name of each source under the paths, or of a random share of them, and its place or bytes."""
    for path in paths:
        if path.suffix == ".jsonl":
            for line in path.read_text("utf-8").splitlines():
                row = json.loads(line)
                yield f"{path.name}:{row['id']}", source_of(row)
            continue
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            if file.is_file() and chance.random() < share:
                yield str(file), file


def judged(
    items: Iterator[tuple[str, Path | bytes]], jobs: int
) -> Iterator[tuple[str, bytes, Outcome]]:
    """Name, bytes and outcome of each source, in order; in `jobs` processes when more than one."""
    if jobs == 1:
        _begin()
        yield from map(_work, items)
        return
    # The pool reads all items ahead: names, not contents.
    with multiprocessing.get_context("spawn").Pool(jobs, _begin) as workers:
        yield from workers.imap(_work, items, chunksize=8)


def _begin() -> None:
    global _config
    _config = guard()


def _work(item: tuple[str, Path | bytes]) -> tuple[str, bytes, Outcome]:
    name, place = item
    source = place.read_bytes() if isinstance(place, Path) else place
    return name, source, judge(_config, source)


def source_of(row: dict[str, Any]) -> bytes:
    """The code of a corpus row, byte for byte."""
    if "code_b64_zlib" in row:
        return zlib.decompress(base64.b64decode(row["code_b64_zlib"]))
    if "code_b64" in row:
        return base64.b64decode(row["code_b64"])
    return str(row["code"]).encode("utf-8", "surrogatepass")


def signature(outcome: Outcome) -> str:
    """Two finds of the same shape are one."""
    return re.sub(r"'.*?'|\".*?\"|`.*?`", "", " ".join([*outcome.kinds, *outcome.detail]))


def hunt(config: _core.Guard, files: list[bytes], seconds: float, number: int) -> dict[str, bytes]:
    """Smallest sources that nobody has explained, by the shape of their difference."""
    from diff_hunt import from_grammar, minimised, mutants

    found: dict[str, bytes] = {}
    tried = Counter[str]()

    def new(source: bytes) -> bool:
        outcome = judge(config, source)
        tried[outcome.verdict] += 1
        return outcome.verdict == "unexplained" and signature(outcome) not in found

    def keep(source: bytes) -> None:
        outcome = judge(config, source)
        found[signature(outcome)] = source
        report(repr(source), outcome, True)

    began = time.monotonic()
    half, end = began + seconds / 2, began + seconds
    for source in mutants(files, random.Random(number), half):
        if new(source):
            wanted = signature(judge(config, source))
            keep(
                minimised(
                    source,
                    lambda less: signature(judge(config, less)) == wanted,  # noqa: B023
                    min(end, time.monotonic() + 5),
                )
            )
    while time.monotonic() < end:
        number += 1
        best, _ = from_grammar(new, number, end)
        if best is not None and new(best):
            keep(best)
    sys.stdout.flush()
    print(f"hunt: {sum(tried.values())} sources, {dict(tried)}, {len(found)} new differences")
    return found


def default_paths() -> list[Path]:
    """The standard library with its tests, the packages beside us, the corpus."""
    stdlib = Path(sysconfig.get_path("stdlib"))
    packages = Path(sysconfig.get_path("purelib"))
    return [stdlib, packages, ROOT / "tests" / "rules" / "differentials.jsonl"]


def main() -> int:
    """Compare, hunt, report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH")
    parser.add_argument("--share", type=float, default=100.0, metavar="PERCENT")
    parser.add_argument("--hunt", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--json", type=Path, metavar="FILE", help="a report per file")
    parser.add_argument("-v", action="store_true", help="name each file that is not the same")
    options = parser.parse_args()
    began = time.monotonic()
    outcomes: dict[str, Outcome] = {}
    size = 0
    seeds: list[bytes] = []
    chance = random.Random(options.seed)
    items = sources(options.paths or default_paths(), options.share / 100, chance)
    for name, source, outcome in judged(items, max(1, options.jobs)):
        outcomes[name] = outcome
        size += len(source)
        if len(source) < SEED_BYTES and len(seeds) < MOST_SEEDS:
            seeds.append(source)
        report(name, outcome, options.v)
    spent = time.monotonic() - began
    print(f"{len(outcomes)} files, {size / 1e6:.1f} MB, {spent:.0f} s")
    for (verdict, kinds), count in sorted(
        Counter((one.verdict, " ".join(one.kinds)) for one in outcomes.values()).items()
    ):
        print(f"  {count:6} {verdict}{': ' if kinds else ''}{kinds}")
    if options.json:
        options.json.write_text(json.dumps({k: vars(v) for k, v in outcomes.items()}, indent=1))
    found: dict[str, bytes] = {}
    if options.hunt > 0:
        found = hunt(guard(), seeds, options.hunt, options.seed)
    wrong = bool(found) or any(one.verdict == "unexplained" for one in outcomes.values())
    return 1 if wrong else 0


def report(name: str, outcome: Outcome, verbose: bool) -> None:
    """One line for what is worth one, and what it is about."""
    if outcome.verdict == "unexplained" or (verbose and outcome.verdict != "same"):
        print(f"{name}: {outcome.verdict} {' '.join(outcome.kinds)}", flush=True)
        for line in outcome.detail:
            print(f"    {line}")


if __name__ == "__main__":
    sys.exit(main())
