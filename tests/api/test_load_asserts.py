"""Assertions as data: what they become, what they cannot, and that none changes its sense."""

from __future__ import annotations

from typing import Any

import pytest

from csandbox import CallTest, Loaded, PropertyTest, grade, load_asserts, load_humaneval, load_mbpp


def one(text: str, **options: Any) -> Any:
    loaded = load_asserts(text, "f", **options)
    assert loaded.whole, loaded.unconverted
    assert len(loaded) == 1
    return loaded.tests[0]


@pytest.mark.parametrize(
    ("text", "args", "expected", "compare"),
    [
        ("assert f(1) == 2", (1,), 2, "numeric"),
        ("assert 2 == f(1)", (1,), 2, "numeric"),
        ("assert f(1) is True", (1,), True, "exact"),
        ("assert f(1) is None", (1,), None, "exact"),
        ("assert f([1, (2, 'a')], -3) == {'a': {1}}", ([1, (2, "a")], -3), {"a": {1}}, "numeric"),
        ("assert f(2 ** 10 // 3) == [0] * 3, 'message'", (341,), [0, 0, 0], "numeric"),
        ("LIMIT = 5\nassert f(LIMIT) == LIMIT + 1", (5,), 6, "numeric"),
        ("g = f\nassert g(1) == 2", (1,), 2, "numeric"),
        ("def test_one():\n    value = f(1)\n    assert value == 2", (1,), 2, "numeric"),
        ("import math\nassert f(math.pi) == math.floor(2.5)", (3.141592653589793,), 2, "numeric"),
        (
            "assert f('abc'.upper(), [x * x for x in range(3)]) == 1",
            ("ABC", [0, 1, 4]),
            1,
            "numeric",
        ),
    ],
)
def test_equality_is_a_call(text: str, args: Any, expected: Any, compare: str) -> None:
    test = one(text)
    assert isinstance(test, CallTest)
    assert (test.args, test.expected, test.compare) == (args, expected, compare)


def test_keywords_and_ids() -> None:
    loaded = load_asserts("\nassert f(1, key=[2]) == 3\nassert f(1) == 2; assert f(1) == 2\n", "f")
    assert [test.id for test in loaded] == ["L2", "L3", "L3.2"]
    assert loaded.tests[0].kwargs == {"key": [2]}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        ("assert f(1)", "2", "[]"),
        ("assert not f(1)", "''", "1"),
        ("assert abs(f(1) - 0.1) < 1e-6", "0.1 + 1e-9", "0.2"),
        ("import math\nassert math.isclose(f(1), 0.3)", "0.1 + 0.2", "0.31"),
        ("assert f(1) in (3, 4)", "4", "5"),
        ("assert 3 in f(1)", "[3]", "[4]"),
        ("assert sorted(f(1)) == [1, 2]", "[2, 1]", "[2, 2]"),
        ("assert set(f(1)) == {1, 2}", "[2, 1, 1]", "[2]"),
        ("assert f(1) != 3", "4", "3"),
        ("assert 1 < f(1) <= 3", "3", "1"),
        ("assert f(1)[0] == 'a' and len(f(1)) == 2", "'ab'", "'abc'"),
        ("assert isinstance(f(1), list)", "[]", "()"),
        ("assert all(v > 0 for v in f(1))", "[1]", "[0]"),
        ("assert f(1) == f(2)", "3", "n"),
        ("x = f(1)\nassert x * 2 == 4", "2", "3"),
        ("def twice(n):\n    return n + n\nassert twice(f(1)) == 4", "2", "3"),
    ],
)
def test_other_forms_keep_their_sense(text: str, right: str, wrong: str) -> None:
    tests = load_asserts(text, "f")
    assert tests.whole, tests.unconverted
    assert isinstance(tests.tests[0], PropertyTest)
    assert grade(f"def f(n):\n    return {right}\n", tests, isolation="submission").passed
    assert not grade(f"def f(n):\n    return {wrong}\n", tests, isolation="submission").passed


def test_loops_and_tables() -> None:
    text = "TABLE = [(1, 2), (3, 4)]\nfor given, wanted in TABLE:\n    assert f(given) == wanted\n"
    loaded = load_asserts(text, "f")
    assert [(t.args, t.expected) for t in loaded] == [((1,), 2), ((3,), 4)]  # type: ignore[union-attr]
    nested = (
        "for a in range(2):\n    for b in 'xy':\n"
        "        if b == 'x':\n            assert f(a, b) == a\n"
    )
    assert [t.args for t in load_asserts(nested, "f")] == [(0, "x"), (1, "x")]  # type: ignore[union-attr]


