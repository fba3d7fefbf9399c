"""The kinds of test that `grade` takes. A test is data of the caller's; none of it but the input
of one test at a time ever reaches the submission.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from csandbox._bounded_expression import Expression
from csandbox._compare import TEXT, VALUE, known_comparison
from csandbox._limits import Limits

#: ``f``, ``Class.method``, ``Solution().twoSum``: names, dots and calls without arguments.
_ENTRY = re.compile(r"[A-Za-z_]\w*(\(\))?(\.[A-Za-z_]\w*(\(\))?)*", re.ASCII)


@dataclass(frozen=True)
class Call:
    """One call of the submission's: what is named, and plain data for its arguments.

    `adapters` are those of `csandbox.call` (linked lists and trees).
    """

    entry: str
    args: Sequence[Any] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict, hash=False)
    adapters: Mapping[int | str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Check the name and keep copies, so that nobody changes a test after the fact."""
        if not isinstance(self.entry, str) or not _ENTRY.fullmatch(self.entry):
            raise ValueError(
                f"entry must be the name of a function, Class.method or Solution().method, "
                f"not {self.entry!r}"
            )
        if isinstance(self.args, (str, bytes)) or not isinstance(self.args, Sequence):
            raise TypeError(
                f"args must be a sequence of arguments, for example [{self.args!r}], "
                f"not a {type(self.args).__name__}"
            )
        object.__setattr__(self, "args", tuple(deepcopy(list(self.args))))
        object.__setattr__(self, "kwargs", deepcopy(dict(self.kwargs)))

    def __str__(self) -> str:
        """As it would be written in source."""
        words = [repr(value) for value in self.args]
        words += [f"{name}={value!r}" for name, value in self.kwargs.items()]
        return f"{self.entry}({', '.join(words)})"


@dataclass(frozen=True, kw_only=True)
class Test:
    """What every kind of test has.

    ``id`` is unique in one grading; left out, it is the test's place ("1", "2", …). ``weight`` is
    its share of the score, 0 or more. A ``hidden`` test never shows its input, output or expected
    value, whatever the feedback level. ``limits`` are merged over those of `grade`, ``compare``
    replaces its comparison.
    """

    __test__ = False  # this is no test of pytest's

    id: str | None = None
    weight: float = 1.0
    hidden: bool = False
    limits: Limits | None = None
    compare: str | None = None

    def __post_init__(self) -> None:
        """Check what all kinds share."""
        if self.id is not None and (not isinstance(self.id, str) or not self.id):
            raise ValueError(f"a test's id must be a string that is not empty, not {self.id!r}")
        if isinstance(self.weight, bool) or not isinstance(self.weight, (int, float)):
            raise TypeError(f"weight must be a number, not {self.weight!r}")
        if not 0 <= self.weight < float("inf"):
            raise ValueError(f"weight must be 0 or more and finite, not {self.weight!r}")
        if not isinstance(self.hidden, bool):
            raise TypeError(f"hidden must be True or False, not {self.hidden!r}")
        if self.compare is not None:
            name, known = known_comparison(self.compare).name, self._comparisons()
            if name not in known:
                raise ValueError(
                    f"comparison {name!r} is not for a {type(self).__name__}; "
                    f"known: {', '.join(sorted(known))}"
                )

    def _comparisons(self) -> Collection[str]:
        return VALUE

    @property
    def trust(self) -> str:
        """Say "sound", or "weak" when the submission shares a process with its judge."""
        return "sound"


def _text(value: object, what: str) -> None:
    if not isinstance(value, (str, bytes)):
        raise TypeError(f"{what} must be str or bytes, not {type(value).__name__}")


@dataclass(frozen=True)
class StdioTest(Test):
    """A program run with `stdin`; what it prints is compared with `expected`.

    An `expected` of nothing but space is an error, because a program that does nothing would pass;
    ``allow_empty=True`` says that it is meant.
    """

    stdin: str | bytes
    expected: str | bytes
    args: tuple[str, ...] = ()
    files: Mapping[str, str | bytes] = field(default_factory=dict, hash=False)
    allow_empty: bool = False

    def _comparisons(self) -> Collection[str]:
        return TEXT

    def __post_init__(self) -> None:
        """Check."""
        super().__post_init__()
        _text(self.stdin, "stdin")
        _text(self.expected, "expected")
        if not self.expected.strip() and not self.allow_empty:
            raise ValueError(
                "expected holds nothing but space, so a program that does nothing would pass; "
                "say allow_empty=True when that is meant"
            )


