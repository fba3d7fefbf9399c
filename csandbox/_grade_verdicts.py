"""The words of grading, and which of them wins when tests disagree."""

from __future__ import annotations

from collections.abc import Iterable

#: The worst first (DMOJ's order): what a whole grading is called when its tests differ.
ORDER = (
    "internal_error",
    "security_violation",
    "rejected",
    "compile_error",
    "memory_limit",
    "time_limit",
    "output_limit",
    "runtime_error",
    "wrong_answer",
    "presentation",
    "skipped",
    "accepted",
)
_RANK = {word: rank for rank, word in enumerate(ORDER)}

#: The same source under the same profile gets these again, so one run is enough for all tests.
OF_THE_SOURCE = frozenset({"rejected", "compile_error"})


def worst(verdicts: Iterable[str]) -> str:
    """The verdict that stands first in `ORDER`. There must be one."""
    return min(verdicts, key=lambda word: _RANK[word])
