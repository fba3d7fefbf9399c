"""Test text (``assert f(2) == 4``) turned into tests that are data.

CPython's own parser reads the text, which is the caller's; the bounded evaluator works out
arguments and expected values, here, once. What would need the submission's objects beside the test
is reported, never dropped and never run by itself: ``Loaded.unconverted`` has it, with the line and
why, and as an InProcessTest for callers who say ``allow_weak``.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from csandbox._bounded_eval import Budget, Evaluator, Function, Module
from csandbox._bounded_names import NotEvaluable, bounded, modules
from csandbox._bounded_statements import simple_statement
from csandbox._grade_tests import AnyTest, Call, InProcessTest
from csandbox._load_pytest import PYTEST, names_the_submission, rows_of, tests_of
from csandbox._load_shapes import Pending, is_plain, shaped
from csandbox._python_tree import python_tree

MOST_TESTS: Final = 10_000
_ERRORS = (
    NotEvaluable, ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError,
    TypeError, ValueError,
)  # fmt: skip


@dataclass(frozen=True)
class Unconverted:
    """A part of the text that is no data test: its line (from 1), the text, and why."""

    line: int
    text: str
    reason: str

    def __str__(self) -> str:
        """One line for people."""
        return f"line {self.line}: {self.reason}: {self.text.splitlines()[0][:80]}"


@dataclass(frozen=True)
class Loaded:
    """What a loader made of a task's tests.

    ``tests`` are sound; ``unconverted`` is what could not become data. ``whole`` says that nothing
    was left over: only then do the tests say all that the text says. ``ignored`` counts statements
    that say nothing about the submission (``assert True``).
    """

    tests: tuple[AnyTest, ...]
    unconverted: tuple[Unconverted, ...] = ()
    ignored: int = 0
    #: The whole text, to be run beside a submission when the caller accepts that.
    weak_code: str = field(default="", repr=False)

    @property
    def whole(self) -> bool:
        """Whether every part of the text became data, and there is a test at all."""
        return bool(self.tests) and not self.unconverted

    def weak(self) -> InProcessTest:
        """All of the text as one test in the submission's process, for ``allow_weak=True``."""
        return InProcessTest(self.weak_code, id="in_process")

    def __iter__(self) -> Iterator[AnyTest]:
        """The tests, so that a Loaded can be given to grade(). Mind `unconverted`."""
        return iter(self.tests)

    def __len__(self) -> int:
        """How many tests."""
        return len(self.tests)


class _Names(Evaluator):
    """The text's names, in which a call of the submission is not made but kept as Pending."""

    def __init__(self, names: dict[str, Any], budget: Budget, entries: dict[str, str]) -> None:
        super().__init__(names, budget)
        self.entries = entries

    def _Call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Name) and node.func.id in self.entries:
            return Pending(self.pending(node))
        return super()._Call(node)

    def pending(self, node: ast.Call) -> Call:
        """The call that the text would make."""
        assert isinstance(node.func, ast.Name)
        keywords = {}
        for word in node.keywords:
            if word.arg is None:
                raise NotEvaluable("a call of the submission with **")
            keywords[word.arg] = self.value(word.value)
        arguments = self._items(node.args)
        if any(_has_pending(value) for value in (*arguments, *keywords.values())):
            raise NotEvaluable("a call of the submission with what another one gave")
        if not all(map(is_plain, (*arguments, *keywords.values()))):
            raise NotEvaluable("an argument that is no plain data")
        return Call(self.entries[node.func.id], tuple(arguments), keywords)


def _has_pending(value: Any) -> bool:
    if isinstance(value, Pending):
        return True
    if isinstance(value, (list, tuple, set, frozenset)):
        return any(map(_has_pending, value))
    if isinstance(value, dict):
        return any(map(_has_pending, value.values()))
    return False


