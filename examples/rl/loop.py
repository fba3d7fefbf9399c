"""A small reinforcement learning loop around csandbox: no model, everything else as it would be.

    python examples/rl/loop.py [--steps 12] [--group 8] [--tasks 4] [--plot rewards.png] [--ray]

For each task of tasks.jsonl the "policy" holds a probability for each of a few answers that were
written beforehand: lazy ones, nearly right ones, cheats, and one that is right (the last). A step
draws a group of answers for every task, has them graded through the TRL-shaped reward function,
and moves the probabilities by the group's advantages (as GRPO does, with REINFORCE's gradient of
a softmax). Before that each task's tests are audited: a task whose tests accept a cheat would
teach the cheat.

It prints the rewards of each step, samples a second, and draws a plot (matplotlib) or a line of
text. Exit status: 0 when the policy has learned to answer.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import csandbox
from csandbox.rl import Rows, Shaping
from csandbox.rl.trl import reward_function

HERE = Path(__file__).resolve().parent
LIMITS = csandbox.Limits(cpu_s=1, wall_s=10)
RATE = 1.5


@dataclass
class Task:
    """A row of the data set, and the policy's preference for each of its answers."""

    id: str
    prompt: str
    tests: Any
    candidates: list[str]
    preferences: list[float] = field(default_factory=list)

    def probabilities(self) -> list[float]:
        weights = [math.exp(p) for p in self.preferences]
        return [w / sum(weights) for w in weights]


def load() -> list[Task]:
    rows = [json.loads(line) for line in (HERE / "tasks.jsonl").read_text("utf-8").splitlines()]
    return [Task(**row, preferences=[0.0] * len(row["candidates"])) for row in rows]


def audit(tasks: list[Task]) -> list[str]:
    """Problems of the tasks themselves; an empty list when they may be trained on."""
    found = []
    rows = Rows(entry=None, compare=None, incomplete="raise")
    for task in tasks:
        *wrong, right = task.candidates
        named = {f"candidate {n}": text for n, text in enumerate(wrong)}
        tests = rows.tests(task.tests) or ()
        report = csandbox.audit_task(tests, reference=right, wrong=named, limits=LIMITS, repeat=1)
        print(f"audit  {task.id:10} {report.summary()}")
        if not report.ok:
            found.append(task.id)
    return found


def bar(items: Iterable[int], total: int) -> Iterator[int]:
    """A progress bar: tqdm's where it is installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield from items
        return
    yield from tqdm(items, total=total, unit="step", file=sys.stderr)


def step(tasks: list[Task], group: int, rng: random.Random, reward: Any) -> list[float]:
    """One step: draw, grade, learn. Returns the rewards that are known."""
    drawn = [
        (task, choice)
        for task in tasks
        for choice in rng.choices(range(len(task.candidates)), task.probabilities(), k=group)
    ]
    completions = [
        [{"role": "assistant", "content": f"Here it is:\n\n```python\n{task.candidates[c]}```\n"}]
        for task, c in drawn
    ]
    columns = {
        "prompts": [task.prompt for task, _ in drawn],
        "tests": [task.tests for task, _ in drawn],
    }
    rewards = reward(completions=completions, **columns)
    for number, task in enumerate(tasks):
        places = range(number * group, (number + 1) * group)
        # None is a sample on which the sandbox failed: it teaches nothing, and is no 0.
        known = [(drawn[p][1], rewards[p]) for p in places if rewards[p] is not None]
        learn(task, known)
    return [value for value in rewards if value is not None]


def learn(task: Task, samples: list[tuple[int, float]]) -> None:
    """Move the preferences by each sample's advantage over its group."""
    if not samples:
        return
    mean = sum(value for _, value in samples) / len(samples)
    probabilities = task.probabilities()
    for choice, value in samples:
        for other in range(len(task.preferences)):
            gradient = (other == choice) - probabilities[other]
            task.preferences[other] += RATE * (value - mean) * gradient


def draw(means: list[float], path: Path | None) -> str:
    """A plot in a file when matplotlib is there and a path is given; else a line of text."""
    if path is not None:
        try:
            import matplotlib

            matplotlib.use("Agg")
            from matplotlib import pyplot
        except ImportError:
            print("no plot: matplotlib is not installed", file=sys.stderr)
        else:
            figure, axes = pyplot.subplots(figsize=(6, 3))
            axes.plot(range(1, len(means) + 1), means, marker="o")
            axes.set(xlabel="step", ylabel="mean reward", ylim=(-0.05, 1.05))
            figure.tight_layout()
            figure.savefig(path)
            pyplot.close(figure)
            return f"plot: {path}"
    return "reward " + "".join("▁▂▃▄▅▆▇█"[min(7, int(mean * 8))] for mean in means)


def train(tasks: list[Task], options: argparse.Namespace, grading: dict[str, Any]) -> list[float]:
    """All steps; the mean reward of each."""
    reward = reward_function(shaping=Shaping(partial=True), limits=LIMITS, **grading)
    rng = random.Random(options.seed)
    means: list[float] = []
    began, samples = time.perf_counter(), 0
    for _ in bar(range(options.steps), options.steps):
        rewards = step(tasks, options.group, rng, reward)
        samples += len(rewards)
        means.append(sum(rewards) / max(1, len(rewards)))
    used = time.perf_counter() - began
    for number in sorted({1, len(means)}) if means else ():
        print(f"step {number:3}  mean reward {means[number - 1]:.2f}")
    print(f"{samples} samples in {used:.1f} s, {samples / used:.0f} a second")
    return means


def main() -> int:
    """Audit, train, show."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--group", type=int, default=8, help="answers to each task in a step")
    parser.add_argument("--tasks", type=int, default=4, help="how many of the tasks")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plot", type=Path, metavar="FILE")
    parser.add_argument("--ray", action="store_true", help="grade on a Ray cluster")
    options = parser.parse_args()
    tasks = load()[: max(1, options.tasks)]
    unfit = audit(tasks)
    if unfit:
        print(f"not fit to be trained on: {', '.join(unfit)}", file=sys.stderr)
        return 1
    if options.ray:
        from csandbox.ray import GraderPool

        with GraderPool() as pool:
            means = train(tasks, options, {"ray": pool})
    else:
        with csandbox.Pool("contest") as pool:
            means = train(tasks, options, {"pool": pool})
    print(draw(means, options.plot))
    for task in tasks:
        right = task.probabilities()[-1]
        print(f"{task.id:10} answers right with probability {right:.2f}")
    return 0 if all(task.probabilities()[-1] > 0.5 for task in tasks) else 1


if __name__ == "__main__":
    sys.exit(main())
