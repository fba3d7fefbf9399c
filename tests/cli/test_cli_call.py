"""``csandbox call``: the value on stdout, everything else on stderr, exit codes as ever."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = """\
def add(a, b=1):
    print("adding")
    return (a + b, {"a": [a]})

def fails():
    raise ValueError("no")

def rest(head):
    return head.next
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "a.py"
    path.write_text(SOURCE)
    return str(path)


def cli(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "csandbox", "call", *words]
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def test_the_value_goes_to_stdout(program: str) -> None:
    done = cli(program, "add", "--args", "[2]", "--kwargs", '{"b": 3}')
    assert (done.returncode, done.stdout) == (0, "(5, {'a': [2]})\n")
    assert done.stderr == "adding\n"
    done = cli(program, "rest", "--args", "[[1, 2, 3]]", "--adapt", "0=ListNode",
               "--adapt", "return=ListNode")  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "[2, 3]\n")


def test_without_a_value_it_is_1(program: str) -> None:
    done = cli(program, "fails")
    assert (done.returncode, done.stdout) == (1, "")
    assert "ValueError: no" in done.stderr and "csandbox: runtime_error" in done.stderr
    data = json.loads(cli(program, "nothing", "--json").stdout)
    assert (data["verdict"], data["reason"]) == ("runtime_error", "no_entry")
    data = json.loads(cli(program, "add", "--args", "[1]", "--json").stdout)
    assert "value" not in data and data["value_repr"] == "(2, {'a': [1]})"


@pytest.mark.parametrize(
    "words",
    [
        ["add", "--args", "2"],
        ["add", "--args", "[2"],
        ["add", "--adapt", "7=ListNode"],
        ["add", "--args", "[1]", "--adapt", "0=Node"],
        ["", "--args", "[1]"],
    ],
)
def test_usage_is_2(program: str, words: list[str]) -> None:
    done = cli(program, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("csandbox: ")
