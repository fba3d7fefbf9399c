"""Input/output tests as data sets write them: APPS, TACO, CodeContests, LiveCodeBench, CommonOJ."""

from __future__ import annotations

import base64
import json
import pickle
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from csandbox._grade_tests import AnyTest, CallTest, StdioTest
from csandbox._load_asserts import Loaded, Unconverted
from csandbox._python_tree import literal

_MOST_UNPACKED = 1 << 30  # ten times the largest task; a few kilobytes can unpack to a thousandfold
#: CodeContests' groups of tests, and whether a submitter may see them.
_GROUPS = (("public_tests", False), ("private_tests", True), ("generated_tests", True))


def load_io(
    row: Mapping[str, Any] | Sequence[Any] | str | bytes,
    *,
    entry: str | None = None,
    compare: str = "lines",
    hidden: bool = True,
) -> Loaded:
    """Tests from inputs and outputs, as any of these shapes (a string is JSON of one):

    - ``{"inputs": [...], "outputs": [...], "fn_name": "f"}``: APPS, TACO; also below
      ``input_output``, as text or as data
    - ``public_tests``, ``private_tests``, ``generated_tests``, each ``{"input": [...], "output":
      [...]}``: CodeContests
    - a list of ``{"input", "output", "testtype"}``, also as ``public_test_cases`` and
      ``private_test_cases``: LiveCodeBench. Private ones that are pickled are refused: a pickle can
      run code
    - a list of ``{"input": {"stdin"}, "output": {"stdout"}}``, also as ``test``: CommonOJ

    With ``fn_name`` (or `entry`) each test is a call, whose value is compared as "sequence",
    because JSON has no tuples; else a program run, compared as `compare` says. Tests that the data
    set calls public are not hidden; for the others `hidden` decides. What has no expected output is
    reported in ``Loaded.unconverted``.
    """
    data = _data(row)
    tests: list[AnyTest] = []
    left: list[Unconverted] = []
    for number, (given, wanted, name, secret) in enumerate(_cases(data, entry, hidden), 1):
        try:
            tests.append(_test(f"{number:03}", given, wanted, name, compare, secret))
        except (ValueError, TypeError) as error:
            left.append(Unconverted(number, repr(given)[:200], str(error)))
    if not tests and not left:
        raise ValueError("there are no tests in this; it has neither inputs nor test cases")
    return Loaded(tuple(tests), tuple(left))


_Case = tuple[Any, Any, str | None, bool]


