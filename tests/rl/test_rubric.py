"""The rubric of verifiers before 0.4, itself, with our reward function (make test-trl)."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from csandbox.rl import verifiers
from tests.rl.tasks import ASSERTS, DOUBLE, PRINTS, PROGRAM, WRONG, broken_sandbox, chat, fenced

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def vf() -> Any:
    found = pytest.importorskip("verifiers", reason="verifiers is not installed: make test-trl")
    if not hasattr(found, "Rubric"):
        pytest.skip("verifiers 0.4 and newer have no rubric: make test-trl has an older one")
    return found


def state(code: str, tests: Any) -> dict[str, Any]:
    """What a rollout leaves."""
    text = chat(fenced(code))
    task = {"prompt": [], "answer": tests, "task": "double", "info": {}}
    return {**task, "input": task, "completion": text, "trajectory": [], "timing": {}}


def test_rollouts_and_groups(vf: Any) -> None:
    rubric = vf.Rubric(funcs=[verifiers.reward_function()])
    one = state(DOUBLE, ASSERTS)
    asyncio.run(rubric.score_rollout(one))
    assert one["reward"] == 1.0 and one["metrics"] == {"csandbox_reward": 1.0}
    group = [state(DOUBLE, ASSERTS), state(WRONG, ASSERTS)]
    asyncio.run(rubric.score_group(group))
    assert [(s["reward"], s["advantage"]) for s in group] == [(1.0, 0.5), (0.0, -0.5)]
    assert group[1]["csandbox"] == {"verdict": "wrong_answer", "left_out": False}


def test_a_fault_is_nan_for_its_group_and_an_error_of_the_rollout(
    vf: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rubric = vf.Rubric(funcs=[verifiers.reward_function()])
    group = [state(PRINTS, PROGRAM), state("", ASSERTS)]
    group[1]["completion"] = chat("```cpp\n```")
    broken_sandbox(monkeypatch)
    asyncio.run(rubric.score_group(group))
    assert math.isnan(group[0]["reward"]) and isinstance(group[0]["error"], vf.SandboxError)
    assert group[1]["reward"] == 0.0 and "error" not in group[1]
    assert all(math.isnan(s["advantage"]) for s in group)
