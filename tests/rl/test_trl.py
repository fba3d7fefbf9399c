"""TRL itself: `GRPOTrainer` trains a small model on the CPU with our rewards (make test-trl).

The model's vocabulary is whole answers (`vocabulary.py`), so that it writes programs from the first
step on and learns in a few. What TRL does with a reward of None is looked at where it does it: in
the advantages, by which the gradient is weighted.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from csandbox import _errand, _flight
from csandbox._result import Result
from csandbox.rl import Shaping
from csandbox.rl import trl as rewards
from tests.rl.tasks import (
    ASSERTS,
    DOUBLE,
    HALF,
    PRINTS,
    PROGRAM,
    SECOND_FAILS,
    WRONG,
    fenced,
)
from tests.rl.vocabulary import PROMPT, model, tokenizer

pytestmark = pytest.mark.filterwarnings("ignore")

ANSWERS = [*map(fenced, (DOUBLE, WRONG, HALF)), "I would rather not."]
UNLUCKY = "print(2 * int(input()))  # the machine fails on this one\n"
PROGRAMS = [*map(fenced, (PRINTS, "print(1)\n", SECOND_FAILS, UNLUCKY))]
GROUP = 16


@pytest.fixture(autouse=True)
def nothing_left_behind() -> None:
    """TRL keeps a thread with an event loop."""


@pytest.fixture(scope="module")
def trl() -> Any:
    return pytest.importorskip("trl", reason="trl is not installed: make test-trl")


def score(answer: int) -> float:
    """What the answer of this place deserves, in both lists; the special tokens are no program."""
    return {0: 1.0, 2: 0.5}.get(answer, 0.0)


def trainer(
    trl: Any, folder: Path, function: Any, *, steps: int, answers: list[str], tests: Any = ASSERTS
) -> Any:
    """A trainer that keeps every batch of generations in `seen`."""
    from datasets import Dataset

    class Watched(trl.GRPOTrainer):
        def __init__(self, **more: Any) -> None:
            self.seen: list[dict[str, Any]] = []
            super().__init__(**more)

        def _generate_and_score_completions(self, inputs: Any) -> Any:
            found = super()._generate_and_score_completions(inputs)
            self.seen.append(found)
            return found

    options = trl.GRPOConfig(
        output_dir=str(folder), use_cpu=True, bf16=False, report_to=[], save_strategy="no",
        logging_steps=1, disable_tqdm=True, max_steps=steps, seed=1,
        per_device_train_batch_size=GROUP, num_generations=GROUP, max_completion_length=1,
        learning_rate=0.05, lr_scheduler_type="constant", temperature=1.0,
    )  # fmt: skip
    rows = [{"prompt": PROMPT, "tests": tests}] * GROUP
    return Watched(
        model=model(answers), reward_funcs=function, args=options,
        train_dataset=Dataset.from_list(rows), processing_class=tokenizer(answers),
    )  # fmt: skip


def answered(run: Any) -> list[list[int]]:
    """Which answer each generation was; 3 special tokens come before them."""
    return [[int(token) - 3 for token in batch["completion_ids"][:, 0]] for batch in run.seen]


@pytest.mark.parametrize("make", [rewards.reward_function, rewards.async_reward_function])
def test_a_model_learns_to_answer(trl: Any, tmp_path: Path, make: Any) -> None:
    function = make(tests="tests", shaping=Shaping(partial=True))
    run = trainer(trl, tmp_path, function, steps=3, answers=ANSWERS)
    before = run.model.lm_head.weight.detach().clone()
    run.train()
    logged = [row for row in run.state.log_history if "reward" in row]
    means = [row["rewards/csandbox_reward/mean"] for row in logged]
    assert len(means) == 3 and all(row["csandbox/left_out"] == 0.0 for row in logged)
    for mean, batch in zip(means, answered(run), strict=True):
        known = [score(answer) for answer in batch]
        assert mean == pytest.approx(sum(known) / GROUP)
    assert not before.equal(run.model.lm_head.weight)
    assert all(math.isfinite(row["loss"]) and math.isfinite(row["grad_norm"]) for row in logged)


def test_the_mean_reward_rises(trl: Any, tmp_path: Path) -> None:
    function = rewards.reward_function(shaping=Shaping(partial=True))
    run = trainer(trl, tmp_path, function, steps=12, answers=ANSWERS)
    run.train()
    means = [row["reward"] for row in run.state.log_history if "reward" in row]
    assert sum(means[-3:]) > sum(means[:3]), means


def broken_for_the_unlucky(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sandbox fails, as it would without memory or processes, on one of the programs."""
    real = _errand.carry

    def carry(errand: Any) -> Any:
        if "the machine fails" in str(errand.order.raw):
            return Result(verdict="internal_error", error="injected"), []
        return real(errand)

    monkeypatch.setattr(_errand, "carry", carry)
    monkeypatch.setattr(_flight.Flight, "_core_of", lambda *_: None)  # all by carry


@pytest.mark.parametrize("make", [rewards.reward_function, rewards.async_reward_function])
def test_a_fault_teaches_nothing(
    trl: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Any
) -> None:
    """Its advantage is 0, and it is not in the baseline of its group."""
    broken_for_the_unlucky(monkeypatch)
    function = make(shaping=Shaping(partial=True))
    run = trainer(trl, tmp_path, function, steps=3, answers=PROGRAMS, tests=PROGRAM)
    run.train()
    logged = [row for row in run.state.log_history if "reward" in row]
    left_out = 0
    for row, batch, given in zip(logged, run.seen, answered(run), strict=True):
        lost = [n for n, answer in enumerate(given) if answer == 3]
        left_out += len(lost)
        known = [score(answer) for answer in given if answer != 3]
        advantages = batch["advantages"].tolist()
        assert row["csandbox/left_out"] == pytest.approx(len(lost) / GROUP)
        assert row["reward"] == pytest.approx(sum(known) / len(known))
        assert all(advantages[n] == 0.0 for n in lost)
        mean = sum(known) / len(known)
        for place, answer in enumerate(given):
            if answer != 3:
                assert (advantages[place] > 0) == (score(answer) > mean)
        assert math.isfinite(row["loss"]) and math.isfinite(row["grad_norm"])
    assert left_out > 0


def test_a_group_of_faults_changes_nothing(
    trl: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every sample left out: no advantage, no gradient, no nan in the weights."""
    broken_for_the_unlucky(monkeypatch)
    function = rewards.reward_function()
    run = trainer(trl, tmp_path, function, steps=1, answers=PROGRAMS, tests=PROGRAM)
    monkeypatch.setattr(rewards, "text_of", lambda completion: fenced(UNLUCKY))
    run.train()
    (batch,) = run.seen
    assert batch["advantages"].tolist() == [0.0] * GROUP
    (row,) = [row for row in run.state.log_history if "reward" in row]
    assert row["grad_norm"] == 0.0 and row["reward"] in (None, pytest.approx(math.nan, nan_ok=True))
    assert all(bool(weight.isfinite().all()) for weight in run.model.parameters())