def parsed(text: str | bytes, what: str) -> Any:
    """The JSON value of a text; ValueError says of what it is none, also when it is too deep."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{what} are no JSON: {error}") from error


def _data(row: Any) -> Any:
    return parsed(row, "the tests") if isinstance(row, (str, bytes)) else row


def _cases(data: Any, entry: str | None, hidden: bool) -> Iterator[_Case]:
    if isinstance(data, Mapping):
        yield from _mapping(data, entry, hidden)
        return
    if not isinstance(data, Sequence):
        raise ValueError(f"tests must be a mapping or a list, not a {type(data).__name__}")
    for case in data:
        given, wanted = case["input"], case["output"]
        if isinstance(given, Mapping):
            extra = sorted({*given, *wanted} - {"stdin", "stdout"})
            if extra:
                raise ValueError(f"tests with files ({extra[0]!r}) are not supported")
            given, wanted = given.get("stdin", ""), wanted["stdout"]
        called = case.get("testtype") == "functional"
        name = case.get("fn_name") or (entry if called or "testtype" not in case else None)
        if called and name is None:
            raise ValueError("functional tests need entry=…, the name of the function")
        yield given, wanted, name, bool(case.get("hidden", hidden))


def _mapping(data: Mapping[str, Any], entry: str | None, hidden: bool) -> Iterator[_Case]:
    if "input_output" in data:
        yield from _cases(_data(data["input_output"]), entry, hidden)
    elif "inputs" in data:
        name = data.get("fn_name") or entry
        inputs, outputs = data["inputs"], data["outputs"]
        if len(inputs) != len(outputs):
            raise ValueError(f"{len(inputs)} inputs for {len(outputs)} outputs")
        # APPS and TACO wrap each call's one value into a list in some tasks and not in others; a
        # list of another length says that this task does not.
        wrapped = name is not None and all(isinstance(w, list) and len(w) == 1 for w in outputs)
        for given, wanted in zip(inputs, outputs, strict=True):
            unwrap = wrapped and not isinstance(given, str)
            yield given, wanted[0] if unwrap else wanted, name, hidden
    elif "public_test_cases" in data:
        name = entry or _metadata(data).get("func_name")
        yield from _cases(_data(data["public_test_cases"]), name, False)
        private = data.get("private_test_cases")
        if private:
            yield from _cases(_private(private), name, True)
    elif any(group in data for group, _ in _GROUPS):
        for group, secret in _GROUPS:
            cases = data.get(group) or {"input": [], "output": []}
            for given, wanted in zip(cases["input"], cases["output"], strict=True):
                yield given, wanted, None, secret
    elif "test" in data:
        yield from _cases(_data(data["test"]), entry, hidden)
    else:
        raise ValueError(
            "no inputs, input_output, public_tests, public_test_cases or test among "
            + ", ".join(map(str, data))
        )


def _metadata(data: Mapping[str, Any]) -> Mapping[str, Any]:
    found = data.get("metadata") or {}
    return parsed(found, "metadata") if isinstance(found, str) else found


def _private(text: Any) -> Any:
    """LiveCodeBench packs these as base64 of zlib of a pickle of JSON text."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    unpack = zlib.decompressobj()
    try:
        packed = unpack.decompress(base64.b64decode(text), _MOST_UNPACKED)
    except (ValueError, zlib.error) as error:
        raise ValueError(f"private_test_cases cannot be unpacked: {error}") from error
    if not unpack.eof:
        raise ValueError(f"private_test_cases are cut, or larger than {_MOST_UNPACKED} bytes")
    return parsed(_OnlyText(packed).text(), "private_test_cases")


class _OnlyText:
    """A pickle that holds one string and nothing that could run."""

    def __init__(self, packed: bytes) -> None:
        self._packed = packed

    def text(self) -> str:
        import io

        try:
            value = _NoGlobals(io.BytesIO(self._packed)).load()
        except ValueError:
            raise
        except Exception as error:  # a broken pickle may raise any of a dozen kinds
            raise ValueError(f"private_test_cases hold a broken pickle: {error}") from error
        if not isinstance(value, str):
            raise ValueError("private_test_cases hold a pickle of something else than text")
        return value


class _NoGlobals(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """Nothing is looked up, so nothing can be called."""
        raise ValueError(f"private_test_cases hold a pickle that names {module}.{name}; refused")


def _arguments(given: Any) -> list[Any]:
    """A list is the arguments; text has one JSON value (or Python literal) on each line."""
    if isinstance(given, str):
        return [_value(line) for line in given.splitlines() if line.strip()]
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _value(text: Any) -> Any:
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        try:
            return literal(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return text


def _program_text(value: Any) -> str:
    """APPS has some inputs as lists of lines."""
    if isinstance(value, (list, tuple)):
        return "\n".join(map(str, value)) + "\n"
    if not isinstance(value, str):
        raise TypeError(f"a program's input or output must be text, not {type(value).__name__}")
    return value


def _test(
    id_: str, given: Any, wanted: Any, name: str | None, compare: str, secret: bool
) -> AnyTest:
    if name is None:
        text, expected = _program_text(given), _program_text(wanted)
        return StdioTest(text, expected, id=id_, compare=compare, hidden=secret)
    called = _value(wanted) if isinstance(given, str) else wanted
    return CallTest(name, _arguments(given), called, id=id_, compare="sequence", hidden=secret)