def test_chance_is_the_seeds() -> None:
    text = (
        "import random\nfor _ in range(3):\n"
        "    n = random.randint(0, 10**9)\n    assert f(n) == n + 1\n"
    )
    args = [[t.args for t in load_asserts(text, "f", seed=s)] for s in (1, 1, 2)]  # type: ignore[union-attr]
    assert args[0] == args[1] != args[2]


@pytest.mark.parametrize(
    "text",
    [
        "xs = [3, 1]\nf(xs)\nassert xs == [1, 3]",  # in place
        "xs = [3, 1]\ny = f(xs)\nassert xs == [3, 1]",
        "import os\nassert f(os.getcwd()) == 1",
        "assert f(open('x').read()) == 1",
        "with raises(ValueError):\n    f(1)",
        "try:\n    f(1)\nexcept ValueError:\n    pass",
        "assert f(1).attribute == 2",
        "assert f(f(1)) == 2",
        "for x in f(1):\n    assert x",
        "if f(1):\n    assert f(2)",
        "assert f(*unknown) == 2",
        "assert f(1) == unknown",
        "assert f(lambda x: x) == 1",
        "assert f(10 ** 10 ** 10) == 1",
        "assert f('a' * 10 ** 10) == 1",
        "while True:\n    pass",
        "assert f(eval('1')) == 1",
        "assert f(().__class__) == 1",
        "assert 1 == 2",
        "def test_it(fixture):\n    assert f(fixture) == 1",
        "class TestIt:\n    x = 1\n    def test(self):\n        assert f(1) == 1",
        "class TestIt(Base):\n    def test(self):\n        assert f(1) == 1",
        "class TestIt:\n    def test(self):\n        assert f(self.x) == 1",
        "class Other:\n    def test(self):\n        assert f(1) == 1",
        "import pytest\n@pytest.mark.skip\ndef test_it():\n    assert f(1) == 1",
        "import pytest\n@pytest.fixture\ndef test_it():\n    assert f(1) == 1",
        "import pytest\n@pytest.mark.parametrize('x', [1])\ndef test_it(y):\n    assert f(y) == 1",
        "import pytest\n@pytest.mark.parametrize('x,y', [1])\ndef test_it(x, y):\n    assert f(x)",
        "import pytest\n@pytest.mark.parametrize('x', [pytest.param(1, marks=pytest.mark.xfail)])\n"
        "def test_it(x):\n    assert f(x) == 1",
        "import pytest\ndef test_it():\n    with pytest.raises(ValueError):\n        f(1)",
        "import pytest\nassert f(1) == pytest.approx(float('nan'))",
        "import pytest\nassert f(1) == [pytest.approx(1)]",
        "from elsewhere import f, g\nassert f(1) == 1",
        "import solution\nassert solution.f(1) == 1",
    ],
)
def test_what_cannot_be_data_is_reported(text: str) -> None:
    loaded = load_asserts(text, "f")
    assert loaded.unconverted and not loaded.whole
    assert "line" in str(loaded.unconverted[0]) and loaded.unconverted[0].reason


PYTEST_FILE = """
\"\"\"As people write them.\"\"\"
import math, pytest
from solution import f
from solution import f as g

def test_one():
    \"\"\"A doc string.\"\"\"
    assert f(2) == 4
    assert math.isclose(f(1.5), 3)

@pytest.mark.parametrize(("x", "y"), [(1, 2), pytest.param(2, 4, id="two")], ids=["a", "b"])
def test_rows(x, y):
    assert g(x) == y

@pytest.mark.parametrize("a", [1, 2])
@pytest.mark.parametrize("b", ["x", "y"])
def test_product(a, b):
    assert f(b * a) == b * a * 2

class TestNear:
    \"\"\"A class.\"\"\"

    def test_near(self):
        assert f(0.1) == pytest.approx(0.2)
        assert f([0.1]) == pytest.approx([0.1, 0.1], rel=1e-3)
        assert f((3,))[0] == pytest.approx(3.001, abs=0.01)
        assert pytest.approx(0.2) == f(0.1)

    @pytest.mark.parametrize("n", range(3))
    def test_all(self, n):
        assert f(n) == n * 2
"""