@dataclass(frozen=True)
class CallTest(Test):
    """A call of `entry` whose value is compared with `expected`. Plain data only."""

    entry: str
    args: Sequence[Any] = ()
    expected: Any = None
    kwargs: Mapping[str, Any] = field(default_factory=dict, hash=False)
    adapters: Mapping[int | str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Check, and keep copies."""
        super().__post_init__()
        call = Call(self.entry, self.args, self.kwargs)
        object.__setattr__(self, "args", call.args)
        object.__setattr__(self, "kwargs", call.kwargs)
        object.__setattr__(self, "expected", deepcopy(self.expected))

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """The one call."""
        return (Call(self.entry, tuple(self.args), self.kwargs, self.adapters),)


@dataclass(frozen=True)
class PropertyTest(Test):
    """Calls whose values must make an expression true: ``value == sorted(args[0])``.

    In `holds`, ``value`` and ``args`` are the first call's value and arguments, ``values`` those of
    all calls. It is evaluated in the caller by a bounded evaluator of plain data (no attributes of
    objects, no imports, a budget of steps), never by ``eval``. With isolation="test" each call has
    a child of its own.
    """

    calls: tuple[Call, ...]
    holds: str | Expression

    def __post_init__(self) -> None:
        """Check, and read the expression once."""
        super().__post_init__()
        calls = (self.calls,) if isinstance(self.calls, Call) else tuple(self.calls)
        if not calls:
            raise ValueError("a PropertyTest needs at least one Call")
        object.__setattr__(self, "calls", calls)
        if isinstance(self.holds, str):
            object.__setattr__(self, "holds", Expression(self.holds))


@dataclass(frozen=True)
class RoundTripTest(Test):
    """``inverse(forward(value)) == value``; the value in between is the submission's affair.

    The two calls never share a child, so that what `forward` saw is not there when `inverse` runs.
    """

    forward: str
    inverse: str
    value: Any

    def __post_init__(self) -> None:
        """Check, and keep a copy."""
        super().__post_init__()
        Call(self.forward)
        Call(self.inverse)
        object.__setattr__(self, "value", deepcopy(self.value))


@dataclass(frozen=True)
class Answer:
    """What a checker sees of one run: plain data, and the test's own."""

    stdin: str | bytes | None
    stdout: str
    value: Any
    expected: Any


@dataclass(frozen=True)
class CheckerTest(Test):
    """A program or a call whose answer a checker judges, for tasks with many right answers.

    `checker` is a function of the caller's, run here: it takes an `Answer` and returns True, False,
    or a string, which means False and says why. A checker given as *source* is not trusted: its
    function ``check(stdin, stdout, value, expected)`` runs in a child of its own ("proxy") and
    never meets the submission; it must return exactly True or False.

    A function runs as long as it likes on what a submission chose (numbers whose hashes collide,
    text for a slow pattern); source has the limits of a run.

    Give `stdin`, or `call`, not both. A checker that fails counts as a refusal, with the reason in
    ``TestResult.reason``: answers must not be able to break it in their favour.
    """

    checker: Callable[[Answer], bool | str] | str
    stdin: str | bytes | None = None
    call: Call | None = None
    expected: Any = None

    def __post_init__(self) -> None:
        """Check."""
        super().__post_init__()
        if (self.stdin is None) == (self.call is None):
            raise ValueError("a CheckerTest needs either stdin or call, not both or neither")
        if self.stdin is not None:
            _text(self.stdin, "stdin")
        if not callable(self.checker) and not isinstance(self.checker, str):
            raise TypeError("checker must be a function, or the source of check(…) as a string")


@dataclass(frozen=True)
class InProcessTest(Test):
    """Test code that runs beside the submission, in the same interpreter: it can be talked into.

    Refused by `grade` unless ``allow_weak=True``; its results, and the whole report, say
    ``trust="weak"``.
    """

    code: str

    def __post_init__(self) -> None:
        """Check."""
        super().__post_init__()
        if not isinstance(self.code, str) or not self.code.strip():
            raise ValueError("code must be Python source that is not empty")

    @property
    def trust(self) -> str:
        """Always "weak"."""
        return "weak"


AnyTest = StdioTest | CallTest | PropertyTest | RoundTripTest | CheckerTest | InProcessTest
