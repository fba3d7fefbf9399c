"""EvalPlus rows: many inputs, whose expected values the reference solution gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from csandbox._calls import call_all
from csandbox._check import source_bytes
from csandbox._errors import SetupError
from csandbox._grade_tests import Call, CallTest
from csandbox._limits import Limits
from csandbox._load_asserts import Unconverted
from csandbox._load_humaneval import Task
from csandbox._profile import as_profile

_BATCH = 50  # calls in one child; a batch that fails is tried one by one


def load_evalplus(
    row: Mapping[str, Any], *, profile: Any = "contest", limits: Limits | None = None
) -> Task:
    """Tests of one row of HumanEval+ or MBPP+: ``base_input``, ``plus_input`` (hidden), ``atol``.

    The expected values are what the row's ``canonical_solution`` gives, run contained like any
    other code, once, now. Inputs on which it gives none are reported. Raises KeyError, SetupError.
    """
    entry = row["entry_point"]
    prompt = row.get("prompt", "")
    reference = prompt + row["canonical_solution"]
    inputs = [(i, False) for i in row.get("base_input") or ()]
    inputs += [(i, True) for i in row.get("plus_input") or ()]
    if not inputs:
        raise ValueError("the row has neither base_input nor plus_input")
    calls = [Call(entry, tuple(arguments)) for arguments, _ in inputs]
    answers = reference_answers(reference, calls, profile=profile, limits=limits)
    compare = f"float(rel=0, abs={float(row['atol'])})" if row.get("atol") else "numeric"
    tests, left = [], []
    for number, (call, (found, value), (_, secret)) in enumerate(
        zip(calls, answers, inputs, strict=True), 1
    ):
        if not found:
            left.append(Unconverted(number, str(call)[:400], f"the reference: {value}"))
            continue
        tests.append(
            CallTest(entry, call.args, value, id=f"{number:04}", compare=compare, hidden=secret)
        )
    return Task(
        tuple(tests),
        tuple(left),
        id=str(row.get("task_id", "")),
        entry=entry,
        prompt=prompt,
        reference=reference,
    )


def reference_answers(
    reference: str | bytes, calls: Sequence[Call], *, profile: Any = "contest", limits: Any = None
) -> list[tuple[bool, Any]]:
    """What a reference gives for each call: (True, value), or (False, why there is none).

    Fifty calls share a child; those of a batch that did not come through are made alone. Raises
    SetupError when the sandbox failed.
    """
    chosen = as_profile(profile)
    source_bytes(reference)
    answers: list[tuple[bool, Any]] = []
    for start in range(0, len(calls), _BATCH):
        batch = calls[start : start + _BATCH]
        outcomes = call_all(reference, batch, profile=chosen, limits=limits)
        for place, outcome in enumerate(outcomes):
            if not outcome.answered and len(batch) > 1:
                outcome = call_all(reference, [batch[place]], profile=chosen, limits=limits)[0]
            if outcome.verdict == "internal_error":
                raise SetupError(step="reference", message=f"reference: {outcome.reason}")
            answers.append((True, outcome.value) if outcome.answered else (False, outcome.reason))
    return answers
