"""MBPP rows: a list of assertions, and set-up code that they share."""

from __future__ import annotations

import ast
import random
from collections.abc import Mapping, Sequence
from typing import Any

from csandbox._bounded_names import BUILTINS, modules
from csandbox._load_asserts import load_asserts, parsed
from csandbox._load_humaneval import Task

_KNOWN_MODULES = {*modules(random.Random(0)), "pytest"}


def entry_of(asserts: Sequence[str], helpers: str = "") -> str:
    """The function that the assertions are about: the first that they call and nobody defines."""
    imported: dict[str, str] = {}
    known = set(BUILTINS)
    for part in ast.walk(parsed(helpers, "the set-up code")):
        if isinstance(part, ast.FunctionDef):
            known.add(part.name)
        elif isinstance(part, ast.ImportFrom) and part.module in _KNOWN_MODULES:
            known |= {alias.asname or alias.name for alias in part.names}
        elif isinstance(part, ast.ImportFrom):
            imported |= {alias.asname or alias.name: alias.name for alias in part.names}
    for text in asserts:
        for part in ast.walk(parsed(text, "an assertion")):
            called = part.func if isinstance(part, ast.Call) else None
            if isinstance(called, ast.Name) and called.id not in known:
                return imported.get(called.id, called.id)
    raise ValueError("the assertions call no function of the submission")


def load_mbpp(row: Mapping[str, Any], *, entry: str | None = None, seed: int = 0) -> Task:
    """Tests of one row of MBPP: ``test_list``, and ``challenge_test_list`` when it is there.

    ``test_setup_code`` or ``test_imports`` is what the assertions share. The entry is the function
    that they call, unless it is given. Raises KeyError, ValueError.
    """
    asserts = [*row["test_list"], *row.get("challenge_test_list", ())]
    if not asserts:
        raise ValueError("the row has no assertions")
    shared = row.get("test_setup_code") or "\n".join(row.get("test_imports", ()))
    name = entry or entry_of(asserts, shared)
    made = load_asserts("\n".join(asserts), name, helpers=shared, seed=seed)
    code = row.get("code", "")
    return Task(
        made.tests,
        made.unconverted,
        made.ignored,
        f"{shared}\n{made.weak_code}",
        id=str(row.get("task_id", "")),
        entry=name,
        reference=code,
    )
