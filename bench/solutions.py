"""The static check against CPython's parser over programs as people send them: HumanEval.

Each program is a prompt with its canonical solution, some 450 bytes, so that what a check costs
before it reads a byte counts as it does in use. The dataset is not part of this tree: --data names
a folder with ``datasets/humaneval.jsonl.gz``.
"""

from __future__ import annotations

import ast
import gzip
import json
import statistics
from pathlib import Path

import csandbox
from bench.core import Wrong
from bench.measure import interleave, timed
from bench.report import Section
from csandbox import _core
from csandbox._check import guard_of

TITLE = "check against ast.parse, per HumanEval solution under contest"


def programs(folder: Path) -> list[str]:
    """Prompt and solution of each task."""
    rows = gzip.decompress((folder / "datasets" / "humaneval.jsonl.gz").read_bytes())
    tasks = [json.loads(line) for line in rows.splitlines()]
    return [task["prompt"] + task["canonical_solution"] for task in tasks]


def solutions(rounds: int, folder: Path | None) -> Section:
    """All solutions a round, each way; the notes say what one takes."""
    if folder is None:
        return Section(
            "solutions", TITLE, "ast.parse", skipped="no --data DIR with HumanEval in it"
        )
    sources = programs(folder)
    raw = [source.encode() for source in sources]
    profile = csandbox.Profile.load("contest")
    guard = guard_of(profile)
    refused = sum(not csandbox.check(source, profile=profile).ok for source in sources)
    if refused:
        raise Wrong(f"contest refuses {refused} solutions")
    samples = interleave(
        {
            "ast.parse": lambda: timed(lambda: [ast.parse(source) for source in sources]),
            "csandbox.check": lambda: timed(
                lambda: [csandbox.check(source, profile=profile) for source in sources]
            ),
            "its C core alone": lambda: timed(
                lambda: [_core.check(guard, source, "solution.py") for source in raw]
            ),
        },
        rounds,
    )
    each = {
        name: statistics.median(cost.wall_s for cost in costs) / len(sources) * 1e6
        for name, costs in samples.items()
    }
    return Section(
        key="solutions",
        title=f"{TITLE}: {len(sources)} solutions, {sum(map(len, raw)) // len(raw)} bytes each",
        base="ast.parse",
        samples=samples,
        goals={"csandbox.check": (0.0, 1.0)},
        notes=("One solution: " + ", ".join(f"{name} {us:.0f} us" for name, us in each.items()),),
    )
