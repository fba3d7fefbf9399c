"""verl's own reward managers call our `compute_score` (make test-trl).

Loaded as verl loads it, by `load_reward_manager` from a configuration, and by the managers of its
workers. No trainer of verl runs here: its workers want GPUs.
"""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from csandbox.rl import InfrastructureFault
from csandbox.rl import verl as rewards
from tests.rl.tasks import CALLS, DOUBLE, PRINTS, PROGRAM, WRONG, broken_sandbox, fenced
from tests.rl.vocabulary import tokenizer

pytestmark = pytest.mark.filterwarnings("ignore")

ANSWERS = [*map(fenced, (DOUBLE, WRONG, PRINTS)), "```cpp\n```"]


@pytest.fixture(autouse=True)
def nothing_left_behind() -> None:
    """verl keeps an event loop, and threads of its executor."""


@pytest.fixture(scope="module", autouse=True)
def verl() -> Any:
    return pytest.importorskip("verl", reason="verl is not installed: make test-trl")


def batch(*answers: int, tests: str = CALLS) -> Any:
    """What a rollout leaves: prompts, responses and masks as tensors, and the rows."""
    import torch
    from verl import DataProto

    count = len(answers)
    responses = torch.tensor([[3 + answer, 0] for answer in answers])
    prompts = torch.full((count, 1), 2)
    return DataProto.from_dict(
        tensors={
            "prompts": prompts,
            "responses": responses,
            "attention_mask": torch.tensor([[1, 1, 0]] * count),
        },
        non_tensors={
            "data_source": ["taco"] * count,
            "reward_model": [{"ground_truth": tests, "style": "rule"} for _ in answers],
            "extra_info": [{} for _ in answers],
        },
    )


def manager(name: str = "compute_score", **options: Any) -> Any:
    """The manager that verl makes of a configuration."""
    from omegaconf import OmegaConf
    from verl.trainer.ppo.reward import load_reward_manager

    config = OmegaConf.create({
        "reward": {
            "custom_reward_function": {
                "path": "pkg://csandbox.rl.verl", "name": name, "reward_kwargs": options,
            },
            "reward_manager": {"source": "register", "name": "naive"},
        }
    })  # fmt: skip
    return load_reward_manager(config, tokenizer(ANSWERS))


def scores(made: Any, data: Any) -> list[dict[str, Any]]:
    async def every() -> list[dict[str, Any]]:
        return [await made.run_single(data[n : n + 1]) for n in range(len(data))]

    found: list[dict[str, Any]] = made.loop.run_until_complete(every())
    return found


@pytest.mark.parametrize("name", ["compute_score", "compute_score_async"])
def test_reward_loop(name: str) -> None:
    made = manager(name)
    assert made.is_async_reward_score == name.endswith("async")
    found = scores(made, batch(0, 1, 3))
    assert [one["reward_score"] for one in found] == [1.0, 0.0, 0.0]
    assert [one["reward_extra_info"]["no_code"] for one in found] == [0.0, 0.0, 1.0]
    tensor = made.assemble_rm_scores(batch(0, 1, 3), [one["reward_score"] for one in found])
    assert tensor.tolist() == [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]


def test_options_come_from_the_configuration() -> None:
    made = manager(partial=True, profile="contest", limits={"cpu_s": 2})
    half = '{"inputs": ["1", "0"], "outputs": ["2", "0"], "fn_name": "double"}'
    assert scores(made, batch(1, tests=half))[0]["reward_score"] == 0.5


@pytest.mark.parametrize("name", ["compute_score", "compute_score_async"])
def test_faults(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    broken_sandbox(monkeypatch)
    (found,) = scores(manager(name), batch(2, tests=PROGRAM))
    assert math.isnan(found["reward_score"])
    assert found["reward_extra_info"]["left_out"] == 1.0
    with pytest.raises(InfrastructureFault):
        scores(manager(name, fault="raise"), batch(2, tests=PROGRAM))


def test_managers_of_workers() -> None:
    """The synchronous ones: one answer at a time, and all of a batch at once."""
    from verl.workers.reward_manager import get_reward_manager_cls

    words = tokenizer(ANSWERS)
    naive = get_reward_manager_cls("naive")(words, 0, compute_score=rewards.compute_score)
    found = naive(batch(0, 1, 3), return_dict=True)
    assert found["reward_tensor"].tolist() == [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    assert found["reward_extra_info"]["acc"] == [1.0, 0.0, 0.0]
    every = get_reward_manager_cls("batch")(words, 0, rewards.compute_score_batch)
    assert every(batch(0, 1, 3)).tolist() == found["reward_tensor"].tolist()


def test_a_fault_spreads_to_the_norm_of_the_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the how-to says of nan, by verl's own estimate of advantages."""
    import numpy
    import torch
    from verl.trainer.ppo.core_algos import compute_grpo_outcome_advantage

    broken_sandbox(monkeypatch)
    (found,) = scores(manager(), batch(2, tests=PROGRAM))
    outcomes = torch.tensor([[found["reward_score"]], [1.0], [0.0], [1.0]])
    groups = numpy.array(["a", "a", "b", "b"])
    advantages, _ = compute_grpo_outcome_advantage(outcomes, torch.ones(4, 1), groups)
    assert advantages[:2].isnan().all() and advantages[2:].isfinite().all()


def test_the_event_loop_is_not_blocked() -> None:
    made = manager("compute_score_async")

    async def beside() -> tuple[Any, int]:
        grading = asyncio.ensure_future(made.run_single(batch(0)))
        ticks = 0
        while not grading.done():
            await asyncio.sleep(0.001)
            ticks += 1
        return await grading, ticks

    found, ticks = made.loop.run_until_complete(beside())
    assert found["reward_score"] == 1.0 and ticks > 1
