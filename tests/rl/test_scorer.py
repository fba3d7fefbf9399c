"""What all faces share: rows, rewards, shaping, and that a fault is never a number."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Iterable
from typing import Any

import pytest

import csandbox
from csandbox.rl import RowError, Rows, Scorer, Shaping, neutral_to_length
from csandbox.rl._completion import text_of
from tests.rl.tasks import (
    ASSERTS,
    CALLS,
    DOUBLE,
    HALF,
    PRINTS,
    PROGRAM,
    WRONG,
    broken_sandbox,
    fenced,
)


def rewards(scorer: Scorer, sources: Iterable[str], row: Any = ASSERTS) -> list[float | None]:
    texts = [fenced(code) for code in sources]
    return [one.reward for one in scorer.score_many(texts, [row] * len(texts))]


@pytest.mark.parametrize(
    "row",
    [
        ASSERTS,
        "\n".join(ASSERTS),
        CALLS,
        {"input_output": CALLS},
        {"test_list": ASSERTS},
        [csandbox.CallTest("double", [2], 4)],
        csandbox.load_asserts("\n".join(ASSERTS), "double"),
    ],
    ids=["list", "text", "json", "apps", "mbpp", "tests", "loaded"],
)
def test_rows_of_every_shape(row: Any) -> None:
    assert rewards(Scorer(), [DOUBLE, WRONG], row) == [1.0, 0.0]


def test_one_and_many_agree() -> None:
    scorer = Scorer()
    assert scorer.score(fenced(PRINTS), PROGRAM).reward == 1.0
    one = scorer.score(fenced(WRONG), ASSERTS)
    assert (one.reward, one.verdict, one.fault) == (0.0, "wrong_answer", None)
    none = scorer.score("```cpp\nint x;\n```", ASSERTS)
    assert (none.reward, none.verdict, none.report) == (0.0, "no_code", None)
    for text in (fenced(DOUBLE), fenced(WRONG), "```cpp\nint x;\n```"):
        blocking, other = scorer.score(text, ASSERTS), asyncio.run(scorer.ascore(text, ASSERTS))
        assert (blocking.reward, blocking.verdict) == (other.reward, other.verdict)


def test_a_class_named_solution_is_called() -> None:
    method = "class Solution:\n    def double(self, x):\n        return 2 * x\n"
    assert rewards(Scorer(), [method], CALLS) == [1.0]
    assert rewards(Scorer(), [method + "def double(x):\n    return 0\n"], CALLS) == [0.0]


def test_hostile_text_is_a_zero_and_no_exception() -> None:
    texts = ["```python\nx = '\ud800'\n```", "\0", "```python\n" + "(" * 5000 + "\n```", "def (:"]
    scored = Scorer().score_many(texts, [ASSERTS] * len(texts))
    assert [one.reward for one in scored] == [0.0] * len(texts)


def test_nothing_is_shaped_by_default() -> None:
    assert rewards(Scorer(), [DOUBLE, HALF, WRONG]) == [1.0, 0.0, 0.0]


def test_partial() -> None:
    assert rewards(Scorer(shaping=Shaping(partial=True)), [DOUBLE, HALF, WRONG]) == [1.0, 0.5, 0.0]


def test_format_bonus() -> None:
    scorer = Scorer(shaping=Shaping(format_bonus=0.1))
    texts = [fenced(DOUBLE), DOUBLE, fenced(WRONG), "```python\n" + WRONG, "```cpp\n```"]
    scored = scorer.score_many(texts, [ASSERTS] * 5)
    assert [one.reward for one in scored] == [1.1, 1.0, 0.1, 0.0, 0.0]


def test_length_neutral() -> None:
    long = "# " + "why " * 50 + "\n"
    texts = [fenced(DOUBLE), fenced(long + DOUBLE), fenced(WRONG), fenced(long + WRONG)]
    scorer = Scorer(shaping=Shaping(length_neutral=True))
    scored = scorer.score_many(texts, [ASSERTS] * 4, ["a"] * 4)
    found = [one.reward for one in scored]
    assert found[0] == pytest.approx(1, abs=0.02) and found[3] == pytest.approx(0, abs=0.02)
    with pytest.raises(ValueError, match="share a prompt"):
        scorer.score_many(texts, [ASSERTS] * 4)


def test_length_alone_pays_nothing() -> None:
    lengths = [10, 20, 30, 40]
    assert neutral_to_length([0.1, 0.2, 0.3, 0.4], lengths, "aaaa") == pytest.approx([0.25] * 4)
    assert neutral_to_length([0, None, 1, 0], lengths, "aaaa")[1] is None
    assert neutral_to_length([0.0, 1.0], [1, 9], "aa") == [0.0, 1.0]  # too few for a line
    assert neutral_to_length([1.0] * 4, [5] * 4, "aaaa") == [1.0] * 4
    mixed = neutral_to_length([0.0, 1.0, 0.0, 1.0, 1.0], [1, 2, 3, 4, 9], "aaaab")
    assert mixed[4] == 1.0 and all(0 <= value <= 1 for value in mixed if value is not None)


@pytest.mark.parametrize("how", ["verdict", "raises"])
def test_a_fault_has_no_reward(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    broken_sandbox(monkeypatch, how)
    for shaping in (Shaping(), Shaping(partial=True, format_bonus=0.5)):
        scored = Scorer(shaping=shaping).score(fenced(PRINTS), PROGRAM)
        assert scored.reward is None and scored.verdict == "internal_error" and scored.fault


def test_rows_that_cannot_be_used() -> None:
    partly = ["assert double(1) == 2", "assert isinstance(double, object) and helper(double)"]
    with pytest.raises(RowError, match=r"cannot be tests as data.*incomplete='use'"):
        Scorer().score(DOUBLE, partly)
    dropped = Scorer(incomplete="drop").score(DOUBLE, partly)
    assert (dropped.reward, dropped.verdict) == (None, "no_tests")
    assert Scorer(incomplete="use").score(DOUBLE, partly).reward == 1.0
    for row in ("{}", "{", [], {"inputs": []}, 7, None):
        with pytest.raises(RowError):
            Scorer().score(DOUBLE, row)
        assert Scorer(incomplete="drop").score(DOUBLE, row).reward is None
        assert Scorer(incomplete="use").score(DOUBLE, row).reward is None


def test_rows_are_read_once() -> None:
    rows = Rows(entry=None, compare=None, incomplete="raise")
    assert rows.tests(CALLS) is rows.tests(str(CALLS))
    again = pickle.loads(pickle.dumps(rows))
    assert again.tests(CALLS) == rows.tests(CALLS)


def test_wrong_arguments() -> None:
    for options, word in (
        ({"extract": "best"}, "extract"),
        ({"incomplete": "skip"}, "incomplete"),
    ):
        with pytest.raises(ValueError, match=word):
            Scorer(**options)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="stop"):
        Scorer(stop="never")
    with pytest.raises(TypeError, match="partial"):
        Shaping(partial=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="finite"):
        Shaping(format_bonus=float("nan"))
    with pytest.raises(ValueError, match="2 completions for 1"):
        Scorer().score_many(["a", "b"], [ASSERTS])


def test_a_pool_of_ones_own() -> None:
    with csandbox.Pool("contest", workers=1) as pool:
        assert rewards(Scorer(pool=pool), [DOUBLE, WRONG], CALLS) == [1.0, 0.0]
        assert pool.stats()["runs"] >= 2


@pytest.mark.parametrize(
    ("completion", "text"),
    [
        ("a", "a"),
        ([{"role": "assistant", "content": "a"}], "a"),
        ([{"role": "assistant", "content": "a"}, {"role": "tool", "content": "b"}], "a"),
        ([{"role": "assistant", "content": "a"}, {"role": "assistant", "content": None}], "a"),
        ([{"role": "assistant", "content": [{"type": "text", "text": "a"}, "b"]}], "ab"),
        ({"role": "assistant", "content": "a"}, "a"),
        ([], ""),
    ],
)
def test_text_of_completions(completion: Any, text: str) -> None:
    assert text_of(completion) == text


def test_text_of_something_else() -> None:
    with pytest.raises(TypeError, match="must be text or a list of messages"):
        text_of(7)
