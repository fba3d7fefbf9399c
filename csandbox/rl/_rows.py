"""What a data set's row says about tests, in whatever shape it says it."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from csandbox._grade_tests import AnyTest, Test
from csandbox._load_asserts import Loaded, load_asserts
from csandbox._load_mbpp import entry_of
from csandbox._load_tests import load_row

INCOMPLETE: Final = ("raise", "drop", "use")
_KEPT: Final = 512


class RowError(ValueError):
    """A row of the data set has no tests that can be used: the data is at fault, no submission."""


def _loaded(data: Any, entry: str | None, compare: str | None) -> Loaded:
    if isinstance(data, str):
        try:
            data = json.loads(data)
        except (ValueError, RecursionError):
            return load_asserts(data, entry or entry_of([data], data))
    if isinstance(data, Sequence) and data and all(isinstance(item, str) for item in data):
        text = "\n".join(data)
        return load_asserts(text, entry or entry_of(list(data), text))
    return load_row(data, entry=entry, compare=compare)


def _key(data: Any, entry: str | None, compare: str | None) -> str | None:
    """Content as text, for the cache; None for what is no JSON."""
    try:
        return json.dumps([data, entry, compare], sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return None


class Rows:
    """Rows turned into tests, the last few hundred kept: a trainer asks for each row many times.

    `incomplete` says what becomes of a row of which a part could not become tests: "raise",
    "drop" (None: the sample is left out), or "use" (what could; a row without any is dropped).
    Any thread may use it.
    """

    def __init__(self, *, entry: str | None, compare: str | None, incomplete: str) -> None:
        """Check."""
        if incomplete not in INCOMPLETE:
            raise ValueError(
                f"incomplete must be one of {', '.join(INCOMPLETE)}, not {incomplete!r}"
            )
        self.entry, self.compare, self.incomplete = entry, compare, incomplete
        self._known: OrderedDict[str, tuple[AnyTest, ...] | None] = OrderedDict()
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        """Without lock and cache, so that a reward function can be sent to another process."""
        return {"entry": self.entry, "compare": self.compare, "incomplete": self.incomplete}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Begin with an empty cache."""
        Rows.__init__(self, **state)

    def tests(self, data: Any) -> tuple[AnyTest, ...] | None:
        """The tests; None when the row is to be left out.

        `data` is a `Loaded`, tests, a row (or JSON text) as the loaders take it (HumanEval, MBPP,
        EvalPlus, APPS, TACO, CodeContests, LiveCodeBench, CommonOJ), the text of assertions, or a
        list of them. Raises RowError.
        """
        if isinstance(data, Loaded):
            return self._usable(data)
        if isinstance(data, Sequence) and data and all(isinstance(item, Test) for item in data):
            return tuple(data)
        key = _key(data, self.entry, self.compare)
        if key is not None:
            with self._lock:
                if key in self._known:
                    self._known.move_to_end(key)
                    return self._known[key]
        found = self._usable(self._load(data))
        if key is not None:
            with self._lock:
                self._known[key] = found
                while len(self._known) > _KEPT:
                    self._known.popitem(last=False)
        return found

    def _load(self, data: Any) -> Loaded:
        try:
            return _loaded(data, self.entry, self.compare)
        except (ValueError, KeyError, TypeError, SyntaxError) as error:
            kind = "a mapping" if isinstance(data, Mapping) else f"a {type(data).__name__}"
            if self.incomplete == "raise":
                raise RowError(
                    f"{kind} could not be read as tests ({type(error).__name__}: {error}); "
                    "incomplete='drop' leaves such samples out"
                ) from error
            return Loaded(())

    def _usable(self, loaded: Loaded) -> tuple[AnyTest, ...] | None:
        if loaded.whole or (self.incomplete == "use" and loaded.tests):
            return loaded.tests
        if self.incomplete != "raise":
            return None
        if not loaded.unconverted:
            raise RowError("a row without any test; every program would pass it")
        raise RowError(
            f"{len(loaded.unconverted)} parts of a row's tests cannot be tests as data: "
            f"{loaded.unconverted[0]}; incomplete='use' grades by the {len(loaded.tests)} others, "
            "'drop' leaves the sample out"
        )
