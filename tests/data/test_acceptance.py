"""The acceptance run can fail: each part, on a corpus of a few rows made here."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
TASK = {
    "task_id": "T/0",
    "prompt": "def double(x):\n",
    "canonical_solution": "    return 2 * x\n",
    "test": "def check(candidate):\n    assert candidate(2) == 4\n",
    "entry_point": "double",
}
COMMON = {"min_python": "3.8", "needs": [], "stdin": ""}
HONEST = {**COMMON, "id": "l-1", "class": "x", "code": "print(1)", "expect_stdout": "1\n"}
KERNEL = {**COMMON, "id": "k-1", "layer": "kernel", "should": "stop it"}
KERNEL |= {"code": "import socket\nsocket.socket()\nprint('EFFECT')"}
GUARD = {**COMMON, "id": "g-1", "layer": "guardrail", "should": "refuse it"}
GUARD |= {"code": "int.__subclasses__()"}


def acceptance(folder: Path | None) -> subprocess.CompletedProcess[str]:
    data = [] if folder is None else ["--data", str(folder), "--stdlib", str(folder / "stdlib")]
    return subprocess.run(
        [sys.executable, "tools/acceptance.py", *data],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )


def with_rows(
    folder: Path, tasks: list[Any], honest: list[Any], escapes: list[Any]
) -> subprocess.CompletedProcess[str]:
    (folder / "corpus").mkdir()
    (folder / "datasets").mkdir()
    (folder / "stdlib").mkdir(exist_ok=True)

    def lines(rows: list[Any]) -> str:
        return "".join(json.dumps(row) + "\n" for row in rows)

    (folder / "corpus" / "legit.jsonl").write_text(lines(honest))
    (folder / "corpus" / "escapes.jsonl").write_text(lines(escapes))
    packed = gzip.compress(lines(tasks).encode())
    (folder / "datasets" / "humaneval.jsonl.gz").write_bytes(packed)
    return acceptance(folder)


def test_without_data_it_says_so_loudly_and_is_no_failure() -> None:
    done = acceptance(None)
    assert done.returncode == 0 and "ACCEPTANCE WAS NOT RUN" in done.stdout


def test_a_folder_without_the_data_is_named(tmp_path: Path) -> None:
    done = acceptance(tmp_path)
    assert done.returncode == 2 and str(tmp_path) in done.stderr


def test_all_as_required(tmp_path: Path) -> None:
    done = with_rows(tmp_path, [TASK], [HONEST], [KERNEL, GUARD])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 of 1 solutions" in done.stdout
    assert "1 of 1 honest programs run (contest 1," in done.stdout
    assert "1 of 1 escapes stopped" in done.stdout and "1 under contest" in done.stdout


@pytest.mark.parametrize(
    "part, change, words",
    [
        ("task", {"canonical_solution": "    return x\n"}, "! T/0: runtime_error"),
        ("task", {"test": "import sys\nsys.exit(0)\n"}, "! T/0: accepted"),
        ("honest", {"expect_stdout": "2\n"}, "! l-1: under contest: stdout '1\\n', not '2\\n'"),
        ("honest", {"code": "1/0"}, "! l-1: under contest: runtime_error"),
        ("honest", {"code": "import socket"}, "! l-1: under compute: rejected"),
        ("honest", {"id": "legit-layout-12"}, "! legit-layout-12: runs now"),
        ("kernel", {"code": "print('EFFECT')"}, "! k-1: reached its effect"),
    ],
    ids=["wrong", "no-evidence", "other-output", "raises", "refused", "stale", "effect"],
)
def test_each_part_can_fail(part: str, change: dict[str, str], words: str, tmp_path: Path) -> None:
    rows = {"task": TASK, "honest": HONEST, "kernel": KERNEL}
    rows[part] = {**rows[part], **change}
    done = with_rows(tmp_path, [rows["task"]], [rows["honest"]], [rows["kernel"]])
    assert done.returncode == 1, done.stdout
    assert words in done.stdout and "1 failed" in done.stdout


@pytest.mark.parametrize(
    "change, words",
    [
        ({"code": "print(1)"}, "! g-1: passes minimal, and what-the-guard-cannot-see.md says"),
        ({"code": "print(1)"}, "! minimal: refuses fewer than 98%"),
        ({"id": "site-id"}, "! site-id: is refused, but what-the-guard-cannot-see.md says"),
    ],
)
def test_what_the_guard_misses_must_be_listed(
    change: dict[str, str], words: str, tmp_path: Path
) -> None:
    done = with_rows(tmp_path, [], [], [{**GUARD, **change}])
    assert done.returncode == 1
    assert words in done.stdout


def test_an_integrity_rule_that_refuses_an_honest_file_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "stdlib" / "test").mkdir(parents=True)
    (tmp_path / "stdlib" / "fine.py").write_text("import socket\n")
    (tmp_path / "stdlib" / "broken.py").write_text("print 1\n")
    (tmp_path / "stdlib" / "read_by_cpython.py").write_text("a = b'\\u'; c = 'x'\n")
    (tmp_path / "stdlib" / "folded.py").write_text("\u212f = 1\n", encoding="utf-8")
    odd = tmp_path / "stdlib" / "test" / "test_unicode_identifiers.py"
    odd.write_text("\u212f = 1\n", encoding="utf-8")
    done = with_rows(tmp_path, [], [], [])
    assert done.returncode == 1
    assert "of 5 files CPython refuses 1; integrity rules refuse 1 of the others" in done.stdout
    assert "beside 1 that are odd on purpose" in done.stdout
    assert "! folded.py: integrity rules refuse it: CSB005" in done.stdout
