"""What CPython sees of a source, in the words of ``_core.view`` and of the second opinion."""

from __future__ import annotations

import ast
import dis
import struct
import types
from collections import Counter
from collections.abc import Iterator

#: Kind of thing -> how often each was seen.
View = dict[str, "Counter[str]"]
KINDS = ("imports", "attributes", "calls", "names", "strings")

NAME, LOCAL, IMPORT, FROM, STRING = range(1, 6)  # enum csb_fact_kind of ext/facts.h


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and (node.level or node.module != "__future__"):
        # The walk leaves out where a relative import begins: CSB102 refuses it anyway.
        path = "" if node.level else node.module or ""
        yield path
        for alias in node.names:
            yield "*" if alias.name == "*" else f"{path}.{alias.name}"


def _read(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Attribute):
        yield "attributes", node.attr
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield "names", node.id
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        yield "calls", node.func.id
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        yield "calls", node.func.attr
    elif isinstance(node, ast.MatchClass):
        yield from (("attributes", name) for name in node.kwd_attrs)
    elif isinstance(node, ast.JoinedStr):
        yield "strings", "".join(part.value for part in node.values if _is_text(part))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _constant(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            yield node.value
        elif isinstance(node.value, bytes):
            yield node.value.decode("latin-1")


def of_tree(tree: ast.AST) -> View:
    """Imports, attributes, calls, names that are read, and text constants of a syntax tree."""
    view: View = {kind: Counter() for kind in KINDS}
    pending = [tree]
    while pending:
        node = pending.pop()
        view["imports"].update(_imported(node))
        for kind, text in _read(node):
            view[kind][text] += 1
        view["strings"].update(_constant(node))
        for child in ast.iter_child_nodes(node):
            if not (isinstance(node, ast.JoinedStr) and _is_text(child)):
                pending.append(child)
    del view["strings"][""]  # the parser shows none for an empty format specifier
    return view


def of_walk(seen: dict[str, list[str]]) -> View:
    """The same of what ``_core.view`` gave; strings it could not decode wholly are left out."""
    view = {kind: Counter(seen[kind]) for kind in KINDS}
    del view["strings"][""]
    return view


def _constants(code: types.CodeType) -> Iterator[object]:
    pending: list[object] = [code.co_consts]
    while pending:
        for item in pending.pop():  # type: ignore[attr-defined]
            if isinstance(item, tuple):
                pending.append(item)
            else:
                yield item


def _imports(code: types.CodeType) -> Iterator[tuple[int, str]]:
    kinds = {dis.opmap["IMPORT_NAME"]: IMPORT, dis.opmap["IMPORT_FROM"]: FROM}
    extended = 0
    raw = code.co_code
    for at in range(0, len(raw), 2):
        argument = extended << 8 | raw[at + 1]
        extended = argument if raw[at] == dis.EXTENDED_ARG else 0
        if raw[at] in kinds:
            yield kinds[raw[at]], code.co_names[argument]


def facts_of(code: types.CodeType) -> Iterator[tuple[int, str]]:
    """What ext/child_facts.c tells of a code object, in its order."""
    pending = [code]
    for one in pending:  # grows
        yield from ((NAME, name) for name in one.co_names)
        yield from ((LOCAL, name) for name in one.co_varnames)
        yield from ((LOCAL, name) for name in one.co_cellvars)
        yield from _imports(one)
        for item in _constants(one):
            if isinstance(item, types.CodeType):
                pending.append(item)
            elif isinstance(item, str) and (item.isidentifier() or "__" in item or _lone(item)):
                yield STRING, item


def _lone(text: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in text)


def packed(facts: Iterator[tuple[int, str]]) -> bytes:
    """Facts as ext/facts.h lays them out."""
    parts = []
    for kind, text in facts:
        raw = text.encode("utf-8", "surrogatepass")
        parts += [struct.pack("=II", kind, len(raw)), raw]
    return b"".join(parts)