def test_a_file_for_pytest() -> None:
    loaded = load_asserts(PYTEST_FILE, "f")
    assert loaded.whole, [str(part) for part in loaded.unconverted]
    assert len(loaded) == 2 + 2 + 4 + 4 + 3
    products = [t.args[0] for t in loaded if isinstance(t, CallTest) and t.id.startswith("L19")]
    assert sorted(products) == ["x", "xx", "y", "yy"]
    assert {test.compare for test in loaded} >= {
        "float(rel=1e-06, abs=1e-12)", "float(rel=0.001, abs=1e-12)", "numeric"
    }  # fmt: skip
    right = "def f(x):\n    return x * 2\n"
    assert grade(right, loaded).passed
    # a little wrong, in each of the ways that approx must see
    for wrong in ("x * 2 + 1e-3", "[y + y / 50 for y in x * 2]", "True", "float('nan')", "None"):
        report = grade(f"def f(x):\n    return {wrong}\n", loaded, stop="never")
        near = [row for row in report if row.id[:3] in ("L25", "L26", "L27", "L28")]
        assert near and not any(row.passed for row in near), wrong
    weak = grade(right, [loaded.weak()], allow_weak=True, profile="open")
    assert weak.verdict in ("accepted", "runtime_error")  # pytest is not in every child


def test_the_submissions_import_is_not_in_the_weak_text() -> None:
    text = "from solution import (\n    f,\n)\nfrom solution import f as g\nassert g(f(1)) == 1\n"
    loaded = load_asserts(text, "f")
    assert not loaded.whole
    assert grade("def f(x):\n    return x\n", [loaded.weak()], allow_weak=True).passed


def test_half_a_loop_is_none() -> None:
    loaded = load_asserts("for n in (1, 2):\n    assert f(n) == 4 // (2 - n)\n", "f")
    assert loaded.tests == () and len(loaded.unconverted) == 1


def test_what_says_nothing_is_counted() -> None:
    loaded = load_asserts("assert True\nprint('x')\nassert f(1) == 2", "f")
    assert loaded.whole and loaded.ignored == 1 and len(loaded) == 1
    assert not load_asserts("assert True", "f").whole
    with pytest.raises(ValueError, match="no tests"):
        grade("def f(): pass", load_asserts("assert True", "f"))


def test_an_argument_that_is_changed_later_was_given_as_it_was() -> None:
    loaded = load_asserts("xs = [1]\nassert f(xs) == 1\nxs.append(2)\nassert f(xs) == 2", "f")
    assert [t.args for t in loaded] == [([1],), ([1, 2],)]  # type: ignore[union-attr]


def test_unconverted_text_runs_weakly_on_request() -> None:
    text = "xs = [3, 1]\nf(xs)\nassert xs == [1, 3]\n"
    loaded: Loaded = load_asserts(text, "f")
    right, wrong = "def f(xs):\n    xs.sort()\n", "def f(xs):\n    pass\n"
    report = grade(right, [loaded.weak()], allow_weak=True)
    assert report.passed and report.trust == "weak"
    assert not grade(wrong, [loaded.weak()], allow_weak=True).passed


def test_wrong_text() -> None:
    with pytest.raises(ValueError, match="cannot be read as Python"):
        load_asserts("assert f(", "f")
    with pytest.raises(ValueError, match="no function 'check'"):
        load_asserts("assert f(1)", "f", check="check")
    with pytest.raises(ValueError, match="at least one"):
        load_asserts("assert f(1)", [])


ROW = {
    "task_id": "Own/1",
    "prompt": "def shift(s):\n    return s[1:] + s[:1]\n\n\ndef back(s):\n    '''undo'''\n",
    "entry_point": "back",
    "canonical_solution": "    return s[-1:] + s[:-1]\n",
    "test": "def check(candidate):\n    assert candidate('ab') == 'ba'\n"
    "    for s in ('abc', 'x'):\n        assert candidate(shift(s)) == s\n",
}


def test_humaneval_row() -> None:
    task = load_humaneval(ROW)
    assert task.whole and len(task) == 3 and (task.id, task.entry) == ("Own/1", "back")
    assert task.tests[1].args == ("bca",)  # type: ignore[union-attr]
    assert grade(task.reference, task).passed
    assert grade(task.source("    return s\n"), task).verdict == "wrong_answer"
    with pytest.raises(KeyError, match="entry_point"):
        load_humaneval({"prompt": ""})


def test_mbpp_row() -> None:
    row = {
        "task_id": 7,
        "code": "def area(r): return r * r * 3\n",
        "test_setup_code": "import math\nBASE = 2\n",
        "test_list": ["assert area(BASE) == 12", "assert math.isclose(area(1), 3)"],
    }
    task = load_mbpp(row)
    assert task.whole and task.entry == "area" and len(task) == 2
    assert grade(task.reference, task).passed
    with pytest.raises(ValueError, match="no assertions"):
        load_mbpp({"test_list": []})
