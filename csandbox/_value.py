"""Plain data between the caller and a child: its limits, requests for calls, and replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from csandbox import _core
from csandbox._foreign import printable
from csandbox._units import MiB

#: What a reply may need besides its value.
REPLY_EXTRA_BYTES: Final = 16384
ADAPTERS: Final = ("ListNode", "TreeNode", "list[ListNode]", "list[TreeNode]")
_MOST_ENTRY_CHARACTERS: Final = 10_000


@dataclass(frozen=True)
class ValueLimits:
    """How large a value may be that a child returns, or that it is given.

    ``bytes`` of its encoding, ``items`` in all containers together (a pair of a dict is two),
    ``depth`` of containers in one another (at most 1000), ``int_digits`` decimal digits of one int
    beyond 64 bits.
    """

    bytes: int = 8 * MiB
    items: int = 1_000_000
    depth: int = 200
    int_digits: int = 100_000

    def __post_init__(self) -> None:
        """Check every field."""
        for name, value in asdict(self).items():
            most = {"bytes": 1 << 30, "items": 1 << 27, "depth": 1000}.get(name, 10**8)
            if type(value) is not int or not 0 < value <= most:
                raise ValueError(f"{name} must be a whole number from 1 to {most}, not {value!r}")

    def core(self) -> _core.ValueLimits:
        """As the core takes them."""
        return {
            "bytes": self.bytes,
            "items": self.items,
            "depth": self.depth,
            "int_digits": self.int_digits,
        }


def _checked_adapter(name: object, where: str) -> str:
    if name not in ADAPTERS:
        raise ValueError(f"adapters[{where}]: {name!r} is none of {', '.join(ADAPTERS)}")
    return str(name)


def _returned(wanted: object, given: int) -> tuple[int | None, str | None]:
    """From ``"ListNode"``, ``0`` or ``(0, "ListNode")``: which argument, and as what."""
    pair = wanted if isinstance(wanted, tuple) and len(wanted) == 2 else None
    place, name = pair or ((wanted, None) if type(wanted) is int else (None, wanted))
    if place is not None and (type(place) is not int or not 0 <= place < given):
        raise ValueError(
            f"adapters['return']: {place!r} is not the place of an argument, of which there "
            f"are {given}"
        )
    return place, None if name is None else _checked_adapter(name, "'return'")


def _adapters(
    adapters: Mapping[int | str, Any] | None, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """What child_call.c takes; ValueError for names and places that do not exist."""
    positional: list[str | None] = [None] * len(args)
    named: dict[str, str] = {}
    place, result = None, None
    for key, name in (adapters or {}).items():
        if key == "return":
            place, result = _returned(name, len(args))
        elif type(key) is int and 0 <= key < len(args):
            positional[key] = _checked_adapter(name, repr(key))
        elif isinstance(key, str) and key in kwargs:
            named[key] = _checked_adapter(name, repr(key))
        else:
            raise ValueError(
                f"adapters: {key!r} is neither the place of an argument, nor the name of one in "
                'kwargs, nor "return"'
            )
    return {"args": positional, "kwargs": named, "result": result, "from": place}


def encode_call(
    entry: str,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    adapters: Mapping[int | str, Any] | None = None,
    limits: ValueLimits | None = None,
) -> bytes:
    """One request (ext/child_call.h). Raises TypeError and ValueError that name the place."""
    limits = ValueLimits() if limits is None else limits
    if not isinstance(entry, str):
        raise TypeError(f"entry must be a string, not {type(entry).__name__}")
    if not isinstance(limits, ValueLimits):
        raise TypeError(f"value_limits must be a ValueLimits, not {type(limits).__name__}")
    for what, given in (("kwargs", kwargs), ("adapters", adapters)):
        if given is not None and not isinstance(given, Mapping):
            raise TypeError(f"{what} must be a mapping, not {type(given).__name__}")
    if not entry.strip() or len(entry) > _MOST_ENTRY_CHARACTERS or "\0" in entry:
        raise ValueError(
            "entry must name a function, as in 'f', 'Class.method' or 'Class().method'"
        )
    if not isinstance(args, (list, tuple)):
        raise TypeError(f"args must be a list or a tuple, not {type(args).__name__}")
    named = dict(kwargs or {})
    if not all(type(name) is str for name in named):
        raise TypeError("kwargs must have names as keys")
    request = {
        "entry": str(entry),
        "args": list(args),
        "kwargs": named,
        "adapters": _adapters(adapters, args, named),
        "limits": [limits.bytes, limits.items, limits.depth, limits.int_digits],
    }
    # What the request itself adds must not count against the values.
    room: _core.ValueLimits = {
        "bytes": limits.bytes + 4 * len(entry) + REPLY_EXTRA_BYTES,
        "items": limits.items + 64 + 2 * len(args) + 2 * len(named),
        "depth": min(limits.depth + 2, 1000),
        "int_digits": limits.int_digits,
    }
    return _core.encode(request, room)


@dataclass(frozen=True)
class Reply:
    """What a child said to one call; all of it is the child's word.

    ``reason`` is "value" (then ``encoded`` is the value as CBOR, read through for its faults),
    "raised", "unencodable", "no_entry", "bad_request", or "garbage": no reply that could be read.
    ``message`` says more. ``cpu_s`` and ``wall_s`` are those of the run when the reply came,
    measured from outside.
    """

    reason: str
    message: str = ""
    type_name: str = ""
    path: str = ""
    encoded: bytes = b""
    cpu_s: float = 0.0
    wall_s: float = 0.0

    def words(self) -> str:
        """For people: why there is no value."""
        if self.reason == "raised":
            return f"{self.type_name}: {self.message}" if self.message else self.type_name
        if self.reason == "unencodable":
            return f"the result is no plain data: at {self.path}: {self.message}"
        if self.reason == "no_entry":
            return f"there is no such function: {self.message}"
        if self.reason == "bad_request":
            return f"the arguments do not fit: {self.message}"
        return self.message


def open_reply(data: Mapping[str, Any], limits: ValueLimits) -> Reply:
    """Take one of the core's ``replies`` apart. Never raises for what is in it."""
    times = {"cpu_s": data["cpu_s"], "wall_s": data["wall_s"]}
    try:
        opened = _core.open_reply(data["bytes"], limits.core())
    except ValueError as error:
        return Reply("garbage", str(error), **times)
    if opened["kind"] == "value":
        return Reply("value", encoded=opened["value"], **times)
    return Reply(
        opened["kind"],
        printable(opened["message"]),
        type_name=printable(opened.get("type", "")),
        path=printable(opened.get("path", "")),
        **times,
    )
