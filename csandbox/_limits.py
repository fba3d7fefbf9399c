"""Limits of one run: time, memory, output, disk, threads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Any, Final, NamedTuple

from csandbox._arguments import shown
from csandbox._errors import ProfileError
from csandbox._units import GiB, KiB, MiB, format_bytes


class _Field(NamedTuple):
    unit: str
    integral: bool
    minimum: float
    maximum: float
    minimum_reason: str


# The smallest values are those with which an interpreter still starts; the largest are a guard
# against units mixed up (milliseconds for seconds, bits for bytes), not a property of the kernel.
_FIELDS: Final[dict[str, _Field]] = {
    # The kernel accounts CPU time per tick or better; below 10 ms a verdict would be noise.
    "cpu_s": _Field("seconds", False, 0.01, 7 * 86400, "shorter times are noise"),
    "wall_s": _Field("seconds", False, 0.01, 7 * 86400, "shorter times are noise"),
    # A bare interpreter takes 6 to 35 ms to start on an idle machine.
    "startup_s": _Field("seconds", False, 0.1, 600, "an interpreter needs that long to start"),
    # A bare interpreter holds about 10 MiB of private memory.
    "memory_bytes": _Field("bytes", True, 16 * MiB, 16384 * GiB, "an interpreter needs that much"),
    # Held in the caller's memory while the run lasts.
    "output_bytes": _Field("bytes", True, 1, 1 * GiB, ""),
    "file_bytes": _Field("bytes", True, 1, 1024 * GiB, ""),
    "disk_bytes": _Field("bytes", True, 1, 1024 * GiB, ""),
    # Each of them costs the caller time when the working folder is removed.
    "files": _Field("files and folders", True, 1, 1_000_000, ""),
    # 0, 1, 2, the reply channel and what an import opens while it opens another.
    "open_files": _Field("descriptors", True, 16, 1 << 20, "an interpreter needs that many"),
    "threads": _Field("threads", True, 1, 32768, ""),
    # glibc's smallest useful main stack for CPython: below it start-up itself overflows.
    "stack_bytes": _Field("bytes", True, 256 * KiB, 1 * GiB, "an interpreter needs that much"),
}

WALL_FACTOR: Final = 3.0  # DMOJ's ratio of wall to CPU time: room for a machine under load
WALL_EXTRA_S: Final = 1.0  # so that short limits survive a slow first page fault


def _show(name: str, value: float) -> str:
    unit = _FIELDS[name].unit
    return format_bytes(int(value)) if unit == "bytes" else f"{value:g} {unit}"


def _check_field(name: str, value: object, where: str) -> float | int:
    """Return the value in its exact type, or raise ProfileError naming the field and the unit."""
    spec = _FIELDS[name]
    kind = "a whole number" if spec.integral else "a number"
    if isinstance(value, bool) or not isinstance(value, int if spec.integral else (int, float)):
        raise ProfileError(
            f"{where}{name} must be {kind} of {spec.unit}, "
            f"not {type(value).__name__} ({shown(value)})",
            key=f"limits.{name}",
        )
    not_finite = isinstance(value, float) and not math.isfinite(value)
    if not_finite or value <= 0:
        raise ProfileError(
            f"{where}{name} must be {kind} of {spec.unit} above 0, not {shown(value)}; "
            "leave it out (None) to use the profile's value",
            key=f"limits.{name}",
        )
    if value < spec.minimum:
        reason = f" ({spec.minimum_reason})" if spec.minimum_reason else ""
        raise ProfileError(
            f"{where}{name} must be at least {_show(name, spec.minimum)}{reason}, "
            f"not {_show(name, value)}",
            key=f"limits.{name}",
        )
    if value > spec.maximum:
        raise ProfileError(
            f"{where}{name} must be at most {_show(name, spec.maximum)}, not {_bounded(value)}; "
            f"is the unit {spec.unit}?",
            key=f"limits.{name}",
        )
    return int(value) if spec.integral else float(value)


def limits_given(limits: Limits | Mapping[str, Any] | None) -> Limits | None:
    """What a caller passed as limits. Raises TypeError, ProfileError."""
    if limits is not None and not isinstance(limits, (Limits, Mapping)):
        raise TypeError(f"limits must be a Limits or a mapping, not {type(limits).__name__}")
    return Limits.from_mapping(limits) if isinstance(limits, Mapping) else limits


def _bounded(value: float) -> str:
    """The number for a message; one beyond what float holds by its size alone."""
    if isinstance(value, int) and value.bit_length() > 200:
        return f"a number of {value.bit_length()} bits"
    return repr(value)


@dataclass(frozen=True)
class Limits:
    """Limits of one run. Every field may be None, which means: the profile's value.

    ============= =========== ====================================================================
    field         unit        what is limited
    ============= =========== ====================================================================
    cpu_s         seconds     CPU time, user and system, of the whole process. The main limit
    wall_s        seconds     time from the child's start; without a value 3 × cpu_s + 1
    startup_s     seconds     start of the interpreter; beyond it is our fault, not the code's
    memory_bytes  bytes       private memory of the process
    output_bytes  bytes       output per stream (stdout, stderr)
    file_bytes    bytes       size of one file
    disk_bytes    bytes       all files together, beyond those that the caller put there
    files         files       files and folders made in one run
    open_files    descriptors open at once
    threads       threads     at once, the main thread included
    stack_bytes   bytes       the main thread's stack
    ============= =========== ====================================================================

    ``wall_s`` may be below ``cpu_s``: code with several threads spends CPU time faster than the
    clock runs, and a caller may simply want to be back soon. ``stack_bytes`` must be below
    ``memory_bytes`` when both are given here.

    Raises ProfileError (a ValueError) that names the field and its unit.
    """

    cpu_s: float | None = None
    wall_s: float | None = None
    startup_s: float | None = None
    memory_bytes: int | None = None
    output_bytes: int | None = None
    file_bytes: int | None = None
    disk_bytes: int | None = None
    files: int | None = None
    open_files: int | None = None
    threads: int | None = None
    stack_bytes: int | None = None

    def __post_init__(self) -> None:
        """Check every field that was given."""
        for name in _FIELDS:
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _check_field(name, value, ""))
        if (
            self.stack_bytes is not None
            and self.memory_bytes is not None
            and self.stack_bytes >= self.memory_bytes
        ):
            raise ProfileError(
                f"stack_bytes ({format_bytes(self.stack_bytes)}) must be below memory_bytes "
                f"({format_bytes(self.memory_bytes)}): the stack is part of the memory",
                key="limits.stack_bytes",
            )

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Limits:
        """Limits from a mapping; an unknown key is a ProfileError that names the nearest one."""
        for name in values:
            if name not in _FIELDS:
                word = name if isinstance(name, str) else shown(name)
                near = get_close_matches(word, _FIELDS, n=1, cutoff=0.5)
                hint = f"; did you mean {near[0]}?" if near else f"; known: {', '.join(_FIELDS)}"
                raise ProfileError(f"unknown limit {shown(name)}{hint}", key=f"limits.{word}")
        return cls(**values)

    def merge(self, other: Limits | None) -> Limits:
        """These limits with every field that `other` sets taken from `other`.

        A new ``cpu_s`` without a new ``wall_s`` makes ``wall_s`` follow again (3 × cpu_s + 1),
        because the old one was chosen for the old ``cpu_s``. A new ``memory_bytes`` at or below
        the old ``stack_bytes`` halves the stack until it fits.
        """
        if other is None:
            return self
        changes: dict[str, Any] = {
            field.name: getattr(other, field.name)
            for field in fields(other)
            if getattr(other, field.name) is not None
        }
        if "cpu_s" in changes:
            changes.setdefault("wall_s", None)
        memory = changes.get("memory_bytes", self.memory_bytes)
        stack = changes.get("stack_bytes", self.stack_bytes)
        if memory is not None and stack is not None and "stack_bytes" not in changes:
            while stack >= memory:
                stack //= 2
            changes["stack_bytes"] = stack
        return replace(self, **changes)

    def effective_wall_s(self) -> float | None:
        """The wall limit that holds: ``wall_s``, or 3 × cpu_s + 1; None when neither is known."""
        if self.wall_s is not None or self.cpu_s is None:
            return self.wall_s
        return min(WALL_FACTOR * self.cpu_s + WALL_EXTRA_S, _FIELDS["wall_s"].maximum)

    def to_dict(self) -> dict[str, float | int | None]:
        """All fields by name, None where nothing was set."""
        return {name: getattr(self, name) for name in _FIELDS}

    def complete(self) -> dict[str, float | int]:
        """All fields by name with ``wall_s`` worked out; ProfileError when one is missing."""
        values = self.to_dict()
        values["wall_s"] = self.effective_wall_s()
        complete: dict[str, float | int] = {}
        for name, value in values.items():
            if value is None:
                raise ProfileError(
                    f"no value for limits.{name}; set it in the profile or in Limits()",
                    key=f"limits.{name}",
                )
            complete[name] = value
        return complete

    def __repr__(self) -> str:
        """Only the fields that are set."""
        given = (f"{k}={v!r}" for k, v in self.to_dict().items() if v is not None)
        return f"Limits({', '.join(given)})"
