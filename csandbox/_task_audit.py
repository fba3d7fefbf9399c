"""audit_task(): do a task's tests accept the reference, and nothing that does not do the task?"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from csandbox._compare import compare_output, compare_values
from csandbox._grade import grade
from csandbox._grade_execute import calls_of
from csandbox._grade_report import GradeReport
from csandbox._grade_tests import AnyTest, CallTest, RoundTripTest, StdioTest
from csandbox._limits import Limits
from csandbox._load_asserts import Loaded
from csandbox._profile import Profile, as_profile
from csandbox._task_audit_programs import Program, programs
from csandbox._task_audit_report import AuditReport, Finding

_SHARE = 0.5  # of the tests that a do-nothing program may pass before it is worth a word
_NARROW = 2.0  # a reference that needs half of a limit is a time_limit on a slower machine


def _entry(tests: Sequence[AnyTest]) -> str | None:
    for test in tests:
        if isinstance(test, RoundTripTest):
            return test.forward
        for call in calls_of(test):
            return call.entry
    return None


def _named(tests: Sequence[AnyTest]) -> list[tuple[str, AnyTest]]:
    return [(test.id or str(place), test) for place, test in enumerate(tests, 1)]


def _reference(
    runs: list[GradeReport], limits: Limits
) -> tuple[list[Finding], float, float | None]:
    found: list[Finding] = []
    verdicts: dict[str, set[str]] = defaultdict(set)
    for report in runs:
        for row in report:
            verdicts[row.id].add(row.verdict)
    broken = tuple(i for i, words in verdicts.items() if "internal_error" in words)
    if broken:
        text = f"the sandbox failed on the reference in {len(broken)} tests"
        found.append(Finding("infrastructure", "error", text, broken))
    flaky = tuple(i for i, words in verdicts.items() if len(words - {"internal_error"}) > 1)
    if flaky:
        text = f"the reference gets different verdicts in {len(flaky)} tests"
        found.append(Finding("flaky", "error", text, flaky))
    wrong = {i: min(w) for i, w in verdicts.items() if w.isdisjoint({"accepted", "internal_error"})}
    if wrong:
        words = ", ".join(sorted(set(wrong.values())))
        text = f"the reference fails {len(wrong)} of {len(verdicts)} tests ({words})"
        found.append(Finding("reference-fails", "error", text, tuple(wrong)))
    slowest = max(row.usage.cpu_s for report in runs for row in report)
    margin = limits.cpu_s / slowest if limits.cpu_s and slowest > 0 else None
    if margin is not None and margin < _NARROW:
        text = f"the reference needs {slowest:.2f} s of CPU time, the limit is {limits.cpu_s:g} s"
        slow = tuple(row.id for row in runs[0] if row.usage.cpu_s == slowest)
        found.append(Finding("slow", "warning", text, slow))
    return found, slowest, margin


def _programs(
    reports: list[tuple[Program, GradeReport]], total: int
) -> tuple[list[Finding], tuple[str, ...], dict[str, int]]:
    found: list[Finding] = []
    refused: dict[str, int] = defaultdict(int)
    harmless: dict[str, int] = defaultdict(int)
    answering = 0
    for program, report in reports:
        answers = any(row.verdict in ("accepted", "wrong_answer", "presentation") for row in report)
        answering += answers
        for row in report:
            refused[row.id] += not row.passed
            harmless[row.id] += answers and row.passed
        good = sum(row.passed for row in report)
        if report.score is None:
            text = f"the sandbox failed on the program that {program.name!r} names"
            found.append(Finding("infrastructure", "error", text))
        elif report.passed:
            text = f"a program that must fail passes all tests: {program.name} ({program.kind})"
            found.append(Finding("accepts", "error", text))
        elif good >= total * _SHARE:
            text = f"{program.name} ({program.kind}) passes {good} of {total} tests"
            found.append(Finding("most-pass-by", "warning", text))
    nothing = tuple(i for i, n in harmless.items() if answering and n == answering)
    if nothing:
        text = f"{len(nothing)} tests refuse no program that answers at all"
        found.append(Finding("discriminates-nothing", "warning", text, nothing))
    accepted = tuple(program.name for program, report in reports if report.passed)
    return found, accepted, dict(refused)


def _question(test: AnyTest) -> object | None:
    if isinstance(test, StdioTest):
        data = test.stdin.encode() if isinstance(test.stdin, str) else test.stdin
        return ("stdin", data, test.args, repr(sorted(test.files.items())))
    if isinstance(test, CallTest):
        return ("call", test.entry, repr(test.args), repr(sorted(test.kwargs.items())))
    return None


def _same(one: AnyTest, other: AnyTest) -> bool:
    if isinstance(one, StdioTest) and isinstance(other, StdioTest):
        got = one.expected.encode() if isinstance(one.expected, str) else one.expected
        return compare_output("tokens", got, other.expected) is None
    assert isinstance(one, CallTest) and isinstance(other, CallTest)
    return compare_values("numeric", one.expected, other.expected) is None


def _doubles(tests: Sequence[tuple[str, AnyTest]]) -> list[Finding]:
    """The same question twice: with one answer it is idle, with two no program is right."""
    first: dict[object, tuple[str, AnyTest]] = {}
    idle: list[str] = []
    torn: list[str] = []
    for id_, test in tests:
        question = _question(test)
        if question is None:
            continue
        known = first.setdefault(question, (id_, test))
        if known[0] != id_:
            (idle if _same(known[1], test) else torn).append(f"{known[0]} and {id_}")
    found = []
    if torn:
        text = f"{len(torn)} pairs of tests expect two different answers to the same input"
        found.append(Finding("two-answers", "error", text, tuple(torn)))
    if idle:
        text = f"{len(idle)} pairs of tests ask the same"
        found.append(Finding("double", "warning", text, tuple(idle)))
    return found


def _others(
    reports: list[tuple[str, GradeReport]], tests: Sequence[tuple[str, AnyTest]]
) -> list[Finding]:
    """Other right programs that the tests refuse: a sign that they know one answer of several."""
    found = []
    for name, report in reports:
        wrong = tuple(row.id for row in report if not row.passed)
        if wrong:
            text = f"{name}, said to be right, is refused by {len(wrong)} of {len(tests)} tests"
            found.append(Finding("two-answers", "warning", text, wrong))
    return found


def audit_task(
    tests: Iterable[AnyTest] | Loaded,
    *,
    reference: str | bytes | None = None,
    right: Mapping[str, str | bytes] | None = None,
    wrong: Mapping[str, str | bytes] | None = None,
    compare: str = "exact",
    profile: str | os.PathLike[str] | Profile = "contest",
    limits: Limits | Mapping[str, Any] | None = None,
    repeat: int = 2,
    concurrency: int = 2,
) -> AuditReport:
    """Run the reference, and a kit of programs that must fail, against a task's tests.

    The reference must pass every test each of `repeat` times. Programs that do nothing (empty,
    constants, echo, raise, exit 0, loop) and that cheat must all fail. `right` are more programs
    that are right, by name: a test that refuses one of them may know one answer of several. `wrong`
    are more that are not. The kit runs without the guard (profile ``open``, with the limits of
    `profile`), because it is the tests that are on trial; it is held to 1 s of CPU time, and calls
    share a child.

    Raises what `grade` raises.
    """
    # What is audited is the caller's own: the figures of hidden tests are wanted here.
    listed = [replace(test, hidden=False) for test in tests]
    named = _named(listed)
    chosen = as_profile(profile)
    given = Limits.from_mapping(limits) if isinstance(limits, Mapping) else limits
    bounds = chosen.limits.merge(given)
    options: dict[str, Any] = {"compare": compare, "stop": "never", "seed": 0}
    found: list[Finding] = []
    if isinstance(tests, Loaded) and tests.unconverted:
        text = f"{len(tests.unconverted)} parts of the task's text are no test: "
        text += str(tests.unconverted[0])
        found.append(Finding("unconverted", "warning", text))
    kit = list(programs(_entry(listed)))
    kit += [Program(name, "wrong", _text(text)) for name, text in (wrong or {}).items()]
    quick = bounds.merge(Limits(cpu_s=min(1.0, bounds.cpu_s or 1.0), wall_s=4.0))
    slowest = margin = None
    from concurrent.futures import ThreadPoolExecutor  # it brings logging: only when used

    with ThreadPoolExecutor(max(1, concurrency)) as pool:
        references = [
            pool.submit(grade, reference or "", listed, profile=chosen, limits=bounds, **options)
            for _ in range(repeat if reference is not None else 0)
        ]
        others = [
            (name, pool.submit(grade, text, listed, profile=chosen, limits=bounds, **options))
            for name, text in (right or {}).items()
        ]
        tried = [(program, pool.submit(_try, program, listed, quick, options)) for program in kit]
        if references:
            more, slowest, margin = _reference([r.result() for r in references], bounds)
            found += more
        found += _others([(name, r.result()) for name, r in others], named)
        more, accepted, refused = _programs([(p, r.result()) for p, r in tried], len(listed))
    found += more + _doubles(named)
    found.sort(key=lambda finding: finding.severity != "error")
    return AuditReport(tuple(found), len(kit), accepted, refused, slowest, margin)


def _text(source: str | bytes) -> str:
    return source if isinstance(source, str) else source.decode()


def _try(
    program: Program, tests: Sequence[AnyTest], limits: Limits, options: dict[str, Any]
) -> GradeReport:
    """A program of the kit. Where it loops, one test says it for all."""
    never_ends = program.name == "loops"
    return grade(
        program.source,
        tests,
        isolation="submission",
        profile="open",
        limits=limits,
        **{**options, "stop": "first" if never_ends else "never"},
    )
