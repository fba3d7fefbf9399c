"""docs/how-to/rl-reward.md is true: its Python blocks run, in order, in one namespace.

Blocks that need a framework that is not installed are left out, and the skip says which. ray.md
runs in tests/ray, on its cluster.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.docs.pages import blocks

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/how-to/rl-reward.md").read_text("utf-8")
#: Part of a block -> what it needs.
NEEDS = {
    "csandbox.rl.gymnasium": "gymnasium",
    "csandbox.rl.openenv": "openenv",
    "verifiers.v1": "verifiers",
}


def missing(block: str) -> str | None:
    return next((n for part, n in NEEDS.items() if part in block and find_spec(n) is None), None)


def test_rl_reward_blocks_run() -> None:
    names: dict[str, object] = {}
    every = [b.text for b in blocks("docs/how-to/rl-reward.md", PAGE) if b.language == "python"]
    assert len(every) == 11
    for block in every:
        if missing(block) is None:
            exec(compile(block, "rl-reward.md", "exec"), names)


@pytest.mark.parametrize("name", sorted(set(NEEDS.values())))
def test_no_block_was_left_out(name: str) -> None:
    if find_spec(name) is None:
        pytest.skip(f"{name} is not installed: its block of rl-reward.md did not run")


def test_strategies_and_faces_are_all_named() -> None:
    from csandbox.rl import STRATEGIES

    assert all(f"`{name}`" in PAGE for name in STRATEGIES)
    assert (ROOT / "docs/how-to/ray.md").exists()


def test_the_example_learns() -> None:
    """The loop of examples/rl, short."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples/rl/loop.py"), "--steps", "4", "--tasks", "1"],
        capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert done.stdout.count("0 accepted") == 1 and "samples in" in done.stdout
