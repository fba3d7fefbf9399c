"""`python -m bench.rl`: samples a second through the TRL-shaped reward function, and through Ray.

The tasks are those of examples/rl, each with its four answers, so a sample is graded by up to seven
calls or four programs. Ray is a local one with two actors; without Ray its line says so.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import csandbox
from csandbox.rl.trl import reward_function

TASKS = Path(__file__).resolve().parent.parent / "examples" / "rl" / "tasks.jsonl"
LIMITS = csandbox.Limits(cpu_s=1, wall_s=10)


def batch(count: int) -> tuple[list[str], list[Any]]:
    """Completions and rows, each task's answers in turn."""
    rows = [json.loads(line) for line in TASKS.read_text("utf-8").splitlines()]
    every = [(f"```python\n{code}```", row["tests"]) for row in rows for code in row["candidates"]]
    chosen = [every[n % len(every)] for n in range(count)]
    return [text for text, _ in chosen], [tests for _, tests in chosen]


def rate(reward: Callable[..., Any], count: int, rounds: int) -> float:
    """Samples a second, the best of some rounds after one that warms up."""
    completions, tests = batch(count)
    best = 0.0
    for number in range(rounds + 1):
        began = time.perf_counter()
        found = reward(completions=completions, tests=tests)
        used = time.perf_counter() - began
        assert len(found) == count and None not in found
        if number:
            best = max(best, count / used)
    return best


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.rl", description=__doc__)
    parser.add_argument("--samples", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-ray", action="store_true")
    options = parser.parse_args()
    print(
        f"CPython {platform.python_version()}, {os.cpu_count()} CPUs, "
        f"load {os.getloadavg()[0]:.1f}, batches of {options.samples}"
    )
    with csandbox.Pool("contest") as pool:
        for name in ("test", "submission"):
            reward = reward_function(pool=pool, limits=LIMITS, isolation=name)
            found = rate(reward, options.samples, options.rounds)
            print(f"TRL-shaped, isolation={name!r:13} {found:7.1f} samples/s", flush=True)
    if options.no_ray or find_spec("ray") is None:
        print("Ray: not measured (not installed, or --no-ray)")
        return
    import ray

    from csandbox.ray import GraderPool

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    with GraderPool(actors_per_node=2) as pool:
        for name in ("test", "submission"):
            reward = reward_function(ray=pool, limits=LIMITS, isolation=name)
            found = rate(reward, options.samples, options.rounds)
            print(
                f"Ray {ray.__version__}, {pool.actors} actors, isolation={name!r:13} "
                f"{found:7.1f} samples/s"
            )
    ray.shutdown()


if __name__ == "__main__":
    main()
