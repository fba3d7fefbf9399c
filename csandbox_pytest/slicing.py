"""From a test module to a program that holds one test function and what it needs.

Lines keep their numbers: what is left out becomes empty, so that findings and tracebacks name the
places of the test's own file. ``assert a == b`` becomes an assertion that says both sides.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from csandbox._python_tree import python_tree

_Definition = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LEFT, _RIGHT = "csandbox_left", "csandbox_right"
_WORDS = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip


def _binds(statement: ast.stmt) -> set[str]:
    """The names that a top-level statement gives a value to."""
    if isinstance(statement, _Definition):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {alias.asname or alias.name.partition(".")[0] for alias in statement.names}
    return {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _uses(nodes: Iterable[ast.AST]) -> set[str]:
    return {
        node.id
        for top in nodes
        for node in ast.walk(top)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }


def _needs(statement: ast.stmt, entry: list[str]) -> set[str]:
    """The names that it uses; decorators of the test itself are pytest's business."""
    if isinstance(statement, _Definition) and statement.name == entry[0]:
        return _uses(part for part in ast.iter_child_nodes(statement)
                     if part not in statement.decorator_list)  # fmt: skip
    return _uses([statement])


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _kept(tree: ast.Module, entry: list[str]) -> list[ast.stmt]:
    """The statements that bind what the test uses, and what those use, and so on."""
    wanted, kept = {entry[0]}, set()
    grew = True
    while grew:
        grew = False
        for index, statement in enumerate(tree.body):
            if index not in kept and (_is_future(statement) or _binds(statement) & wanted):
                kept.add(index)
                wanted |= _needs(statement, entry)
                grew = True
    return [tree.body[index] for index in sorted(kept)]


def _marks(tree: ast.AST) -> Iterable[ast.expr]:
    """Decorators that belong to pytest."""
    for node in ast.walk(tree):
        if isinstance(node, _Definition):
            for decorator in node.decorator_list:
                first: ast.AST = decorator
                while isinstance(first, (ast.Attribute, ast.Call)):
                    first = first.func if isinstance(first, ast.Call) else first.value
                if isinstance(first, ast.Name) and first.id == "pytest":
                    yield decorator


def _telling(tree: ast.AST) -> Iterable[tuple[int, int, bytes]]:
    """What to insert, as (line, column in bytes, text), so that comparisons say their sides."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assert) or node.msg is not None:
            continue
        test = node.test
        if not isinstance(test, ast.Compare) or len(test.ops) != 1:
            continue
        left, right = test.left, test.comparators[0]
        if any(isinstance(part, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr))
               for part in ast.walk(test)):  # fmt: skip
            continue
        word = _WORDS[type(test.ops[0])]
        words = f", repr({_LEFT}) + ' {word} ' + repr({_RIGHT})"
        # At the statement's end, beyond brackets around the comparison. Before the right side's
        # own bracket, which may stand at the same place and then comes in front of it.
        assert node.end_lineno is not None and node.end_col_offset is not None
        yield node.end_lineno, node.end_col_offset, words.encode()
        for side, name in ((left, _LEFT), (right, _RIGHT)):
            assert side.end_lineno is not None and side.end_col_offset is not None
            yield side.lineno, side.col_offset, b"(%s := (" % name.encode()
            yield side.end_lineno, side.end_col_offset, b"))"


def sliced(source: str, entry: list[str], *, telling: bool = True) -> str:
    """The program for ``entry`` (["test_x"], or ["TestX", "test_x"]). Raises ValueError."""
    tree = python_tree(source)
    kept = _kept(tree, entry)
    if not any(isinstance(node, _Definition) and node.name == entry[0] for node in kept):
        raise ValueError(f"{entry[0]} is not defined at the top of the module")
    lines = source.encode().split(b"\n")
    cuts = {id(mark) for node in kept for mark in _marks(node)}
    empty = set(range(1, len(lines) + 1))
    for node in kept:
        first = node.lineno
        if isinstance(node, _Definition) and node.decorator_list:
            first = min(first, *(mark.lineno for mark in node.decorator_list))
        empty -= set(range(first, (node.end_lineno or first) + 1))
        for inner in ast.walk(node):
            for mark in getattr(inner, "decorator_list", []):
                if id(mark) in cuts:
                    empty |= set(range(mark.lineno, (mark.end_lineno or mark.lineno) + 1))
    inserts = [item for node in kept for item in _telling(node)] if telling else []
    # From the end, so that places stay right; what is inserted later at one place stands in front.
    for line, column, text in sorted(inserts, key=lambda item: item[:2], reverse=True):
        row = lines[line - 1]
        lines[line - 1] = row[:column] + text + row[column:]
    return b"\n".join(b"" if n in empty else row for n, row in enumerate(lines, 1)).decode()
