"""Figures of grading, on real tasks: `python tools/acceptance_grading.py --data DIR [PART …]`.

DIR holds datasets/ (humaneval.jsonl.gz, code_contests_sample.jsonl). Parts, all by default:

humaneval  each task through the loader: how many become data wholly, whether each canonical
           solution passes, and whether small mutants of it get the verdict that the task's own
           check() gives
contests   the solutions in contest_solutions/, labelled right or wrong by their author (the sample
           has none of its own), against the sample's tests: every difference with its reason
hacks      tests/hacks: how many are accepted (0 is required), how many honest twins are refused
           (0 is required), how many hacks a plain grader in one interpreter accepts
audit      audit_task over all tasks: what programs that must fail were accepted, and the rest; the
           table also goes to build/audit.md and into its page of docs/. CSANDBOX_AUDIT_S seconds
           at most (1200)
speed      a HumanEval grading, a fresh child for each test, against check() in `python3 -I`; and
           gradings a second, one interleaved run

Exit status: 0 as required, 1 not, 2 DIR is not usable.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import json
import os
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import csandbox  # noqa: E402
from csandbox import CheckerTest, StdioTest  # noqa: E402
from tools import audit_datasets, contest_checkers  # noqa: E402

SOLUTIONS = Path(__file__).with_name("contest_solutions")
TABLE = ROOT / "build" / "audit.md"
PAGE = ROOT / "docs" / "explanation" / "data-sets.md"
FAST = csandbox.Limits(cpu_s=2, wall_s=20)
MUTANTS = 6


def rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a JSON-lines file, packed or not."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


class Mutate(ast.NodeTransformer):
    """One change, at the n-th place that can be changed."""

    SWAP: ClassVar[dict[type, type]] = {
        ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
        ast.NotEq: ast.Eq, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.And: ast.Or,
        ast.Or: ast.And, ast.In: ast.NotIn, ast.NotIn: ast.In,
    }  # fmt: skip

    def __init__(self, place: int) -> None:
        self.place = place
        self.seen = 0

    def _here(self) -> bool:
        self.seen += 1
        return self.seen - 1 == self.place

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Change the node when it is its turn."""
        op = getattr(node, "op", None)
        if type(op) in self.SWAP and self._here():
            node.op = self.SWAP[type(op)]()  # type: ignore[attr-defined]
        if isinstance(node, ast.Compare) and type(node.ops[0]) in self.SWAP and self._here():
            node.ops[0] = self.SWAP[type(node.ops[0])]()
        if isinstance(node, ast.Constant) and type(node.value) is int and self._here():
            node.value += 1
        if isinstance(node, ast.Return) and node.value is not None and self._here():
            node.value = ast.Constant(None)
        return super().generic_visit(node)


