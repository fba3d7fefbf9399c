"""Input/output tests in the shapes of data sets, folders, and files for the command line."""

from __future__ import annotations

import base64
import gzip
import json
import pickle
import zlib
from pathlib import Path
from typing import Any

import pytest

from csandbox import (
    CallTest,
    StdioTest,
    _load_io,
    grade,
    load_evalplus,
    load_folder,
    load_io,
    load_tests,
)

ADD = "print(sum(map(int, input().split())))\n"
PAIRS = [("1 2\n", "3\n"), ("5 5\n", "10\n")]


def stdio_shapes() -> dict[str, Any]:
    inputs, outputs = [a for a, _ in PAIRS], [b for _, b in PAIRS]
    cases = [{"input": a, "output": b, "testtype": "stdin"} for a, b in PAIRS]
    packed = base64.b64encode(zlib.compress(pickle.dumps(json.dumps(cases[1:])))).decode()
    common = [{"input": {"stdin": a}, "output": {"stdout": b}} for a, b in PAIRS]
    return {
        "apps": {"input_output": json.dumps({"inputs": inputs, "outputs": outputs})},
        "apps lines": {"inputs": [["1 2"], ["5 5"]], "outputs": [["3"], ["10"]]},
        "taco": {"inputs": inputs, "outputs": outputs, "fn_name": None},
        "codecontests": {
            "public_tests": {"input": inputs[:1], "output": outputs[:1]},
            "private_tests": {"input": [], "output": []},
            "generated_tests": {"input": inputs[1:], "output": outputs[1:]},
        },
        "livecodebench": {
            "public_test_cases": json.dumps(cases[:1]),
            "private_test_cases": packed,
            "metadata": "{}",
        },
        "commonoj": {"test": json.dumps(common)},
        "text": json.dumps({"inputs": inputs, "outputs": outputs}),
    }


@pytest.mark.parametrize("name", stdio_shapes())
def test_programs(name: str) -> None:
    loaded = load_io(stdio_shapes()[name])
    assert [type(t) for t in loaded] == [StdioTest, StdioTest] and loaded.whole
    assert loaded.tests[1].hidden
    assert loaded.tests[0].hidden is (name not in ("codecontests", "livecodebench"))
    assert grade(ADD, loaded).passed
    assert not grade("print(3)\n", loaded).passed


@pytest.mark.parametrize(
    "row",
    [
        {"fn_name": "f", "inputs": [[[1, 2], 3]], "outputs": [[4, 5]]},
        {"fn_name": "f", "inputs": [[[1, 2], 3]], "outputs": [[[4, 5]]]},
        {
            "public_test_cases": [
                {"input": "[1, 2]\n3", "output": "[4, 5]", "testtype": "functional"}
            ],
            "metadata": '{"func_name": "f"}',
        },
    ],
)
def test_calls(row: dict[str, Any]) -> None:
    (test,) = load_io(row).tests
    assert isinstance(test, CallTest)
    assert (test.entry, test.args, test.expected) == ("f", ([1, 2], 3), [4, 5])
    assert grade("def f(xs, n):\n    return tuple(x + n for x in xs)\n", [test]).passed


def test_a_task_wraps_all_of_its_values_or_none() -> None:
    """A list of one in a task of lists is the value, not a wrapping of what is in it."""
    lists = load_io({"fn_name": "f", "inputs": [[2], [1], [0]], "outputs": [[0, 1], [0], []]})
    assert [t.expected for t in lists] == [[0, 1], [0], []]  # type: ignore[union-attr]
    assert grade("def f(n):\n    return list(range(n))\n", lists).passed
    wrapped = load_io({"fn_name": "f", "inputs": [[2], [1]], "outputs": [[[0, 1]], [[0]]]})
    assert [t.expected for t in wrapped] == [[0, 1], [0]]  # type: ignore[union-attr]


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(ValueError, match="2 inputs for 1"):
        load_io({"inputs": ["", ""], "outputs": ["1"]})
    with pytest.raises(ValueError, match="no tests"):
        load_io({"inputs": [], "outputs": []})
    with pytest.raises(ValueError, match="among a, b"):
        load_io({"a": 1, "b": 2})
    with pytest.raises(ValueError, match="no JSON"):
        load_io("{")
    loaded = load_io({"inputs": ["1", "2"], "outputs": ["", "2"]})
    assert len(loaded) == 1 and "does nothing would pass" in loaded.unconverted[0].reason


def test_a_pickle_that_could_run_code_is_refused() -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return print, ("EFFECT",)

    packed = base64.b64encode(zlib.compress(pickle.dumps(Bomb()))).decode()
    row = {"public_test_cases": "[]", "private_test_cases": packed}
    with pytest.raises(ValueError, match="refused"):
        load_io(row)


