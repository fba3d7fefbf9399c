"""The evaluator of test text: agrees with Python where it answers, and never runs away."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from csandbox import load_asserts
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
        "set([1, 2, 1]) | set('ab') | frozenset({1: 2})",
        "dict([(1, 2), [3, 4]]) == dict({1: 2}, a=3) or dict()",
        "list(map(set, [[1, 1], [2]]))",
        "sorted({(1, 2), (0, 3)}, key=max)",
        "{1, 2}.union([2, 3], (4,)).issubset(range(9))",
        "{'a': [1]}.setdefault('a', [2])",
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


_P = 2**61 - 1  # what hash() divides ints by


def _pairs(count: int) -> list[tuple[int, int]]:
    """Different pairs of small numbers with one hash: CPython mixes in no secret."""
    word, first, second, last = (1 << 64) - 1, 11400714785074694791, 14029467366897019727, 0
    turned = lambda x, n: (x << n | x >> (64 - n)) & word  # noqa: E731
    target, found, a = turned(1234567, 31), [], 0
    while len(found) < count:
        a += 1
        before = turned((2870177450012600261 + a * second) & word, 31) * first & word
        last = (target - before) * pow(second, -1, 1 << 64) & word
        if last < _P:
            found.append((a, last))
    assert len(set(map(hash, found))) == 1
    return found


@pytest.mark.parametrize(
    "text",
    [
        "len(set(value)) == 3",
        "frozenset(value) == {1}",
        "{*value} == {1}",
        "{x for x in value} == {1}",
        "{x: 1 for x in value} == {}",
        "dict([(x, 1) for x in value]) == {}",
        "set().union(value) == {1}",
        "{1}.issubset(value)",
        "list(map(set, [value])) == []",
        "sorted([value], key=frozenset) == []",
        "Counter(value) == {}",
        "put(value) == {}",
        "collect(value) == set()",
        "list(map(set().add, value)) == []",
    ],
)
@pytest.mark.parametrize("kind", ["ints", "tuples", "complex"])
def test_what_is_chosen_to_collide_is_no_answer(text: str, kind: str) -> None:
    helpers = (
        "def put(xs):\n    d = {}\n    for x in xs:\n        d[x] = 1\n    return d\n"
        "def collect(xs):\n    s = set()\n    for x in xs:\n        s.add(x)\n    return s\n"
        "from collections import Counter\n"
    )
    tests = load_asserts(f"{helpers}value = f()\nassert {text}\n", "f")
    assert tests.whole, tests.unconverted
    holds = tests.tests[0].holds  # type: ignore[union-attr]
    answers: dict[str, list[Any]] = {
        "ints": [n * _P for n in range(1, 20_000)],
        "tuples": _pairs(3_000),
        "complex": [complex(-1000003 * n, n) for n in range(1, 20_000)],
    }
    assert isinstance(holds, Expression)
    with pytest.raises(NotEvaluable, match="chosen to collide"):
        holds.holds({"__call_0": answers[kind]})
    # as many, and as long ones, that nobody chose
    rng = random.Random(4)
    honest = [rng.getrandbits(200) for _ in range(5_000)] + [1] * 5_000
    assert isinstance(holds.holds({"__call_0": honest}), bool)


def test_large_numbers_cost_steps() -> None:
    texts = [
        "[x % y for x in value for y in value]",
        "[gcd(x, y) for x in value for y in value]",
        "list(map(isqrt, value * 60))",
    ]
    large = [2**300_000 + n for n in range(60)]
    for text in texts:
        with pytest.raises(NotEvaluable, match="too long"):
            Expression(text, {"gcd": math.gcd, "isqrt": math.isqrt}).holds({"value": large})
    assert Expression("[x % 7 for x in value] == [x * 2 for x in [1]] or len(value)").holds(
        {"value": large}
    )
