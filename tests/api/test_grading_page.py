"""docs/reference/grading.md is true: its blocks run, and its tables name what there is."""

from __future__ import annotations

import re
from pathlib import Path

import csandbox
from csandbox._compare import TEXT, VALUE
from csandbox._grade_feedback import LEVELS

PAGE = (Path(__file__).resolve().parents[2] / "docs/reference/grading.md").read_text("utf-8")


def test_blocks_run() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)
    assert len(blocks) >= 2


def test_names_exist_and_none_is_missing() -> None:
    assert all(f"`{name}" in PAGE for name in {*TEXT, *VALUE, *LEVELS})
    kinds = [name for name in csandbox.__all__ if name.endswith("Test")]
    loaders = [name for name in csandbox.__all__ if name.startswith("load_")]
    assert kinds and loaders
    assert all(f"`{name}(" in PAGE for name in kinds + loaders)