def test_folder(tmp_path: Path) -> None:
    (tmp_path / "sample").mkdir()
    for name, text in {
        "01.in": "1 2", "01.out": "3", "2.in": "5 5", "2.ans": "10", "sample/1.in": "0 1",
        "sample/1.out": "1\n", "03": "2 2", "03.a": "4", "input4.txt": "1 1", "output4.txt": "2",
        "lonely.in": "1", "notes.md": "not a test",
    }.items():  # fmt: skip
        (tmp_path / name).write_text(text)
    loaded = load_folder(tmp_path)
    assert [t.id for t in loaded] == ["01.in", "03", "2.in", "input4.txt", "sample/1.in"]
    assert [t.hidden for t in loaded] == [True, True, True, True, False]
    assert [part.text for part in loaded.unconverted] == ["lonely.in"]
    assert grade(ADD, loaded).passed
    with pytest.raises(NotADirectoryError):
        load_folder(tmp_path / "01.in")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="no inputs"):
        load_folder(tmp_path / "empty")


def test_evalplus() -> None:
    row = {
        "task_id": "Own/2",
        "prompt": "def f(x):\n",
        "entry_point": "f",
        "canonical_solution": "    return 1 / x\n",
        "base_input": [[2]],
        "plus_input": [[3], [0]],
        "atol": 1e-6,
    }
    task = load_evalplus(row)
    assert [(t.args, t.hidden) for t in task] == [((2,), False), ((3,), True)]  # type: ignore[union-attr]
    assert "ZeroDivisionError" in task.unconverted[0].reason
    assert grade("def f(x):\n    return 1 / x + 1e-9\n", task).passed
    assert not grade("def f(x):\n    return 1 / x + 1e-3\n", task).passed


def test_files(tmp_path: Path) -> None:
    asserts = tmp_path / "tests.py"
    asserts.write_text("assert add(1, 2) == 3\n")
    assert load_tests(asserts).tests[0].args == (1, 2)  # type: ignore[union-attr]
    row = json.dumps({"inputs": ["1 2"], "outputs": ["3"]})
    (tmp_path / "one.json").write_text(row)
    assert len(load_tests(tmp_path / "one.json")) == 1
    (tmp_path / "two.jsonl.gz").write_bytes(gzip.compress(f"{row}\n{row}\n".encode()))
    assert len(load_tests(tmp_path / "two.jsonl.gz", row=1)) == 1
    with pytest.raises(ValueError, match="2 rows"):
        load_tests(tmp_path / "two.jsonl.gz")
    with pytest.raises(ValueError, match="rows 0 to 1"):
        load_tests(tmp_path / "two.jsonl.gz", row=2)


DEEP = "[" * 100_000


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("deep.json", DEEP.encode()),
        ("deep.jsonl", DEEP.encode()),
        ("bytes.json", b"\xff\xfe"),
        ("cut.json.gz", gzip.compress(b"[1, 2]" * 1000, mtime=0)[:-9]),
        ("spoilt.json.gz", gzip.compress(b"[1, 2]", mtime=0)[:10] + b"\xff" * 20),
    ],
    ids=["deep", "deep row", "bytes", "cut", "spoilt"],
)
def test_a_file_that_cannot_be_read_is_a_value_error(
    name: str, content: bytes, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError):
        load_tests(tmp_path / name)


@pytest.mark.parametrize("packed", [b"", b"\x80\x04.", b"X\xff\xff\xff\xff", b"garbage", b"0."])
def test_a_broken_pickle_is_a_value_error(packed: bytes) -> None:
    text = base64.b64encode(zlib.compress(packed)).decode()
    row = {"public_test_cases": "[]", "private_test_cases": text}
    with pytest.raises(ValueError, match="broken pickle"):
        load_io(row)


@pytest.mark.parametrize("cut", [None, 20])
def test_what_unpacks_to_too_much_is_a_value_error(
    monkeypatch: pytest.MonkeyPatch, cut: int | None
) -> None:
    if cut is None:
        monkeypatch.setattr(_load_io, "_MOST_UNPACKED", 1000)
    packed = zlib.compress(pickle.dumps("[" + " " * 1000 + "]"))[:cut]
    text = base64.b64encode(packed).decode()
    with pytest.raises(ValueError, match="cut, or larger"):
        load_io({"public_test_cases": "[]", "private_test_cases": text})


def test_what_is_too_deep_for_json_is_text() -> None:
    row = {"inputs": [DEEP], "outputs": ["1"], "fn_name": "f"}
    (test,) = load_io({"input_output": row}).tests
    assert isinstance(test, CallTest) and list(test.args) == [DEEP]


def test_the_entry_of_a_file_is_what_it_imports(tmp_path: Path) -> None:
    path = tmp_path / "test_it.py"
    text = "from math import isclose\nfrom mine import half as h\nassert isclose(h(3), 1.5)\n"
    path.write_text(text)
    assert grade("def half(x):\n    return x / 2\n", load_tests(path)).passed
