"""Reward functions as TRL's trainers call them (GRPO, RLOO, …).

One line in the trainer::

    import csandbox.rl.trl
    trainer = GRPOTrainer(..., reward_funcs=csandbox.rl.trl.reward_function(tests="tests"))
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from csandbox.rl._completion import text_of
from csandbox.rl._scorer import Scorer

Rewards = list["float | None"]


def _rows(columns: Mapping[str, Any], tests: str, count: int) -> Sequence[Any]:
    if tests not in columns:
        there = ", ".join(sorted(columns)) or "none"
        raise ValueError(
            f"the data set has no column {tests!r} (it has: {there}); name the column that holds "
            "the tests with tests=…"
        )
    rows: Sequence[Any] = columns[tests]
    if len(rows) != count:
        raise ValueError(f"{count} completions, but {len(rows)} rows in column {tests!r}")
    return rows


def _score(
    scorer: Scorer, tests: str, completions: Sequence[Any], columns: Mapping[str, Any]
) -> Rewards:
    rows = _rows(columns, tests, len(completions))
    prompts = columns.get("prompts")
    groups = None if prompts is None else [repr(prompt) for prompt in prompts]
    scored = scorer.score_many([text_of(one) for one in completions], rows, groups)
    _log(scored, columns)
    return [one.reward for one in scored]


def _log(scored: Sequence[Any], columns: Mapping[str, Any]) -> None:
    """Tell the trainer what there is beside rewards, when it gives us a way."""
    extra, metric = columns.get("log_extra"), columns.get("log_metric")
    if callable(extra):
        extra("csandbox_verdict", [one.verdict for one in scored])
    if callable(metric) and scored:
        metric("csandbox/left_out", sum(one.reward is None for one in scored) / len(scored))


def reward_function(
    *, tests: str = "tests", name: str = "csandbox_reward", **options: Any
) -> Callable[..., Rewards]:
    """A function ``(completions, **columns) -> list[float | None]``.

    `tests` is the column of the data set that holds each row's tests, in any of the shapes that
    `Rows.tests` knows. Completions are text or chats. A sample on which the sandbox failed gets
    **None**, which TRL leaves out of the rewards, never 0. `name` is what TRL logs it as; the other
    options are those of `Scorer`, for example ``shaping=Shaping(partial=True)``.
    """
    scorer = Scorer(**options)

    def reward(completions: Sequence[Any], **columns: Any) -> Rewards:
        return _score(scorer, tests, completions, columns)

    reward.__name__ = reward.__qualname__ = name
    return reward


def async_reward_function(
    *, tests: str = "tests", name: str = "csandbox_reward", **options: Any
) -> Callable[..., Awaitable[Rewards]]:
    """`reward_function` as a coroutine function, which TRL runs beside its other ones."""
    scorer = Scorer(**options)

    async def reward(completions: Sequence[Any], **columns: Any) -> Rewards:
        return await asyncio.to_thread(partial(_score, scorer, tests, completions, columns))

    reward.__name__ = reward.__qualname__ = name
    return reward
