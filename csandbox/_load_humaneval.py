"""HumanEval rows (and others of their shape: prompt, test with check(candidate), entry_point)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from csandbox._load_asserts import Loaded, load_asserts


@dataclass(frozen=True)
class Task(Loaded):
    """Tests together with what a submission is made of.

    ``entry`` is the function asked for, ``prompt`` the text that a completion continues.
    """

    id: str = ""
    entry: str = ""
    prompt: str = ""
    reference: str = ""  # a whole program that is right, when the data set has one

    def source(self, completion: str) -> str:
        """The whole program for a completion of the prompt."""
        return self.prompt + completion


def load_humaneval(row: Mapping[str, Any], *, seed: int = 0) -> Task:
    """Tests of one row of HumanEval, with functions of the prompt as helpers.

    `row` has ``prompt``, ``entry_point`` and ``test``; ``task_id`` and ``canonical_solution`` are
    used when they are there. Raises KeyError for a missing field, ValueError when its text is no
    Python.
    """
    entry, prompt = row["entry_point"], row["prompt"]
    made = load_asserts(
        row["test"], entry, helpers=_without(prompt, entry), check="check", seed=seed
    )
    solution = row.get("canonical_solution")
    return Task(
        made.tests,
        made.unconverted,
        made.ignored,
        made.weak_code,
        id=str(row.get("task_id", "")),
        entry=entry,
        prompt=prompt,
        reference="" if solution is None else prompt + solution,
    )


def _without(prompt: str, entry: str) -> str:
    """The prompt up to the function that is asked for, whose body is not there yet."""
    before, found, _ = prompt.rpartition(f"def {entry}(")
    return before if found else ""