def mutants(source: str, entry: str) -> Iterator[str]:
    """A few programs with one change each, spread over the function that is asked for.

    Not in helpers of the prompt: check() would use the changed ones, and so judge by them.
    """

    def changed(place: int) -> tuple[ast.Module, Mutate]:
        tree, mutate = ast.parse(source), Mutate(place)
        found = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == entry]
        mutate.visit(found[-1])
        return tree, mutate

    _, counter = changed(-1)
    for place in sorted({counter.seen * n // MUTANTS for n in range(min(MUTANTS, counter.seen))}):
        yield ast.unparse(ast.fix_missing_locations(changed(place)[0]))


def own_check(task: csandbox.Task, row: dict[str, Any], source: str) -> bool:
    """What the task's own text says of an honest program: check() in one interpreter."""
    text = f"{source}\n\n{row['test']}\n\ncheck({task.entry})\nprint('passed all of it')\n"
    result = csandbox.run(text, profile="open", limits=FAST)
    return result.ok and result.stdout.endswith("passed all of it\n")


def humaneval(data: Path) -> bool:
    """Loader, canonical solutions and mutants."""
    tasks = [(csandbox.load_humaneval(row), row) for row in rows(data / "humaneval.jsonl.gz")]
    whole = sum(task.whole for task, _ in tasks)
    kinds = Counter(type(test).__name__ for task, _ in tasks for test in task)
    print(f"humaneval: {whole} of {len(tasks)} tasks are data wholly: {dict(kinds)}")
    for task, _ in tasks:
        for part in task.unconverted:
            print(f"  {task.id}: {part}")
    wrong = []
    pairs = [(task.reference, task) for task, _ in tasks]
    for place, report in csandbox.grade_many(pairs, limits=FAST, stop="never"):
        if not report.passed:
            wrong.append(f"  {tasks[place][0].id}: {report.summary()}")
    print(f"  canonical solutions refused: {len(wrong)} (each test in a child of its own)")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    changed = [
        (task, row, text) for task, row in tasks for text in mutants(task.reference, task.entry)
    ]
    graded = csandbox.grade_many(
        [(text, task) for task, _, text in changed], limits=FAST, isolation="submission"
    )
    same, kept, differ = 0, 0, []
    with ThreadPoolExecutor(2) as pool:
        checks = pool.map(lambda item: own_check(*item), changed)
        for (place, report), own in zip(graded, checks, strict=True):
            same += report.passed is own
            kept += own
            if report.passed is not own:
                text = f"  {changed[place][0].id}: {report.summary()}; check(): {own}"
                differ.append(text)
    print(f"  mutants: {len(changed)}, {kept} of them pass check(); same verdict: {same}")
    print(*differ, sep="\n", end="\n" if differ else "")
    return whole >= 150 and not wrong and not any("check(): False" in line for line in differ)


def contest_tasks(data: Path) -> dict[str, list[StdioTest]]:
    """The sample's tests by the task's short name, as the sample has them."""
    found = {}
    for row in rows(data / "code_contests_sample.jsonl"):
        name = json.loads(row["labels"])["name"].split(".")[0]
        found[name] = list(csandbox.load_io(row["test"], compare="tokens", hidden=False).tests)
    return found  # type: ignore[return-value]


def judged_by(name: str, tests: list[StdioTest]) -> list[StdioTest | CheckerTest]:
    """The same tests as the task's statement has them judged: many have several right answers."""
    checker = contest_checkers.CHECKERS.get(name)
    if checker is not None:
        return [
            CheckerTest(checker, stdin=t.stdin, expected=t.expected, id=t.id)  # type: ignore[misc]
            for t in tests
        ]
    compare = contest_checkers.COMPARISONS.get(name, "tokens")
    return [replace(test, compare=compare) for test in tests]


def contests(data: Path) -> bool:
    """Own solutions against the sample's tests, by each task's own way of judging.

    What the sample expects of an input that its statement does not allow is no evidence about a
    program: such tests (contest_checkers.ALLOWED) are counted, and do not make a label wrong.
    """
    tasks, texts = contest_tasks(data), solutions()
    fine = {
        name: dict(
            zip(
                (test.id for test in tests),
                contest_checkers.allowed(name, [str(test.stdin) for test in tests]),
                strict=True,
            )
        )
        for name, tests in tasks.items()
    }
    limits = csandbox.Limits(cpu_s=2, wall_s=30)
    agree, weak, differ, odd = 0, 0, [], Counter[str]()
    for label in ("right", "wrong", "wrong-2"):
        work = [
            (name, texts[name][label], judged_by(name, tests))
            for name, tests in tasks.items()
            if label in texts.get(name, {})
        ]
        if label != "right":  # one test that it does not pass is enough
            work = [(n, text, [t for t in tests if fine[n][t.id]]) for n, text, tests in work]
        graded = csandbox.grade_many(
            [(text, tests) for _, text, tests in work], limits=limits, feedback="full",
            stop="never" if label == "right" else "first",
        )  # fmt: skip
        for place, report in graded:
            name = work[place][0]
            bad = [r for r in report if r.verdict not in ("accepted", "skipped")]
            odd[name] += sum(not fine[name][row.id] for row in bad)
            bad = [row for row in bad if fine[name][row.id]]
            if (not bad) is (label == "right"):
                agree += 1
                continue
            if not bad and (name, label) in contest_checkers.UNNOTICED:
                why = contest_checkers.UNNOTICED[name, label]
                print(f"  {name} {label} passes: the tests are weak: {why}")
                weak += 1
                continue
            first = f"; {bad[0].id}: {bad[0].verdict} {bad[0].difference[:120]}" if bad else ""
            differ.append(f"  {name} {label}: fails {len(bad)} of {len(report)} tests{first}")
    count = sum(len(tests) for tests in tasks.values())
    outside = {name: n for name, t in fine.items() if (n := list(t.values()).count(False))}
    print(f"contests: {len(tasks)} tasks, {count} tests; the sample has no solutions of its own.")
    total = agree + weak + len(differ)
    print(
        f"  own solutions judged: {total}, as labelled: {agree}, differing: {len(differ)}, ", end=""
    )
    print(f"wrong ones that the tests let through: {weak}")
    print(*differ, sep="\n", end="\n" if differ else "")
    print(f"  tests whose input the statement does not allow: {sum(outside.values())} {outside}")
    print(f"  of these, tests that the right program does not pass: {dict(+odd)}")
    print(f"  tasks without own solutions: {sorted(set(tasks) - set(texts))} (interactive)")
    return not differ


def hacks(_: Path) -> bool:
    """The kit of tests/hacks, all of it."""
    from tests.hacks.kit import MODES, plain_verdict, techniques

    accepted, refused, broken = [], [], []
    for technique in techniques():
        for mode in MODES:
            for which in ("hack", "honest"):
                report = csandbox.grade(
                    technique.source(which, mode),
                    technique.tests(mode),
                    profile="open"
                    if which == "hack"
                    else technique.head.get("twin profile", "contest"),
                    limits=technique.limits,
                    isolation=technique.head.get("isolation", "test"),
                    seed=3,
                )
                name = f"{technique.name}/{mode}"
                if report.score is None:
                    broken.append(name)
                elif which == "hack" and report.passed:
                    accepted.append(name)
                elif which == "honest" and not report.passed:
                    refused.append(name)
    plain = [t.name for t in techniques() if plain_verdict(t, "hack") == "accepted"]
    print(f"hacks: {len(techniques())} techniques, each against {', '.join(MODES)}")
    print(f"  accepted: {len(accepted)} {accepted}; honest twins refused: {len(refused)} {refused}")
    print(f"  without a score: {len(broken)} {broken}")
    print(f"  a plain grader in one interpreter accepts {len(plain)} of {len(techniques())}")
    return not accepted and not refused and not broken


def solutions() -> dict[str, dict[str, str]]:
    """Our programs for the sample: task → label ("right", "wrong", "wrong-…") → text."""
    found: dict[str, dict[str, str]] = {}
    for path in sorted(SOLUTIONS.glob("*.txt")):
        name, label = path.stem.rsplit(".", 1)
        found.setdefault(name, {})[label] = path.read_text()
    return found


def audit(data: Path) -> bool:
    """Every task of both data sets, as far as the time goes."""
    clock = audit_datasets.Clock(float(os.environ.get("CSANDBOX_AUDIT_S", "1200")))
    tasks = [csandbox.load_humaneval(row) for row in rows(data / "humaneval.jsonl.gz")]
    sets = [audit_datasets.humaneval(tasks, clock)]
    judged = {name: judged_by(name, tests) for name, tests in contest_tasks(data).items()}
    sets.append(audit_datasets.contests(judged, solutions(), clock))
    words = "The sample has no solutions of its own: its references are ours."
    text = audit_datasets.table(sets, words)
    print(text)
    if PAGE.is_file():
        PAGE.write_text(audit_datasets.filled(PAGE.read_text(), text))
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text(text)
    return all(one.reached == one.tasks and "infrastructure" not in one.found for one in sets)


def speed(data: Path) -> bool:
    """One interleaved run."""
    row = rows(data / "humaneval.jsonl.gz")[0]
    task = csandbox.load_humaneval(row)
    text = f"{task.reference}\n\n{row['test']}\n\ncheck({task.entry})\n"
    times: dict[str, list[float]] = {"grade": [], "together": [], "python3 -I": []}
    for round_ in range(24):
        for name in times:
            began = time.perf_counter()
            if name == "python3 -I":
                subprocess.run([sys.executable, "-I", "-c", text], check=True)
            else:
                isolation = "test" if name == "grade" else "submission"
                assert csandbox.grade(task.reference, task, isolation=isolation).passed
            if round_ >= 4:
                times[name].append(time.perf_counter() - began)
    medians = {name: statistics.median(t) * 1000 for name, t in times.items()}
    print(f"speed: {task.id}, {len(task)} tests, median ms: ", end="")
    print(", ".join(f"{name} {value:.1f}" for name, value in medians.items()))
    for isolation in ("test", "submission"):
        began = time.perf_counter()
        done = sum(
            report.passed
            for _, report in csandbox.grade_many(
                [(task.reference, task)] * 60, concurrency=2, isolation=isolation
            )
        )
        rate = done / (time.perf_counter() - began)
        print(f"  isolation={isolation}: {rate:.0f} submissions a second on {os.cpu_count()} CPUs")
    print(f"  load {os.getloadavg()[0]:.1f}")
    return True


PARTS = {
    "humaneval": humaneval,
    "contests": contests,
    "hacks": hacks,
    "audit": audit,
    "speed": speed,
}


def main() -> int:
    """Run the parts that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="holds datasets/")
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    options = parser.parse_args()
    folder = options.data / "datasets"
    if not folder.is_dir():
        print(f"{folder} is no folder", file=sys.stderr)
        return 2
    good = True
    for name in options.parts or PARTS:
        good &= PARTS[name](folder)
        sys.stdout.flush()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
