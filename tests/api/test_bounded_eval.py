"""The evaluator of test text: agrees with Python where it answers, and never runs away."""

from __future__ import annotations

import random
from typing import Any

import pytest

from csandbox._bounded_eval import Module
from csandbox._bounded_expression import Expression
from csandbox._bounded_names import NotEvaluable, modules


@pytest.mark.parametrize(
    "text",
    [
        "1 + 2 * 3 - 4 // 5 % 6 ** 2",
        "7 & 3 | 8 ^ 1 << 2 >> 1",
        "not 1 or 2 and 3",
        "-+~5",
        "1 < 2 <= 2 != 3 > 0",
        "1 in [1] and 2 not in (1,)",
        "None is None",
        "[*range(3), 5][1:]",
        "{**{1: 2}, 3: [4]}",
        "{1, 2} | {3}",
        "(1, *[2])",
        "[x * y for x in range(3) for y in (1, 2) if x]",
        "{x: x * x for x in range(3)}",
        "{c for c in 'aab'}",
        "sum(x for x in [1, 2])",
        "sorted([(2, 'b'), (1, 'c')], key=lambda p: p[1], reverse=True)",
        "1 if [] else 2",
        "f'{1 + 1}-{2.5:.2f}-{\"a\"!r}'",
        "'a,b'.split(',') + ['x'.join('ab')]",
        "abs(-3) + len('ab')",
        "list(zip('ab', range(2)))",
        "list(map(str, [1]))",
        "max([1, 3], [1, 2])",
        "round(2.567, 1)",
        "[1, 2, 3].index(3)",
        "{'a': 1}.get('b', 5)",
        "'abc'[::-1]",
        "any([0, 1]) and all([1])",
        "isinstance(True, int)",
        "type([]) == list",
        "(lambda a, b=2: a + b)(1)",
        "0.1 + 0.2 == 0.3",
        "float('inf') > 10 ** 300",
        "'%' in '100%'",
        "complex(1, 2) * 2",
        "divmod(7, 2)",
    ],
)
def test_agrees_with_python(text: str) -> None:
    wanted = eval(text)
    assert Expression("value == (" + text + ")").holds({"value": wanted})
    assert not Expression("value == (" + text + ")").holds({"value": object()})


@pytest.mark.parametrize(
    "text",
    [
        "10 ** 10 ** 10",
        "1 << 10 ** 9",
        "'a' * 10 ** 9",
        "[0] * 10 ** 9",
        "list(range(10 ** 9))",
        "'%1000000000d' % 1",
        "f'{1:1000000000}'",
        "''.__class__",
        "().__class__.__bases__",
        "open('x')",
        "__import__('os')",
        "eval('1')",
        "exec('1')",
        "getattr(1, 'real')",
        "globals()",
        "print.__self__",
        "(yield)",
        "(x := 1)",
        "'{0.__class__}'.format(1)",
        "str.format('a')",
        "type('X', (), {})",
        "[x for x in range(10 ** 6) for y in range(10 ** 6)]",
        "('ab' * 999999).replace('a', 'b' * 999999)",
        "(lambda f: f(f))(lambda f: f(f))",
        "[list(range(10 ** 6)) for x in range(10 ** 6)]",
    ],
)
def test_refuses(text: str) -> None:
    with pytest.raises(NotEvaluable):
        Expression(text).holds({})


def test_deep_text_and_hostile_answers() -> None:
    with pytest.raises((NotEvaluable, ValueError, RecursionError)):
        Expression("-" * 5000 + "1").holds({})
    with pytest.raises(NotEvaluable):
        Expression("10 ** value").holds({"value": 10**9})
    with pytest.raises(NotEvaluable):
        Expression("value * value").holds({"value": 1 << 300_000})
    with pytest.raises(TypeError):
        Expression("abs(value - 1) < 2").holds({"value": "text"})
    assert Expression("value != value").holds({"value": float("nan")})


@pytest.mark.parametrize(
    "text",
    [
        "[x for x in value if x not in value]",
        "sum([[x] for x in value], [])",
        "math.prod(value) > 0",
        "math.lcm(*value) > 0",
        "list(itertools.permutations(value)) == 1",
        "random.choices(value, k=10**9) == value",
        "[value.count(x) for x in value]",
        "[value.index(x) for x in value]",
        "[sorted(value) for x in value]",
    ],
)
def test_large_answers_are_not_worked_on_for_long(text: str) -> None:
    known = modules(random.Random(1))
    names = {name: Module(known[name]) for name in ("math", "itertools", "random")}
    with pytest.raises(NotEvaluable):
        Expression(text, names).holds({"value": list(range(1, 200_001))})


def test_evaluations_do_not_touch_each_other() -> None:
    kept: list[int] = [3]
    condition = Expression("kept.append(1) is None and len(kept) == 2", {"kept": kept})
    assert condition.holds({}) and condition.holds({}) and kept == [3]


def test_random_arithmetic_agrees_with_python() -> None:
    chance = random.Random(7)

    def made(depth: int) -> str:
        if depth == 0:
            return str(chance.randint(-9, 9))
        word = chance.choice(["+", "-", "*", "//", "%", "<", "==", "and", "or"])
        return f"({made(depth - 1)} {word} {made(depth - 1)})"

    for _ in range(200):
        text = made(4)
        wanted: Any
        try:
            wanted = eval(text)
        except ZeroDivisionError:
            with pytest.raises(ZeroDivisionError):
                Expression(text).holds({})
        else:
            assert Expression(f"({text}) == value").holds({"value": wanted}), text


def test_text_that_is_no_expression() -> None:
    with pytest.raises(ValueError, match="not an expression"):
        Expression("x = 1")
