"""Tests from a file or folder, whatever its kind: for the command line."""

from __future__ import annotations

import gzip
import os
import zlib
from pathlib import Path
from typing import Any

from csandbox._compare import known_comparison
from csandbox._load_asserts import Loaded, load_asserts
from csandbox._load_evalplus import load_evalplus
from csandbox._load_folder import load_folder
from csandbox._load_humaneval import load_humaneval
from csandbox._load_io import load_io, parsed
from csandbox._load_mbpp import entry_of, load_mbpp


def load_row(row: Any, *, entry: str | None = None, compare: str | None = None) -> Loaded:
    """Tests of one row of a data set, by the fields that it has."""
    if isinstance(row, dict):
        if "entry_point" in row and "test" in row and "plus_input" not in row:
            return load_humaneval(row)
        if "plus_input" in row or "base_input" in row:
            return load_evalplus(row)
        if "test_list" in row:
            return load_mbpp(row, entry=entry)
    return load_io(row, entry=entry, compare=compare or "lines")


def load_tests(
    path: str | os.PathLike[str],
    *,
    entry: str | None = None,
    compare: str | None = None,
    row: int | None = None,
) -> Loaded:
    """Tests from a folder (`load_folder`), a ``.py`` file of assertions (`load_asserts`), or JSON.

    JSON (``.json``, ``.jsonl``, also ``.gz``) holds one row of a data set, or several, of which
    `row` (from 0) says which. `entry` names the function that assertions are about; left out, it is
    the first that they call. Raises OSError, ValueError and KeyError.
    """
    place = Path(path)
    if compare is not None:
        known_comparison(compare)
    if place.is_dir():
        return load_folder(place, compare=compare or "lines")
    raw = place.read_bytes()
    if place.suffix == ".gz":
        try:
            raw = gzip.decompress(raw)
        except (EOFError, zlib.error) as error:
            raise ValueError(f"{place.name} is no whole gzip file: {error}") from error
    kind = place.with_suffix("").suffix if place.suffix == ".gz" else place.suffix
    text = raw.decode("utf-8")
    if kind == ".py":
        return load_asserts(text, entry or entry_of([text], text))
    if kind == ".jsonl":
        lines = [line for line in text.splitlines() if line.strip()]
        if row is None and len(lines) != 1:
            raise ValueError(f"it has {len(lines)} rows; say which: row (--row) from 0")
        if not 0 <= (row or 0) < len(lines):
            raise ValueError(f"it has rows 0 to {len(lines) - 1}, not {row}")
        return load_row(parsed(lines[row or 0], "the tests"), entry=entry, compare=compare)
    return load_row(parsed(text, "the tests"), entry=entry, compare=compare)
