"""Expressions and small functions of test text, evaluated on plain data within a budget of steps.

The text of tests belongs to the caller, but often came from a data set that nobody read, and what
it is applied to are a submission's answers. So neither ``exec`` nor ``eval`` sees it: CPython's own
parser makes the tree, and this walk does what tests do (arithmetic, comparisons, comprehensions,
loops over tables, methods of plain data) and refuses the rest with a sentence.
"""

from __future__ import annotations

import ast
import operator
import random
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from csandbox._bounded_keys import Keys
from csandbox._bounded_names import (
    BUILTINS,
    METHODS,
    MOST_BITS,
    MOST_ITEMS,
    NotEvaluable,
    bounded,
)

STEPS: Final = 500_000  # about half a second, in which the caller's other threads wait
_DEEPEST = 160  # two or three frames of Python each
_MOST_TEXT = 1 << 20
_FREE_BITS = 22  # two numbers of 2,000 bits are multiplied or divided in one step
_SPEC = re.compile(r"[+ ]?\d{0,3}(\.\d{1,2})?[bcdefgnosxX%]?")
_LONG = (str, bytes, list, tuple, dict, set, frozenset, range)
_AT_ONCE = ("add", "append", "discard", "get", "setdefault")  # methods that cost nothing by size
_EXACT = (type(None), bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset)

