"""Rows of data sets, right and wrong answers to them, and a sandbox that fails."""

from __future__ import annotations

import json
from typing import Any

import pytest

from csandbox import SetupError, _errand, _flight
from csandbox._result import Result

DOUBLE = "def double(x):\n    return 2 * x\n"
WRONG = "def double(x):\n    return x\n"
HALF = "def double(x):\n    return 2 * x if x < 3 else x\n"
ASSERTS = ["assert double(1) == 2", "assert double(2) == 4", "assert double(5) == 10",
           "assert double(7) == 14"]  # fmt: skip
CALLS = json.dumps({"inputs": ["1", "2"], "outputs": ["2", "4"], "fn_name": "double"})
PROGRAM = json.dumps({"inputs": ["3\n", "4\n"], "outputs": ["6\n", "8\n"]})
PRINTS = "print(2 * int(input()))\n"
SECOND_FAILS = "n = int(input())\nprint(6 if n == 3 else 0)\n"
HUMANEVAL: dict[str, Any] = {
    "task_id": "Test/0",
    "prompt": 'def double(x):\n    """Twice x."""\n',
    "entry_point": "double",
    "canonical_solution": "    return 2 * x\n",
    "test": "def check(candidate):\n    assert candidate(1) == 2\n    assert candidate(4) == 8\n",
}


def fenced(code: str) -> str:
    return f"Let me think.\n\n```python\n{code}```\n"


def chat(text: str) -> list[dict[str, str]]:
    return [{"role": "assistant", "content": text}]


def broken_sandbox(monkeypatch: pytest.MonkeyPatch, how: str = "verdict") -> None:
    """From now on no child can be started (or each ends by the sandbox's own failure)."""

    def carry(_: object) -> Any:
        if how == "raises":
            raise SetupError(step="clone", errno=11)
        return Result(verdict="internal_error", error="injected"), []

    monkeypatch.setattr(_errand, "carry", carry)
    monkeypatch.setattr(_flight.Flight, "_core_of", lambda *_: None)  # all by carry
