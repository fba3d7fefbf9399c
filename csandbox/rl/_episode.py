"""One problem, some attempts at it: what the environments have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from csandbox._grade_report import GradeReport
from csandbox._limits import Limits
from csandbox._profile import as_profile
from csandbox._run import run
from csandbox.rl._scorer import Scored, Scorer

_MOST = 4000  # characters of one observation, head and tail


@dataclass(frozen=True)
class Problem:
    """What an agent is asked, and the tests that it is judged by (anything that `Rows` reads)."""

    prompt: str
    tests: Any
    id: str = ""


def problems_of(tasks: Sequence[Problem | Mapping[str, Any]]) -> tuple[Problem, ...]:
    """Problems, also from mappings with ``prompt``, ``tests`` and perhaps ``id``."""
    found = tuple(
        task
        if isinstance(task, Problem)
        else Problem(str(task["prompt"]), task["tests"], str(task.get("id", "")))
        for task in tasks
    )
    if not found:
        raise ValueError("an environment needs at least one task")
    return found


@dataclass(frozen=True)
class Attempt:
    """What came of one action. ``reward`` None: the sandbox failed, nothing is known."""

    reward: float | None
    solved: bool
    verdict: str
    feedback: str
    stdout: str = ""
    stderr: str = ""
    exit_code: int | None = None


def shortened(text: str, most: int = _MOST) -> str:
    """Head and tail of a long text, with a line between that says what is gone."""
    if len(text) <= most:
        return text
    half = max(0, (most - 60) // 2)
    gone = len(text) - 2 * half
    return f"{text[:half]}\n[... {gone} characters left out ...]\n{text[len(text) - half :]}"


def attempt(scorer: Scorer, problem: Problem, completion: str, **more: Any) -> Attempt:
    """Grade an answer. What is observed is what the feedback level of the scorer shows."""
    scored = scorer.score(completion, problem.tests, **more)
    report = scored.report
    shown = _shown(report)
    return Attempt(
        scored.reward,
        report is not None and report.passed,
        scored.verdict,
        shortened(_words(scored)),
        shortened(shown[0]),
        shortened(shown[1]),
    )


def explore(scorer: Scorer, code: str, stdin: str = "", timeout_s: float | None = None) -> Attempt:
    """Only run a program, with the profile and the limits of the grading; no reward.

    `timeout_s` is its limit by the clock, where that is less.
    """
    given = scorer.grading.get("limits")
    limits = Limits.from_mapping(given) if isinstance(given, Mapping) else given or Limits()
    pool = scorer.grading.get("pool")
    chosen = scorer.grading.get("profile") or "contest"
    profile = as_profile(chosen) if pool is None else pool.profile
    if timeout_s is not None:
        wall = profile.limits.merge(limits).effective_wall_s()
        if wall is None or timeout_s < wall:
            limits = limits.merge(Limits(wall_s=timeout_s))
    if pool is None:
        result = run(code, stdin=stdin, profile=profile, limits=limits)
    else:
        result = pool.run(code, stdin=stdin, limits=limits)
    return Attempt(
        None if result.verdict == "internal_error" else 0.0,
        False,
        result.verdict,
        "" if result.ok else shortened(_diagnosed(result.summary(), result.diagnostics)),
        shortened(result.stdout),
        shortened(result.stderr),
        result.exit_code,
    )


def _diagnosed(summary: str, diagnostics: Sequence[Any]) -> str:
    lines = [f"line {d.line}: {d.message} [{d.code}]" for d in diagnostics if d.severity == "error"]
    return "\n".join([summary, *lines[:20]])


def _shown(report: GradeReport | None) -> tuple[str, str]:
    """Output and errors of the first test that may be shown."""
    for row in report or ():
        if row.stdout or row.stderr or row.value:
            return row.stdout or row.value, row.stderr
    return "", ""


def _words(scored: Scored) -> str:
    report = scored.report
    if report is None:
        return "no program was found in the answer" if scored.fault is None else scored.fault
    if report.verdict in ("rejected", "compile_error"):
        return next(row.reason for row in report if row.verdict == report.verdict)
    return report.feedback or report.verdict
