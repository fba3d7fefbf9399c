"""What came of one cell of a session."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from csandbox._result import Result


@dataclass(frozen=True)
class CellError:
    """The exception that ended a cell, as the child told it."""

    name: str
    text: str
    traceback: str


@dataclass(frozen=True, repr=False)
class CellResult(Result):
    """What came of one cell: a ``Result`` with what the cell showed.

    ``value_repr`` is the repr of the last expression, None when there is none or it is None;
    ``value`` its MIME bundle (type -> str, bytes, or JSON data), ``displays`` the bundles of
    ``display()`` and of figures, ``raised`` the exception, ``count`` the number of the cell.
    Verdicts are those of `run`; a cell that raised is "runtime_error" and the session lives on.
    ``alive`` says whether it does.
    """

    value_repr: str | None = None
    value: Mapping[str, Any] | None = field(default=None, hash=False)
    displays: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)
    raised: CellError | None = None
    count: int = 0
    alive: bool = True

    def summary(self) -> str:
        """One sentence for people."""
        if self.raised is not None:
            text = f": {self.raised.text}" if self.raised.text else ""
            return f"{self.verdict}: {self.raised.name}{text}"
        return super().summary()

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; bytes of displays are base64."""
        data = {**super().to_dict(), "value_repr": self.value_repr, "count": self.count}
        data["alive"] = self.alive
        data["displays"] = [_json_bundle(bundle) for bundle in self.displays]
        data["raised"] = None if self.raised is None else dict(vars(self.raised))
        return data


def _json_bundle(bundle: Mapping[str, Any]) -> dict[str, Any]:
    return {
        kind: base64.b64encode(data).decode() if isinstance(data, bytes) else data
        for kind, data in bundle.items()
    }


def cell_of(result: Result, **more: Any) -> CellResult:
    """The result of a run, with what only a cell has."""
    return CellResult(**{spec.name: getattr(result, spec.name) for spec in fields(Result)}, **more)
