"""``check_correctness`` as LiveCodeBench's harness, and its many forks, call it.

    from csandbox.rl.livecodebench import check_correctness

Results are LiveCodeBench's numbers: True for a test that was passed; -1 did not compile (or was
refused), -2 wrong answer, -3 time limit, -4 failed while running, -5 the sandbox failed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from csandbox._grade import grade
from csandbox._grade_report import GradeReport, TestResult
from csandbox._limits import Limits
from csandbox._load_io import load_io
from csandbox.rl._entry import with_class
from csandbox.rl._faults import FAULTS, InfrastructureFault
from csandbox.rl._rows import RowError

_CODES: Final = {
    "compile_error": (-1, "Compilation Error"),
    "rejected": (-1, "Compilation Error"),
    "wrong_answer": (-2, "Wrong Answer"),
    "presentation": (-2, "Wrong Answer"),
    "time_limit": (-3, "Time Limit Exceeded"),
    "internal_error": (-5, "TestRunnerError"),
}
_RUNTIME: Final = (-4, "Runtime Error")

#: Names that these tasks' programs use without importing them.
_NAMES: Final = (
    "from typing import *; from collections import *; from itertools import *; "
    "from functools import *; from heapq import *; from bisect import *; from math import *; "
    "import collections, itertools, functools, heapq, bisect, math, string, re, random, sys\n"
)


def check_correctness(
    sample: Mapping[str, Any],
    generation: str,
    timeout: float,
    debug: bool = True,
    *,
    fault: str = "raise",
    compare: str = "lines",
    **grading: Any,
) -> tuple[list[bool | int], dict[str, Any]]:
    """Run a program against a sample's tests; ``(results, metadata)``.

    `sample` has ``input_output``: JSON of ``inputs``, ``outputs`` and, for calls, ``fn_name``.
    Results end at the first test that is not passed, as in the original; which one that is depends
    on the order in which tests run (``seed=``). `timeout` is in seconds of CPU time for each test,
    three times that by the clock. `debug` is not used. `grading` are keywords of `csandbox.grade`.

    LiveCodeBench counts whatever is not True as a failure, -5 included; so when the sandbox failed
    InfrastructureFault is raised, or, with ``fault="code"``, ``[-5]`` returned.
    """
    if fault not in FAULTS:
        raise ValueError(f"fault must be one of {', '.join(FAULTS)}, not {fault!r}")
    loaded = load_io({"input_output": sample["input_output"]}, compare=compare)
    if not loaded.whole:
        raise RowError(f"not all of the sample became tests: {loaded.unconverted[0]}")
    limits = Limits(cpu_s=timeout, wall_s=3 * timeout)
    tests = with_class(loaded.tests, generation)
    called = bool(_fn_name(sample["input_output"])) and "__future__" not in generation
    source = _NAMES + generation if called else generation
    report = grade(source, tests, **{"limits": limits, "seed": 0, **grading})
    if report.score is None and fault == "raise":
        raise InfrastructureFault(report.summary())
    return _results(report), _metadata(report)


def _fn_name(data: Any) -> Any:
    row = json.loads(data) if isinstance(data, (str, bytes)) else data
    return row.get("fn_name")


def _code(row: TestResult) -> tuple[int, str]:
    return _CODES.get(row.verdict, _RUNTIME)


def _results(report: GradeReport) -> list[bool | int]:
    passed: list[bool | int] = [True for row in report if row.passed]
    broken = [row for row in report if row.verdict == "internal_error"]
    failed = broken or [r for r in report if not r.passed and r.verdict != "skipped"]
    return [*passed, _code(failed[0])[0]] if failed else passed


def _metadata(report: GradeReport) -> dict[str, Any]:
    """Plain data; as of the first failing test, and nothing of hidden tests' data."""
    data: dict[str, Any] = {"execution time": report.usage.cpu_s, "verdict": report.verdict}
    failed = [row for row in report if not row.passed and row.verdict != "skipped"]
    if failed:
        code, words = _code(failed[0])
        data |= {"error_code": code, "error_message": words, "error": failed[0].reason}
    return data
