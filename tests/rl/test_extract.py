"""Code extraction, on completions that were written by hand (completions.jsonl)."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from csandbox.rl import STRATEGIES, extract, extract_code

ROWS = [
    json.loads(line)
    for line in Path(__file__).with_name("completions.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
def test_hand_written(row: dict[str, Any]) -> None:
    assert extract_code(row["text"]) == row["auto"]
    for strategy in STRATEGIES:
        if strategy in row:
            assert extract_code(row["text"], strategy) == row[strategy], strategy
    assert extract(row["text"]).well_formed is row["form"]


def test_every_strategy_is_tried_by_a_row() -> None:
    assert set(STRATEGIES) - set().union(*ROWS) - {"last_block"} == set()


def test_blocks_are_counted() -> None:
    assert extract("```python\na\n```\n```\nb\n```").blocks == 2
    assert extract("nothing").blocks == 0


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match=r"one of auto, last_block.*not 'best'"):
        extract("x", "best")
    with pytest.raises(TypeError, match="must be a string, not list"):
        extract(["x"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "```" * 200_000,
        "`" * 600_000,
        "```python\n" * 60_000,
        (" " * 300 + "```\n") * 2000,
        "<answer>" * 70_000,
        "\n" * 600_000 + "```",
        "```python\n" + "x```" * 150_000,
    ],
    ids=["fences", "backticks", "openings", "indented", "tags", "lines", "inline"],
)
def test_hostile_text_takes_linear_time(text: str) -> None:
    # Quadratic would be minutes on these; the bound is far from both.
    began = time.process_time()
    for strategy in STRATEGIES:
        extract(text, strategy)
    assert time.process_time() - began < 30
