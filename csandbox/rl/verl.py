"""Reward functions as verl calls them.

In verl's configuration (older versions have ``custom_reward_function`` at the top)::

    reward.custom_reward_function.path=pkg://csandbox.rl.verl
    reward.custom_reward_function.name=compute_score_async
    +reward.custom_reward_function.reward_kwargs.profile=contest

``ground_truth`` holds the tests (as JSON text, or as the row itself). verl has no way to leave a
sample out: a fault comes out as **nan**, at which verl says that the norm of the gradient is not
finite and skips the update, or, with ``fault="raise"``, as InfrastructureFault.
"""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from csandbox.rl._faults import InfrastructureFault
from csandbox.rl._scorer import Scored, Scorer
from csandbox.rl._shaping import Shaping

#: What verl passes to every reward function, whether it wants it or not.
_OF_VERL: Final = frozenset({
    "sandbox_fusion_url", "concurrent_semaphore", "memory_limit_mb", "reward_router_address",
    "reward_model_tokenizer", "reward_fn_key", "num_examine",
})  # fmt: skip
_lock = threading.Lock()
_scorers: dict[str, Scorer] = {}


def _plain(value: Any) -> Any:
    """Mappings and lists of a configuration library as Python's own."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [_plain(item) for item in value]
    return value


def _scorer(options: Mapping[str, Any]) -> Scorer:
    """The scorer for these options, made once in a process."""
    own = {name: _plain(v) for name, v in options.items() if name not in _OF_VERL}
    key = repr(sorted(own.items(), key=lambda item: item[0]))
    with _lock:
        found = _scorers.get(key)
        if found is None:
            shape = {name: own.pop(name) for name in ("partial", "format_bonus") if name in own}
            found = _scorers[key] = Scorer(shaping=Shaping(**shape), **own)
    return found


def _outcome(scored: Scored, fault: str) -> dict[str, float]:
    """Flat numbers, always the same keys: verl makes a column of each."""
    report = scored.report
    known = scored.reward is not None
    if not known and fault == "raise":
        raise InfrastructureFault(scored.fault or "the sandbox failed, not the code")
    share = report.score if report is not None else 0.0
    return {
        "score": math.nan if scored.reward is None else scored.reward,
        "acc": float(report is not None and report.passed) if known else math.nan,
        "passed_share": math.nan if not known or share is None else share,
        "left_out": float(not known),
        "no_code": float(scored.verdict == "no_code"),
        "cpu_s": report.usage.cpu_s if report is not None else 0.0,
    }


def _fault(word: str) -> str:
    if word not in ("nan", "raise"):
        raise ValueError(f"fault must be nan or raise, not {word!r}")
    return word


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    fault: str = "nan",
    **options: Any,
) -> dict[str, float]:
    """The score of one response, for verl's reward managers.

    The result has ``score`` (the reward), ``acc`` (all tests passed), ``passed_share``,
    ``left_out``, ``no_code`` and ``cpu_s``, all numbers. `options` are ``partial`` and
    ``format_bonus`` of `Shaping`, and those of `Scorer`; what verl passes of its own is ignored.
    """
    _fault(fault)
    return _outcome(_scorer(options).score(solution_str, _plain(ground_truth)), fault)


async def compute_score_async(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    fault: str = "nan",
    **options: Any,
) -> dict[str, float]:
    """`compute_score` as a coroutine function, for verl's reward loop."""
    return await asyncio.to_thread(
        partial(
            compute_score, data_source, solution_str, ground_truth, extra_info, fault=fault,
            **options,
        )
    )  # fmt: skip


def compute_score_batch(
    data_sources: Sequence[str],
    solution_strs: Sequence[str],
    ground_truths: Sequence[Any],
    extra_infos: Sequence[Any] | None = None,
    *,
    fault: str = "nan",
    **options: Any,
) -> list[dict[str, float]]:
    """`compute_score` for verl's batch reward manager: all of them graded beside each other."""
    _fault(fault)
    rows = [_plain(truth) for truth in ground_truths]
    return [_outcome(one, fault) for one in _scorer(options).score_many(solution_strs, rows)]
