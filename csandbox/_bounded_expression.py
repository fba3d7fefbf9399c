"""A condition on answers, kept as text and evaluated by the bounded evaluator."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from csandbox._bounded_eval import Evaluator
from csandbox._python_tree import expression_tree


def names_in(node: ast.AST) -> set[str]:
    """Every name that is read or written below a node."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


class Expression:
    """A condition on answers: text, and the values of the names in it. Immutable in use.

    ``holds(**answers)`` evaluates it on copies, so that no answer and no earlier evaluation changes
    what it says.
    """

    def __init__(self, text: str, names: Mapping[str, Any] | None = None) -> None:
        """Parse; ValueError when the text is no expression."""
        try:
            self._node = expression_tree(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise ValueError(f"{text[:80]!r} is not an expression: {error}") from error
        self.text = text.strip()
        self._names = dict(names or {})

    def __repr__(self) -> str:
        """The text."""
        return f"Expression({self.text!r})"

    def __eq__(self, other: object) -> bool:
        """By text; the names belong to it."""
        return isinstance(other, Expression) and self.text == other.text

    def __hash__(self) -> int:
        """By text."""
        return hash(self.text)

    def holds(self, answers: Mapping[str, Any]) -> bool:
        """Whether it is true of these answers; NotEvaluable, or the error of an operation."""
        names = {**deepcopy(self._names), **answers}
        return bool(Evaluator(names).value(self._node))
