"""The tables of docs/reference/grading.md name what there is. Its blocks run in tests/docs."""

from __future__ import annotations

from pathlib import Path

import csandbox
from csandbox._compare import TEXT, VALUE
from csandbox._grade_feedback import LEVELS

PAGE = (Path(__file__).resolve().parents[2] / "docs/reference/grading.md").read_text("utf-8")


def test_names_exist_and_none_is_missing() -> None:
    assert all(f"`{name}" in PAGE for name in {*TEXT, *VALUE, *LEVELS})
    kinds = [name for name in csandbox.__all__ if name.endswith("Test")]
    loaders = [name for name in csandbox.__all__ if name.startswith("load_")]
    assert kinds and loaders
    assert all(f"`{name}(" in PAGE for name in kinds + loaders)