class _Reader:
    """Walks the statements of a text, and collects."""

    def __init__(self, entries: dict[str, str], seed: int, helpers: Sequence[ast.stmt]) -> None:
        self.budget = Budget(5_000_000)
        self.known = {**modules(random.Random(seed)), "pytest": PYTEST}
        names: dict[str, Any] = {"__name__": "tests"}
        self.evaluator = _Names(names, self.budget, entries)
        self.tests: list[AnyTest] = []
        self.left: list[Unconverted] = []
        self.ignored = 0
        self.given: set[str] = set()  # names of data that the submission was given
        self.called = False  # a call was made for its effect
        for node in helpers:
            self.define(node)

    def define(self, node: ast.stmt) -> None:
        """Take in a helper of the task's own, when it is of a kind that can be evaluated."""
        try:
            if isinstance(node, ast.FunctionDef) and node.name not in self.evaluator.entries:
                self._function(node)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                self._import(node)
            elif isinstance(node, ast.Assign):
                simple_statement(node, self.evaluator)
        except _ERRORS:
            return  # whoever needs it says so

    def block(self, body: Iterable[ast.stmt]) -> None:
        """Read statements; each that cannot be read is reported."""
        for node in body:
            try:
                self.statement(node)
            except _ERRORS as error:
                self._report(node, error)
                for name in _bound_by(node):  # what it would have bound is not known from here on
                    self.evaluator.names.pop(name, None)

    def _report(self, node: ast.stmt, error: Exception) -> None:
        reason = str(error) if isinstance(error, NotEvaluable) else repr(error)
        text = ast.unparse(node)[:400]
        part = Unconverted(node.lineno, text, f"cannot be data: {reason}")
        if part not in self.left:  # a row of a table each
            self.left.append(part)

    def module(self, body: Iterable[ast.stmt]) -> None:
        """Read the statements of a module, and its test functions, as pytest would."""
        for node in body:
            try:
                functions = tests_of(node)
                for function in functions or ():
                    self._test(function)
            except _ERRORS as error:
                self._report(node, error)
            else:
                self.block([] if functions is not None else [node])

    def _test(self, node: ast.FunctionDef) -> None:
        try:
            rows = list(rows_of(node, self.evaluator))
        except _ERRORS as error:
            self._report(node, error)
            return
        for row in rows:
            outside = dict(self.evaluator.names)
            self.evaluator.names.update(row)
            self.block(node.body)
            self.evaluator.names.clear()
            self.evaluator.names.update(outside)

    def statement(self, node: ast.stmt) -> None:
        """Read one; NotEvaluable when it is beyond what tests as data can say."""
        if isinstance(node, ast.Assert):
            self._assert(node)
        elif isinstance(node, ast.For):
            self._loop(node)
        elif isinstance(node, ast.If):
            test = self.evaluator.value(node.test)
            if _has_pending(test):
                raise NotEvaluable("a condition on what the submission gives")
            self._inside(node.body if test else node.orelse)
        elif isinstance(node, ast.FunctionDef):
            self._function(node)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            self._import(node)
        elif isinstance(node, ast.Expr):
            self._expression(node)
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            value = getattr(node, "value", None)
            named = value.id if isinstance(value, ast.Name) else ""
            if isinstance(node, ast.Assign) and named in self.evaluator.entries:
                self._alias(node, named)
                return
            self._note(node)
            if not simple_statement(node, self.evaluator):
                raise NotEvaluable(f"the statement `{ast.unparse(node)[:80]}`")
        elif not isinstance(node, ast.Pass):
            raise NotEvaluable(f"the statement `{ast.unparse(node)[:80]}`")

    def _inside(self, body: Sequence[ast.stmt]) -> None:
        for node in body:
            self.statement(node)

    def _alias(self, node: ast.Assign, entry: str) -> None:
        for target in node.targets:
            if not isinstance(target, ast.Name):
                raise NotEvaluable("an alias that is no name")
            self.evaluator.entries[target.id] = self.evaluator.entries[entry]

    def _expression(self, node: ast.Expr) -> None:
        self._note(node)
        value = self.evaluator.value(node.value)
        if _has_pending(value):
            self.called = True
            raise NotEvaluable("a call of the submission for its effect alone")

    def _function(self, node: ast.FunctionDef) -> None:
        if node.decorator_list:
            raise NotEvaluable("a helper function with decorators")
        self.evaluator.names[node.name] = Function(node.args, node.body, self.evaluator)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.ImportFrom):
            entries = self.evaluator.entries
            if names_the_submission(node, entries, self.known):
                entries |= {alias.asname or alias.name: entries[alias.name] for alias in node.names}
                return
            known = self.known.get(node.module or "")
            for alias in node.names:
                if known is None or (alias.name not in known and alias.name != "*"):
                    raise NotEvaluable(f"{alias.name!r} of module {node.module!r}")
                wanted = known if alias.name == "*" else {alias.name: known[alias.name]}
                for name, value in wanted.items():
                    self.evaluator.names[alias.asname or name] = value
            return
        unknown = [alias.name for alias in node.names if alias.name not in self.known]
        for alias in node.names:
            if alias.name in self.known:
                self.evaluator.names[alias.asname or alias.name] = Module(self.known[alias.name])
        if unknown:
            raise NotEvaluable(f"module {unknown[0]!r}")

    def _loop(self, node: ast.For) -> None:
        if node.orelse:
            raise NotEvaluable("a loop with else")
        # All turns or none: half a loop as tests would look as if the rest were not there.
        kept = len(self.tests), self.ignored
        try:
            items = self.evaluator.value(node.iter)
            if _has_pending(items):
                raise NotEvaluable("a loop over what the submission gives")
            for item in bounded(items):
                self.evaluator.assign(node.target, item)
                self._inside(node.body)
        except _ERRORS:
            del self.tests[kept[0] :]
            self.ignored = kept[1]
            raise

    def _note(self, node: ast.AST) -> None:
        """Remember what data the submission is given: it could change it in place."""
        for part in ast.walk(node):
            called = part.func if isinstance(part, ast.Call) else None
            if isinstance(called, ast.Name) and called.id in self.evaluator.entries:
                assert isinstance(part, ast.Call)
                if part.args:
                    self.given |= {a.id for a in part.args if isinstance(a, ast.Name)}

    def _assert(self, node: ast.Assert) -> None:
        shape = shaped(node.test, self.evaluator)
        if shape is None:
            names = {p.id for p in ast.walk(node.test) if isinstance(p, ast.Name)}
            if self.called or names & self.given:
                raise NotEvaluable("about what the submission may have done to its arguments")
            if not self.evaluator.value(node.test):
                raise NotEvaluable("false whatever the submission does")
            self.ignored += 1
            return
        if len(self.tests) >= MOST_TESTS:
            raise NotEvaluable(f"more than {MOST_TESTS} tests")
        self._note(node)
        self.tests.append(replace(shape, id=f"L{node.lineno}"))


