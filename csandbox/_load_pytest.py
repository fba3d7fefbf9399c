"""What files of tests for pytest have besides assertions: approx, parametrize, classes, imports."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from csandbox._bounded_eval import Evaluator
from csandbox._bounded_names import NotEvaluable, bounded
from csandbox._compare import compare_values

#: pytest.approx's own.
_REL, _ABS = 1e-6, 1e-12


@dataclass(frozen=True, eq=False)
class Approx:
    """``pytest.approx(value)``: equal to numbers, and to sequences and dicts of such, nearby."""

    value: Any
    compare: str

    def __eq__(self, other: object) -> bool:
        """As pytest, but for bool, which is no number here."""
        return compare_values(self.compare, other, self.value) is None

    __hash__ = None  # type: ignore[assignment]


def approx(
    expected: Any, rel: float | None = None, abs: float | None = None, nan_ok: bool = False
) -> Approx:
    """``pytest.approx``. NotEvaluable for what this comparison cannot say."""
    if not nan_ok and _has_nan(expected):
        raise NotEvaluable("approx of nan, which equals nothing")
    if rel is None:
        rel = _REL if abs is None else 0.0  # pytest: abs alone is all that counts
    return Approx(expected, f"float(rel={float(rel)!r}, abs={float(_or(abs, _ABS))!r})")


def _or(value: float | None, default: float) -> float:
    return default if value is None else value


def _has_nan(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_has_nan, value))
    if isinstance(value, dict):
        return any(map(_has_nan, value.values()))
    return isinstance(value, (float, complex)) and value != value


@dataclass(frozen=True)
class _Row:
    values: tuple[Any, ...]


def param(*values: Any, id: str | None = None) -> _Row:
    """``pytest.param``, without marks: what they skip or expect to fail is not known here."""
    return _Row(values)


#: What ``import pytest`` gives.
PYTEST: Final[Mapping[str, Any]] = {"approx": approx, "param": param}


def names_the_submission(node: ast.stmt, entries: Mapping[str, str], known: Any) -> bool:
    """Whether it imports nothing but entries, from a module that nobody knows."""
    if not isinstance(node, ast.ImportFrom) or (node.module or "") in known:
        return False
    return node.module != "__future__" and all(a.name in entries for a in node.names)


def rows_of(node: ast.FunctionDef, evaluator: Evaluator) -> Iterator[dict[str, Any]]:
    """The arguments of a test function, for each time that pytest would call it.

    NotEvaluable for fixtures, and for marks other than parametrize.
    """
    tables = [_table(mark, evaluator) for mark in node.decorator_list]
    wanted = {a.arg for a in node.args.args} - {"self"}
    found = [name for names, _ in tables for name in names]
    if sorted(found) != sorted(wanted) or node.args.vararg or node.args.kwonlyargs:
        missing = sorted(wanted - set(found))
        raise NotEvaluable(f"the fixture {missing[0]!r}" if missing else "parameters of marks")
    for turn in itertools.product(*(rows for _, rows in tables)):
        yield dict(zip(found, itertools.chain(*turn), strict=True))


_Table = tuple[list[str], list[tuple[Any, ...]]]


def _table(mark: ast.expr, evaluator: Evaluator) -> _Table:
    if (
        not isinstance(mark, ast.Call)
        or ast.unparse(mark.func) not in ("pytest.mark.parametrize", "mark.parametrize")
        or len(mark.args) != 2
        or any(word.arg != "ids" for word in mark.keywords)
    ):
        raise NotEvaluable(f"the mark `{ast.unparse(mark)[:80]}`")
    named = evaluator.value(mark.args[0])
    names = named.replace(",", " ").split() if isinstance(named, str) else list(bounded(named))
    alone = isinstance(named, str) and "," not in named
    rows = []
    for row in bounded(evaluator.value(mark.args[1])):
        values = row.values if isinstance(row, _Row) else (row,) if alone else tuple(bounded(row))
        if len(values) != len(names):
            raise NotEvaluable(f"a row of {len(values)} values for {len(names)} parameters")
        rows.append(values)
    return names, rows


def tests_of(node: ast.stmt) -> list[ast.FunctionDef] | None:
    """The test functions that a statement of a module is, or holds; None: it is none.

    NotEvaluable for a class with more than tests in it.
    """
    if isinstance(node, ast.FunctionDef):
        return [node] if node.name.startswith("test") else None
    if not isinstance(node, ast.ClassDef) or not node.name.startswith("Test"):
        return None
    inside = [part for part in node.body if not _says_nothing(part)]
    tests = [part for part in inside if isinstance(part, ast.FunctionDef)]
    sound = all(t.name.startswith("test") and t.args.args[:1] for t in tests)
    if node.bases or node.decorator_list or len(tests) != len(inside) or not sound:
        raise NotEvaluable(f"the class {node.name}, which has more in it than tests")
    return tests


def _says_nothing(node: ast.stmt) -> bool:
    return isinstance(node, ast.Pass) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )
