"""The seam between grading and the transport: one call, or several in one child, and what came.

An outcome says what the child's process did (a `Result`) and, when a reply arrived and decodes, the
value. Nothing here judges.
"""

from __future__ import annotations

import ast
import math
import secrets
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from csandbox._check import source_bytes
from csandbox._grade_tests import Call
from csandbox._limits import Limits
from csandbox._profile import Profile
from csandbox._result import Result
from csandbox._run import run

if TYPE_CHECKING:
    from csandbox._pool import Pool

_PLAIN = """

def _csandbox_plain(value, path="$", depth=0):
    if depth > 100:
        raise ValueError("the value nests too deep at " + path)
    kind = type(value)
    if kind in (list, tuple, set, frozenset):
        for index, item in enumerate(value):
            _csandbox_plain(item, path + "[" + str(index) + "]", depth + 1)
    elif kind is dict:
        for key, item in value.items():
            _csandbox_plain(key, path, depth + 1)
            _csandbox_plain(item, path + "[" + repr(key) + "]", depth + 1)
    elif value is not None and kind not in (bool, int, float, complex, str, bytes):
        raise TypeError("not plain data at " + path + ": " + str(kind))
    return value

"""


@dataclass(frozen=True)
class Outcome:
    """What came of one call. ``verdict`` is "accepted" only when there is a value."""

    result: Result
    verdict: str
    value: Any = None
    reason: str = ""

    @property
    def answered(self) -> bool:
        """Whether a value arrived."""
        return self.verdict == "accepted"


def _literal(value: Any) -> str:
    """Source text of plain data; float's words have no literal."""
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value!r}")'
    if isinstance(value, (list, tuple, set, frozenset)) and value:
        inside = ", ".join(map(_literal, value))
        if isinstance(value, list):
            return f"[{inside}]"
        if isinstance(value, tuple):
            return f"({inside},)"
        return f"{{{inside}}}" if isinstance(value, set) else f"frozenset(({inside},))"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_literal(k)}: {_literal(v)}" for k, v in value.items()) + "}"
    return repr(value)


def _program(source: str | bytes, calls: Sequence[Call], token: str) -> bytes:
    lines = []
    for number, call in enumerate(calls):
        words = [_literal(value) for value in call.args]
        words += [f"{name}={_literal(value)}" for name, value in call.kwargs.items()]
        lines.append(
            f"_csandbox_reply = repr(_csandbox_plain({call.entry}({', '.join(words)})))\n"
            f"print({f'{chr(10)}{token} {number} '!r} + _csandbox_reply, flush=True)\n"
        )
    return source_bytes(source) + textwrap.dedent(_PLAIN + "\n".join(lines)).encode()


def _value(text: str) -> Any:
    if text in ("nan", "inf", "-inf"):
        return float(text)
    return ast.literal_eval(text)


def call_all(
    source: str | bytes,
    calls: Sequence[Call],
    *,
    profile: Profile,
    limits: Limits | None,
    pool: Pool | None = None,
) -> list[Outcome]:
    """Make the calls one after the other in one child; an outcome for each, in order.

    A call without a reply has the verdict of the child's end, "runtime_error" when the child ended
    as if all were well. With `pool` the child is one of its spares, of its profile. Raises what `run` raises.
    """
    token = secrets.token_hex(8)
    program = _program(source, calls, token)
    if pool is not None:
        result = pool.run(program, limits=limits)
    else:
        result = run(program, profile=profile, limits=limits)
    replies: dict[int, str] = {}
    for line in result.stdout_bytes.split(b"\n"):
        if line.startswith(token.encode()):
            _, place, text = line.decode("utf-8", "replace").split(" ", 2)
            replies.setdefault(int(place), text)
    outcomes = []
    for number in range(len(calls)):
        if number in replies:
            try:
                outcomes.append(Outcome(result, "accepted", _value(replies[number])))
            except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError) as error:
                reason = f"the reply is no plain data: {error}"
                outcomes.append(Outcome(result, "runtime_error", reason=reason))
        elif result.ok:
            reason = "the program ended without a reply"
            outcomes.append(Outcome(result, "runtime_error", reason=reason))
        else:
            outcomes.append(Outcome(result, result.verdict, reason=result.summary()))
    return outcomes
