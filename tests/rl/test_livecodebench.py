"""LiveCodeBench's own evaluation, with `check_correctness` taken from us (make test-trl).

The package index has it as nvidia-livecodebench: the code of the benchmark, packaged. Its harness
grades in processes that it forks, pools the results and works out pass@k.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from csandbox.rl import livecodebench
from tests.rl.tasks import CALLS, DOUBLE, PRINTS, PROGRAM, SECOND_FAILS, WRONG

pytestmark = pytest.mark.filterwarnings("ignore")

SAMPLES = [{"input_output": PROGRAM}, {"input_output": CALLS}]
METHOD = "class Solution:\n    def double(self, x):\n        return 2 * x\n"
LEAVES = "import os\nos._exit(0)\n"
GENERATIONS = [
    [PRINTS, SECOND_FAILS, "print(", LEAVES],
    [METHOD, DOUBLE, WRONG, "raise ValueError"],
]


@pytest.fixture(autouse=True)
def nothing_left_behind() -> None:
    """The harness keeps processes until it is collected."""


@pytest.fixture(scope="module")
def harness() -> Any:
    return pytest.importorskip(
        "livecodebench.evaluation.compute_code_generation_metrics",
        reason="LiveCodeBench is not installed: make test-trl",
    )


def evaluated(harness: Any) -> tuple[Any, Any]:
    metrics, results, metadata = harness.codegen_metrics(
        SAMPLES, GENERATIONS, k_list=[1], num_process_evaluate=2, timeout=6
    )
    assert all(isinstance(json.loads(one), dict) for row in metadata for one in row)
    passed = [[all(value > 0 for value in one) for one in results[n]] for n in range(2)]
    return metrics, passed


def test_the_harness_takes_ours_and_comes_to_the_same(
    harness: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs, passed = evaluated(harness)
    assert passed == [[True, False, False, False], [True, True, False, False]]
    monkeypatch.setattr(harness, "check_correctness", livecodebench.check_correctness)
    ours, same = evaluated(harness)
    assert same == passed and ours["pass@1"] == theirs["pass@1"]
    assert ours["pass@1"] == pytest.approx((1 / 4 + 2 / 4) / 2)
