"""The tools of `make acceptance-grading`: checkers that refuse, inputs told apart, the table."""

from __future__ import annotations

import pytest

from csandbox import Answer, AuditReport, Finding, StdioTest, audit_task
from tools import audit_datasets, contest_checkers

TILES = "7 4\n1 3\n2 3\n3 4\n4 5\n5 6\n5 7\n"
BOXES = "3 5\n5 1 2 3 4 5\n2 1 2\n2 3 4\n"
PLATFORMS = "7 3 2\n1 2 1\n"


@pytest.mark.parametrize(
    ("task", "stdin", "expected", "right", "wrong"),
    [
        ("1025_B", "2\n6 5\n10 3\n", "5", ["5\n"], ["1\n", "7\n", "-1\n", "", "5 5\n", "five\n"]),
        ("1025_B", "2\n2 3\n5 7\n", "-1", ["-1"], ["2", "0"]),
        (
            "1090_C",
            BOXES,
            "2\n1 3 5\n1 2 3\n",
            ["2\n1 3 5\n1 2 3\n", "2\n1 2 4\n1 3 1\n"],
            ["0\n", "2\n1 3 5\n1 2 1\n", "2\n1 3 5\n", "2\n1 3 5\n1 9 3\n", "2\n2 3 5\n1 2 3\n"],
        ),
        (
            "1214_H",
            TILES,
            "Yes\n1 1 2 3 4 1 1\n",
            ["Yes\n1 1 2 3 4 1 1\n", "YES\n2 2 1 4 3 2 2\n"],
            ["No\n", "Yes\n", "Yes\n1 1 2 3 1 1 1\n", "Yes\n1 1 2 3 5 1 1\n", "yes\n1 1 2\n"],
        ),
        ("1214_H", TILES.replace("7 4", "7 3"), "No\n", ["No"], ["Yes\n1 1 2 3 4 1 1\n", ""]),
        (
            "1256_C",
            PLATFORMS,
            "YES\n0 1 0 2 2 0 3\n",
            ["YES\n0 1 0 2 2 0 3\n", "YES\n1 0 2 2 0 3 0\n"],
            ["NO\n", "YES\n1 2 2 3 0 0 0\n", "YES\n0 1 0 2 0 2 3\n", "YES\n0 2 2 0 1 0 3\n", "YES"],
        ),
    ],
)
def test_checkers(task: str, stdin: str, expected: str, right: list[str], wrong: list[str]) -> None:
    checker = contest_checkers.CHECKERS[task]
    for text in right:
        assert checker(Answer(stdin, text, None, expected)) is True, text
    for text in wrong:
        assert checker(Answer(stdin, text, None, expected)) is not True, text


def test_inputs_that_a_statement_does_not_allow() -> None:
    hints = ["1\n2\n< 100 No\n= 5 Yes\n", "1\n2\n< 100 oN\n= 5 Yes\n", "1\n2\n? 1 No\n= 5 Yes\n",
             "1\n2\n< 100 No\n", ""]  # fmt: skip
    assert contest_checkers.allowed("a3", hints) == [True, False, False, False, False]
    assert contest_checkers.allowed("chefbm", ["2 2 1\n1 2\n", "2 2 1\n3 1\n", "2 2 1\n1 0"]) == [
        True, False, False,
    ]  # fmt: skip
    assert contest_checkers.allowed("1109_F", ["1 2\n2 1\n", "1 2\n1 2 7"]) == [True, False]
    trees = [TILES, TILES.replace("7 4", "7 1"), "3 2\n1 2\n1 2\n", "3 2\n1 2\n"]
    assert contest_checkers.allowed("1214_H", trees) == [True, False, False, False]
    assert contest_checkers.allowed("1000_A", ["anything"]) == [True]


def test_the_table_names_tasks_by_what_was_found() -> None:
    audited = audit_datasets.Audited("Own", 2, 3)
    found = Finding("accepts", "error", "a program that must fail passes all tests: nan (hack)")
    audited.add("one", AuditReport((found,), cpu_margin=5.0))
    audited.add("two", audit_task([StdioTest("1", "1")], reference="print(1)\n", repeat=1))
    text = audit_datasets.table([audited], "Words.")
    rows = {line.split("|")[1].strip(): line.split("|")[2].strip() for line in text.splitlines()[2:]
            if line.startswith("|")}  # fmt: skip
    assert rows["a program that cheats passes all tests"] == "1: one"
    assert rows["a program that does nothing passes all tests"] == "1: two"  # echo, and "gives one"
    assert "2 of 2 tasks, 3 tests. Words." in text and "5× (one)" in text
    page = "before\n<!-- audit -->\nold\n<!-- /audit -->\nafter\n"
    new = audit_datasets.filled(page, "new\n")
    assert new == "before\n<!-- audit -->\nnew\n<!-- /audit -->\nafter\n"
