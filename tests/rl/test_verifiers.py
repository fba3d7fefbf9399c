"""``verifiers``: rewards of tasks (0.4 on) by the framework itself, rubrics by a small double.

`rubric` scores as ``Rubric._call_individual_reward_func`` of verifiers 0.1 does, which 0.4 no
longer has: objects by name, exceptions become 0.0. The real one is driven by test_rubric.py.
"""

from __future__ import annotations

import asyncio
import inspect
import math
from typing import Any

import pytest

from csandbox.rl import InfrastructureFault, verifiers
from tests.rl.tasks import ASSERTS, DOUBLE, PRINTS, PROGRAM, WRONG, broken_sandbox, chat, fenced


def rubric(function: Any, state: dict[str, Any]) -> float:
    objects = {"prompt": "", "completion": state["completion"], "state": state, "task": None}
    objects |= {"answer": state.get("answer", ""), "info": state.get("info", {})}
    objects["parser"] = object()
    assert inspect.iscoroutinefunction(function) and function.__name__ == "csandbox_reward"
    try:
        return float(asyncio.run(function(**objects)))
    except Exception:
        return 0.0


def test_rubric() -> None:
    function = verifiers.reward_function()
    assert rubric(function, {"completion": chat(fenced(DOUBLE)), "answer": ASSERTS}) == 1.0
    assert rubric(function, {"completion": fenced(WRONG), "answer": ASSERTS}) == 0.0
    in_info = {"completion": fenced(PRINTS), "info": {"tests": PROGRAM}}
    assert rubric(verifiers.reward_function(tests="tests"), in_info) == 1.0
    assert in_info["csandbox"] == {"verdict": "accepted", "left_out": False}
    with pytest.raises(ValueError, match="no 'tests'"):
        asyncio.run(verifiers.reward_function(tests="tests")(completion="", state={}))


def test_rubric_faults_are_nan_and_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    broken_sandbox(monkeypatch)
    state: dict[str, Any] = {"completion": fenced(PRINTS), "answer": PROGRAM}
    assert math.isnan(rubric(verifiers.reward_function(), state))
    assert type(state["error"]).__name__ in ("SandboxError", "InfrastructureFault")


class Reply:
    """As much of a trace as a reward of a task reads."""

    def __init__(self, text: str) -> None:
        self.last_reply = text


class Data:
    tests = PROGRAM


def test_task_reward_by_convention(monkeypatch: pytest.MonkeyPatch) -> None:
    method = verifiers.task_reward()
    assert asyncio.run(method(None, task=Data, trace=Reply(fenced(PRINTS)))) == 1.0
    broken_sandbox(monkeypatch)
    with pytest.raises(Exception, match="sandbox failed") as caught:
        asyncio.run(method(None, task=Data, trace=Reply(fenced(PRINTS))))
    assert type(caught.value).__name__ in ("SandboxError", InfrastructureFault.__name__)


def test_task_reward_by_the_framework(monkeypatch: pytest.MonkeyPatch) -> None:
    vf = pytest.importorskip(
        "verifiers.v1", reason="verifiers >= 0.4 is not installed: make test-rl"
    )

    class MyData(vf.TaskData):
        tests: str = PROGRAM

    class MyTask(vf.Task[MyData, vf.State, vf.TaskConfig]):
        solved = vf.reward(verifiers.task_reward(name="solved"))

    class Recorder(Reply):
        def __init__(self, text: str) -> None:
            super().__init__(text)
            self.rewards: dict[str, float | None] = {}
            self.metrics: dict[str, float | None] = {}

        def record_reward(self, name: str, value: float, weight: float = 1.0) -> None:
            self.rewards[name] = value * weight

    task = MyTask(MyData(idx=0))
    for code, reward in ((PRINTS, 1.0), (WRONG, 0.0)):
        trace = Recorder(fenced(code))
        asyncio.run(task.score(trace))
        assert trace.rewards == {"solved": reward}
    broken_sandbox(monkeypatch)
    trace = Recorder(fenced(PRINTS))
    with pytest.raises(vf.SandboxError, match="sandbox failed"):
        asyncio.run(task.score(trace))
    assert trace.rewards == {"solved": None}
