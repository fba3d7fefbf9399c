"""Statements of helper functions in test text: assignments, loops, conditions, return."""

from __future__ import annotations

import ast
from typing import Any

from csandbox._bounded_eval import Evaluator
from csandbox._bounded_names import NotEvaluable, bounded


class _Return(Exception):
    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


def run_function(body: list[ast.stmt], evaluator: Evaluator) -> Any:
    """Run a helper's body; what it returns."""
    try:
        for statement in body:
            run_statement(statement, evaluator)
    except _Return as done:
        return done.value
    return None


def run_statement(node: ast.stmt, evaluator: Evaluator) -> None:
    """Run one statement; NotEvaluable when it is of a kind that helpers do not need."""
    evaluator.budget.spend()
    if isinstance(node, ast.Return):
        raise _Return(None if node.value is None else evaluator.value(node.value))
    if isinstance(node, ast.Break):
        raise _Break
    if isinstance(node, ast.Continue):
        raise _Continue
    if isinstance(node, ast.If):
        _block(node.body if evaluator.value(node.test) else node.orelse, evaluator)
    elif isinstance(node, (ast.For, ast.While)):
        _loop(node, evaluator)
    elif not simple_statement(node, evaluator):
        raise NotEvaluable(f"the statement `{ast.unparse(node)[:80]}`")


def _block(body: list[ast.stmt], evaluator: Evaluator) -> None:
    for statement in body:
        run_statement(statement, evaluator)


def _loop(node: ast.For | ast.While, evaluator: Evaluator) -> None:
    try:
        if isinstance(node, ast.For):
            for item in bounded(evaluator.value(node.iter)):
                evaluator.assign(node.target, item)
                _turn(node.body, evaluator)
        else:
            while evaluator.value(node.test):
                _turn(node.body, evaluator)
    except _Break:
        return
    _block(node.orelse, evaluator)


def _turn(body: list[ast.stmt], evaluator: Evaluator) -> None:
    try:
        _block(body, evaluator)
    except _Continue:
        return


def simple_statement(node: ast.stmt, evaluator: Evaluator) -> bool:
    """Run an assignment or an expression; False when it is something else."""
    if isinstance(node, ast.Assign):
        value = evaluator.value(node.value)
        for target in node.targets:
            evaluator.assign(target, value)
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        evaluator.assign(node.target, evaluator.value(node.value))
    elif isinstance(node, ast.AugAssign):
        # For a list `a += b` changes the object itself; the tables of tests do not depend on it.
        value = ast.BinOp(_as_read(node.target), node.op, node.value)
        evaluator.assign(node.target, evaluator.value(ast.copy_location(value, node)))
    elif isinstance(node, ast.Expr):
        evaluator.value(node.value)
    elif not isinstance(node, ast.Pass):
        return False
    return True


def _as_read(target: ast.expr) -> ast.expr:
    """The same place, read instead of written."""
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    if isinstance(target, ast.Subscript):
        return ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
    raise NotEvaluable(f"an assignment to `{ast.unparse(target)[:80]}`")