def _bound_by(node: ast.stmt) -> set[str]:
    bound = {
        part.id
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
    if isinstance(node, ast.FunctionDef):
        bound.add(node.name)
    return bound


def _numbered(tests: Sequence[AnyTest]) -> tuple[AnyTest, ...]:
    """Ids made unique: several tests of one line are L7, L7.2, L7.3."""
    seen: dict[str, int] = {}
    made = []
    for test in tests:
        name = str(test.id)
        seen[name] = seen.get(name, 0) + 1
        made.append(test if seen[name] == 1 else replace(test, id=f"{name}.{seen[name]}"))
    return tuple(made)


def parsed(text: str, what: str) -> ast.Module:
    """The tree of a text; ValueError says which text is no Python."""
    try:
        return python_tree(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"{what} cannot be read as Python: {error}") from error


def load_asserts(
    text: str,
    entry: str | Iterable[str],
    *,
    helpers: str = "",
    aliases: Iterable[str] = (),
    check: str | None = None,
    seed: int = 0,
) -> Loaded:
    """Tests from a text of assertions about `entry`, one function or several.

    `helpers` is source whose functions, constants and imports the text uses (a task's prompt).
    `aliases` are other names of the (first) entry, such as ``candidate``. With `check`, the body of
    that function is read instead of the module's, its first parameter being an alias.

    Files for pytest are read as pytest would: functions ``test_…``, also in classes ``Test…`` that
    have nothing else, ``pytest.mark.parametrize``, ``pytest.approx``, and ``from solution import
    f`` for the entry. Fixtures, other marks and ``pytest.raises`` are reported.

    `seed` is for tests that draw their inputs by ``random``. Raises ValueError when the text is no
    Python, or when `check` is not in it; the rest is reported in ``Loaded.unconverted``.
    """
    names = (entry,) if isinstance(entry, str) else tuple(entry)
    if not names:
        raise ValueError("name at least one entry: the function that the tests are about")
    tree = parsed(text, "the test text")
    entries = {name.split(".")[-1]: name for name in names}
    entries |= dict.fromkeys(aliases, names[0])
    around = list(parsed(helpers, "the helpers").body) if helpers else []
    body: list[ast.stmt] = tree.body
    call = ""
    if check is not None:
        found = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == check]
        if not found:
            raise ValueError(f"there is no function {check!r} in the test text")
        around += [n for n in tree.body if n is not found[-1]]
        body = found[-1].body
        entries |= {parameter.arg: names[0] for parameter in found[-1].args.args[:1]}
        call = f"\n\n{check}({names[0]})\n"
    reader = _Reader(entries, seed, around)
    if check is None:
        reader.module(body)
    else:
        reader.block(body)
    weak = _without_imports(text, tree, reader) + call
    return Loaded(_numbered(reader.tests), tuple(reader.left), reader.ignored, weak)


def _without_imports(text: str, tree: ast.Module, reader: _Reader) -> str:
    """The text to be run beside the submission, whose names need no import there."""
    lines = text.splitlines(keepends=True)
    for node in tree.body:
        if names_the_submission(node, reader.evaluator.entries, reader.known):
            assert isinstance(node, ast.ImportFrom)
            named = [f"{a.asname} = {a.name}" for a in node.names if a.asname not in (None, a.name)]
            last = node.end_lineno or node.lineno
            lines[node.lineno - 1 : last] = ["; ".join(named) + "\n"] + ["\n"] * (
                last - node.lineno
            )
    return "".join(lines)
