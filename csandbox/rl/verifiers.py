"""Rewards for ``verifiers`` (Prime Intellect): a task's method, and a rubric's function.

From version 0.4 on rewards are methods of a task::

    class MyTask(vf.Task):
        solved = vf.reward(csandbox.rl.verifiers.task_reward(tests="tests"))

Before that, functions of a rubric::

    rubric = vf.Rubric(funcs=[csandbox.rl.verifiers.reward_function(tests="answer")])

`task_reward` raises the framework's SandboxError when the sandbox failed: the trace then has an
error, and no score. A rubric has no such way; see `reward_function`.
"""

from __future__ import annotations

import asyncio
import importlib
import math
from collections.abc import Awaitable, Callable, MutableMapping
from functools import partial
from typing import Any

from csandbox.rl._completion import text_of
from csandbox.rl._faults import InfrastructureFault
from csandbox.rl._scorer import Scorer


def _row(objects: MutableMapping[str, Any], tests: str) -> Any:
    """The tests: an object of the rubric's, or a field of ``info``."""
    info = objects.get("info") or {}
    for place in (objects, info):
        if place.get(tests) not in (None, ""):
            return place[tests]
    raise ValueError(
        f"the task has no {tests!r}, neither as a column nor in its info; name where the tests are "
        "with tests=…"
    )


def _error(message: str) -> Exception:
    """The framework's word for a sandbox that failed."""
    for place in ("verifiers.v1", "verifiers"):
        try:
            kind = importlib.import_module(place).SandboxError
        except (ImportError, AttributeError):
            continue
        error: Exception = kind(message)
        return error
    return InfrastructureFault(message)


def task_reward(
    *, tests: str = "tests", name: str = "csandbox_reward", **options: Any
) -> Callable[..., Awaitable[float]]:
    """A method ``(self, task, trace) -> float`` for a task, to be marked with ``vf.reward``.

    `tests` is the field of the task's data that holds the tests, `name` what the trace calls the
    reward; the other options are those of `Scorer`. The program is looked for in the trace's last
    reply. Raises ``verifiers.v1.SandboxError`` when there is no reward.
    """
    scorer = Scorer(**options)

    async def reward(self: Any, task: Any, trace: Any) -> float:
        row = getattr(task, tests)
        scored = await asyncio.to_thread(partial(scorer.score, trace.last_reply, row))
        if scored.reward is None:
            raise _error(scored.fault or "the sandbox failed, not the code")
        return scored.reward

    reward.__name__ = reward.__qualname__ = name
    return reward


def reward_function(
    *, tests: str = "answer", name: str = "csandbox_reward", **options: Any
) -> Callable[..., Awaitable[float]]:
    """A coroutine function ``(completion, state, **objects) -> float``.

    `tests` names the column (or the field of ``info``) that holds the tests, in any of the shapes
    that `Rows.tests` knows; the other options are those of `Scorer`.

    A rubric turns an exception into 0.0. So when the sandbox failed, or the row was left out, the
    reward is **nan**, and ``state["error"]`` is the framework's SandboxError, by which trainers
    drop a rollout.
    """
    scorer = Scorer(**options)

    async def reward(completion: Any, state: MutableMapping[str, Any], **objects: Any) -> float:
        row = _row(objects, tests)
        scored = await asyncio.to_thread(partial(scorer.score, text_of(completion), row))
        state["csandbox"] = {"verdict": scored.verdict, "left_out": scored.reward is None}
        if scored.reward is None:
            state["error"] = _error(scored.fault or "the sandbox failed, not the code")
            return math.nan
        return scored.reward

    reward.__name__ = reward.__qualname__ = name
    return reward
