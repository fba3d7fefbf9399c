"""One assertion about the submission's calls, as a test that is data."""

from __future__ import annotations

import ast
from copy import deepcopy
from typing import Any

from csandbox._bounded_eval import Evaluator, Module
from csandbox._bounded_expression import Expression, names_in
from csandbox._bounded_names import BUILTINS, METHODS, NotEvaluable
from csandbox._grade_tests import Call, CallTest, PropertyTest
from csandbox._load_pytest import Approx

_ALL_METHODS = frozenset().union(*METHODS.values())


class Pending:
    """What a call of the submission would give. Nothing can be done with it but to be judged."""

    def __init__(self, call: Call) -> None:
        """Keep the call."""
        self.call = call

    def __eq__(self, other: object) -> bool:
        """Never compared: an assertion on it is a test of its own."""
        raise NotEvaluable("a comparison of what the submission gives, outside an assertion")

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        """Never asked."""
        raise NotEvaluable("a condition on what the submission gives")

    def __deepcopy__(self, memo: dict[int, Any]) -> Pending:
        """Shared."""
        return self


class _Replace(ast.NodeTransformer):
    """Calls of the submission, and names that stand for one, become ``__call_0``, ``__call_1``."""

    def __init__(self, evaluator: Any) -> None:
        self.evaluator = evaluator
        self.calls: list[Call] = []
        self.bound: list[set[str]] = [set()]

    def _place(self, call: Call, node: ast.expr) -> ast.expr:
        self.calls.append(call)
        return ast.copy_location(ast.Name(f"__call_{len(self.calls) - 1}", ast.Load()), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id in self.evaluator.entries:
            inner = set().union(*(names_in(arg) for arg in node.args), set())
            if inner & set().union(*self.bound):
                raise NotEvaluable("a call of the submission inside a comprehension")
            return self._place(self.evaluator.pending(node), node)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        value = self.evaluator.names.get(node.id)
        if isinstance(value, Pending) and node.id not in set().union(*self.bound):
            return self._place(value.call, node)
        return node

    def _comprehension(self, node: Any) -> ast.AST:
        self.bound.append(set().union(*(names_in(g.target) for g in node.generators)))
        try:
            return self.generic_visit(node)
        finally:
            self.bound.pop()

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = _comprehension


def _expected(node: ast.expr) -> tuple[ast.expr, bool] | None:
    """The other side of ``call == x`` (False) or ``call is x`` (True); None for other shapes."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return None
    left, right = node.left, node.comparators[0]
    exact = isinstance(node.ops[0], ast.Is)
    if not exact and not isinstance(node.ops[0], ast.Eq):
        return None
    for one, other in ((left, right), (right, left)):
        if isinstance(one, ast.Name) and one.id == "__call_0":
            return other, exact
    return None


def is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple, set, frozenset)):
        return all(map(is_plain, value))
    if isinstance(value, dict):
        return all(map(is_plain, value)) and all(map(is_plain, value.values()))
    return value is None or type(value) in (bool, int, float, complex, str, bytes)


def shaped(node: ast.expr, evaluator: Any) -> CallTest | PropertyTest | None:
    """The test that an assertion is; None when it does not ask the submission.

    ``f(x) == y`` becomes a CallTest: numbers compare as Python's ``==`` does, True is still not 1.
    ``is True``, ``is None`` compare exactly. All else is a PropertyTest over the values.
    """
    replace = _Replace(evaluator)
    rest = replace.visit(deepcopy(node))
    if not replace.calls:
        return None
    sides = _expected(rest) if len(replace.calls) == 1 else None
    if sides is not None:
        other, exact = sides
        expected = evaluator.value(other)
        call = replace.calls[0]
        if isinstance(expected, Approx) and not exact and is_plain(expected.value):
            return CallTest(
                call.entry, call.args, expected.value, dict(call.kwargs), compare=expected.compare
            )
        if not exact or expected is None or isinstance(expected, bool):
            if not is_plain(expected):
                raise NotEvaluable("an expected value that is no plain data")
            compare = "exact" if exact else "numeric"
            return CallTest(call.entry, call.args, expected, dict(call.kwargs), compare=compare)
    return PropertyTest(tuple(replace.calls), _condition(rest, evaluator))


def _condition(node: ast.expr, evaluator: Any) -> Expression:
    names: dict[str, Any] = {}
    for name in names_in(node):
        if name.startswith("__call_"):
            continue
        if name in evaluator.names:
            names[name] = deepcopy(evaluator.names[name])
        elif name not in BUILTINS and not _is_bound(node, name):
            raise NotEvaluable(f"the name {name!r}")
    _only_known(node, names)
    return Expression(ast.unparse(ast.fix_missing_locations(node)), names)


def _is_bound(node: ast.AST, name: str) -> bool:
    return any(
        (isinstance(p, ast.Name) and p.id == name and isinstance(p.ctx, ast.Store))
        or (isinstance(p, ast.arg) and p.arg == name)
        for p in ast.walk(node)
    )


def _only_known(node: ast.AST, names: dict[str, Any]) -> None:
    """Refuse now what evaluation would refuse at every answer, right ones too."""
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute):
            owner = names.get(part.value.id) if isinstance(part.value, ast.Name) else None
            reach = owner if isinstance(owner, Module) else _ALL_METHODS
            if part.attr not in reach:
                raise NotEvaluable(f"the attribute {part.attr!r} of what the submission gives")
        known = hasattr(Evaluator, f"_{type(part).__name__}") or isinstance(part, ast.Starred)
        if isinstance(part, ast.expr) and not known:
            raise NotEvaluable(f"the expression `{ast.unparse(part)[:80]}`")