_BINARY: Final[Mapping[type, Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Pow: operator.pow, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
    ast.BitXor: operator.xor, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
}  # fmt: skip
_UNARY: Final[Mapping[type, Callable[[Any], Any]]] = {
    ast.Not: operator.not_, ast.USub: operator.neg, ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}  # fmt: skip
_COMPARE: Final[Mapping[type, Callable[[Any, Any], bool]]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip


class Module(dict[str, Any]):
    """The names of an imported module; a type of its own, because a dict has items."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Module:
        """Modules are shared, as everywhere."""
        return self


class Budget:
    """Steps that are left, shared by all that one evaluation starts."""

    def __init__(self, steps: int = STEPS) -> None:
        """Begin with this many."""
        self.left = steps
        self.depth = 0
        self.keys = Keys()

    def spend(self, steps: int = 1) -> None:
        """Take some; NotEvaluable when there are none."""
        self.left -= steps
        if self.left < 0:
            raise NotEvaluable("the test's text computes for too long")


def bits(value: Any) -> int:
    """How large a number is; 0 for what is no int."""
    return value.bit_length() if isinstance(value, int) else 0


def _guard_binary(kind: type, left: Any, right: Any) -> None:
    """Refuse, before it is computed, what grows out of proportion."""
    if kind is ast.Pow and isinstance(left, int) and isinstance(right, int):
        if bits(left) * abs(right) > MOST_BITS:
            raise NotEvaluable("a power that is too large")
    elif kind is ast.LShift and isinstance(right, int) and bits(left) + right > MOST_BITS:
        raise NotEvaluable("a shift that is too large")
    elif kind is ast.Mult:
        for items, times in ((left, right), (right, left)):
            if (
                isinstance(items, (str, bytes, list, tuple))
                and isinstance(times, int)
                and len(items) * times > MOST_ITEMS
            ):
                raise NotEvaluable("a sequence repeated too often")
        if bits(left) + bits(right) > MOST_BITS:
            raise NotEvaluable("a product that is too large")
    elif kind is ast.Mod and isinstance(left, (str, bytes)):
        raise NotEvaluable("formatting with %")


class Evaluator:
    """One set of names, and the walk. `names` is used as it is, not copied."""

    def __init__(self, names: dict[str, Any], budget: Budget | None = None) -> None:
        """Begin."""
        self.names = names
        self.budget = budget or Budget()

    def value(self, node: ast.expr) -> Any:
        """The value of an expression; NotEvaluable, or whatever error the operation raises."""
        self.budget.spend()
        method = getattr(self, f"_{type(node).__name__}", None)
        if method is None:
            raise NotEvaluable(f"the expression `{ast.unparse(node)[:80]}`")
        self.budget.depth += 1
        try:
            if self.budget.depth > _DEEPEST:
                raise NotEvaluable("an expression that nests too deep")
            return method(node)
        finally:
            self.budget.depth -= 1

    def _Constant(self, node: ast.Constant) -> Any:
        return node.value

    def _Name(self, node: ast.Name) -> Any:
        if node.id in self.names:
            value = self.names[node.id]
            return value.within(self.budget) if isinstance(value, Function) else value
        if node.id in BUILTINS:
            return BUILTINS[node.id]
        raise NotEvaluable(f"the name {node.id!r}")

    def _items(self, nodes: list[ast.expr]) -> list[Any]:
        found: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                found += bounded(self.value(node.value))
            else:
                found.append(self.value(node))
        return found

    def _List(self, node: ast.List) -> Any:
        return self._items(node.elts)

    def _Tuple(self, node: ast.Tuple) -> Any:
        return tuple(self._items(node.elts))

    def _Set(self, node: ast.Set) -> Any:
        return set(self.budget.keys.add_all(self._items(node.elts)))

    def _Dict(self, node: ast.Dict) -> Any:
        made: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                made.update(self.value(value))
            else:
                named = self.value(key)
                self.budget.keys.add(named)
                made[named] = self.value(value)
        return made

    def _BinOp(self, node: ast.BinOp) -> Any:
        left, right = self.value(node.left), self.value(node.right)
        kind = type(node.op)
        if kind not in _BINARY:
            raise NotEvaluable(f"the operator in `{ast.unparse(node)[:80]}`")
        _guard_binary(kind, left, right)
        self.budget.spend(bits(left) * bits(right) >> _FREE_BITS)
        return _BINARY[kind](left, right)

    def _UnaryOp(self, node: ast.UnaryOp) -> Any:
        return _UNARY[type(node.op)](self.value(node.operand))

    def _BoolOp(self, node: ast.BoolOp) -> Any:
        stop_at = isinstance(node.op, ast.Or)
        value = None
        for part in node.values:
            value = self.value(part)
            if bool(value) is stop_at:
                break
        return value

    def _IfExp(self, node: ast.IfExp) -> Any:
        return self.value(node.body if self.value(node.test) else node.orelse)

    def _Compare(self, node: ast.Compare) -> Any:
        left = self.value(node.left)
        for kind, other in zip(node.ops, node.comparators, strict=True):
            right = self.value(other)
            for side in (left, right):
                if isinstance(side, _LONG):
                    self._charge(side)
            if not _COMPARE[type(kind)](left, right):
                return False
            left = right
        return True

    def _Subscript(self, node: ast.Subscript) -> Any:
        value = self.value(node.value)
        if type(value) not in _EXACT and not isinstance(value, range):
            raise NotEvaluable(f"an index into `{ast.unparse(node.value)[:80]}`")
        return value[self.value(node.slice)]

    def _Slice(self, node: ast.Slice) -> Any:
        ends = (node.lower, node.upper, node.step)
        return slice(*(None if end is None else self.value(end) for end in ends))

    def _Attribute(self, node: ast.Attribute) -> Any:
        owner = self.value(node.value)
        if isinstance(owner, Module) and node.attr in owner:
            return owner[node.attr]
        if node.attr in METHODS.get(type(owner), ()):
            return getattr(owner, node.attr)
        raise NotEvaluable(f"the attribute {node.attr!r} in `{ast.unparse(node)[:80]}`")

    def _JoinedStr(self, node: ast.JoinedStr) -> Any:
        return "".join(str(self.value(part)) for part in node.values)

    def _FormattedValue(self, node: ast.FormattedValue) -> Any:
        value = self.value(node.value)
        spec = "" if node.format_spec is None else self.value(node.format_spec)
        if not _SPEC.fullmatch(spec):
            raise NotEvaluable(f"the format {spec!r}")
        if node.conversion == ord("r"):
            value = repr(value)
        return format(value, spec)

    def _Lambda(self, node: ast.Lambda) -> Any:
        return Function(node.args, node.body, self)

    def _Call(self, node: ast.Call) -> Any:
        function = self.value(node.func)
        arguments = self._items(node.args)
        keywords: dict[str, Any] = {}
        for word in node.keywords:
            if word.arg is None:
                keywords.update(self.value(word.value))
            else:
                keywords[word.arg] = self.value(word.value)
        return self.call(function, arguments, keywords)

    def _charge(self, item: Any) -> None:
        """What goes over all of a container costs by its length."""
        if isinstance(item, _LONG):
            self.budget.spend(len(item) // 16 + 1)
        else:
            self.budget.spend(bits(item) ** 2 >> _FREE_BITS)

    def call(self, function: Any, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        """Call one of the allowed functions or a helper; arguments are charged by their length."""
        name = getattr(function, "__name__", "")
        if not callable(function):
            raise NotEvaluable(f"a call of a {type(function).__name__}")
        if function is type and len(arguments) != 1:
            raise NotEvaluable("type() with more than one argument")
        for item in arguments:
            self._charge(item)
        owner = getattr(function, "__self__", None)
        if name not in _AT_ONCE:
            self._charge(owner)
        if isinstance(owner, random.Random) and name in ("choices", "sample", "getrandbits"):
            numbers = (*arguments, *keywords.values())
            if any(isinstance(n, int) and n > MOST_BITS for n in numbers):
                raise NotEvaluable(f"{name} of more than {MOST_BITS}")
        if isinstance(owner, str) and name in ("replace", "join"):
            size = sum(len(a) for a in arguments if isinstance(a, (str, list, tuple)))
            if (len(owner) + 1) * (size + 1) > 64 * _MOST_TEXT:
                raise NotEvaluable("a text that grows too large")
        if function is not isinstance:
            arguments = [self._callback(item) for item in arguments]
            keywords = {word: self._callback(item) for word, item in keywords.items()}
        return function(*self.budget.keys.before(function, arguments), **keywords)

    def _callback(self, item: Any) -> Any:
        """A function that is handed over (to map, sorted): called as if the text called it."""
        if not callable(item) or isinstance(item, Function):
            return item
        return lambda *arguments, **keywords: self.call(item, list(arguments), keywords)

    def _comprehend(
        self, generators: list[ast.comprehension], result: Callable[[Evaluator], Any]
    ) -> list[Any]:
        found: list[Any] = []
        inner = Evaluator(dict(self.names), self.budget)

        def level(index: int) -> None:
            if index == len(generators):
                found.append(result(inner))
                return
            generator = generators[index]
            for item in bounded(inner.value(generator.iter)):
                inner.assign(generator.target, item)
                if all(inner.value(test) for test in generator.ifs):
                    level(index + 1)

        level(0)
        return found

    def _ListComp(self, node: ast.ListComp) -> Any:
        return self._comprehend(node.generators, lambda inner: inner.value(node.elt))

    _GeneratorExp = _ListComp  # evaluated at once: nothing here has effects that could tell

    def _SetComp(self, node: ast.SetComp) -> Any:
        found = self._comprehend(node.generators, lambda inner: inner.value(node.elt))
        return set(self.budget.keys.add_all(found))

    def _DictComp(self, node: ast.DictComp) -> Any:
        found = self._comprehend(
            node.generators, lambda inner: (inner.value(node.key), inner.value(node.value))
        )
        return dict(self.budget.keys.add_pairs(found))

    def assign(self, target: ast.expr, value: Any) -> None:
        """Bind a name, a tuple of targets, or an item."""
        self.budget.spend()
        if isinstance(target, ast.Name):
            self.names[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            values = list(bounded(value))
            if any(isinstance(t, ast.Starred) for t in target.elts):
                raise NotEvaluable("an assignment with *")
            if len(values) != len(target.elts):
                raise ValueError(f"{len(values)} values for {len(target.elts)} names")
            for part, item in zip(target.elts, values, strict=True):
                self.assign(part, item)
        elif isinstance(target, ast.Subscript):
            owner = self.value(target.value)
            if type(owner) not in (list, dict):
                raise NotEvaluable(f"an assignment to `{ast.unparse(target)[:80]}`")
            place = self.value(target.slice)
            if isinstance(owner, dict):
                self.budget.keys.add(place)
            owner[place] = value
        else:
            raise NotEvaluable(f"an assignment to `{ast.unparse(target)[:80]}`")


class Function:
    """A helper that the text itself defines. Its body may be an expression or statements."""

    def __init__(
        self, parameters: ast.arguments, body: ast.expr | list[ast.stmt], home: Evaluator
    ) -> None:
        """Keep the definition; defaults are evaluated now, as Python does."""
        if parameters.vararg or parameters.kwarg or parameters.kwonlyargs:
            raise NotEvaluable("a helper function with * or ** parameters")
        self.parameters = [p.arg for p in (*parameters.posonlyargs, *parameters.args)]
        defaults = [home.value(node) for node in parameters.defaults]
        self.defaults = dict(zip(self.parameters[::-1], defaults[::-1], strict=False))
        self.body = body
        self.home = home
        self.budget = home.budget

    def within(self, budget: Budget) -> Function:
        """The same function, spending from another budget."""
        made: Function = object.__new__(Function)
        made.__dict__.update(self.__dict__, budget=budget)
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Function:
        """A definition is not data; it is shared."""
        return self

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Call it."""
        if len(arguments) > len(self.parameters):
            raise TypeError("too many arguments for a helper function")
        bound = {**self.defaults, **dict(zip(self.parameters, arguments, strict=False)), **keywords}
        if set(bound) != set(self.parameters):
            raise TypeError("a helper function's arguments do not fit its parameters")
        inner = Evaluator({**self.home.names, **bound}, self.budget)
        if isinstance(self.body, ast.expr):
            return inner.value(self.body)
        from csandbox._bounded_statements import run_function

        budget = self.budget
        budget.depth += 4
        try:
            if budget.depth > _DEEPEST:
                raise NotEvaluable("helper functions that nest too deep")
            return run_function(self.body, inner)
        finally:
            budget.depth -= 4
