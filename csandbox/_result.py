"""What came of one run."""

from __future__ import annotations

import signal as _signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from csandbox._errors import OutcomeError, RejectedError
from csandbox._units import format_bytes

if TYPE_CHECKING:
    from csandbox._report import Diagnostic, Report

# In to_dict() and messages a word stands for a number; these are all words there are.
VERDICTS = (
    "accepted",
    "time_limit",
    "memory_limit",
    "output_limit",
    "runtime_error",
    "compile_error",
    "rejected",
    "security_violation",
    "internal_error",
)
_VERDICT_CODES = {
    "time_limit": "CSR011",
    "memory_limit": "CSR020",
    "output_limit": "CSR030",
    "runtime_error": "CSR001",
    "compile_error": "CSR003",
    "rejected": "CSR070",
    "security_violation": "CSR040",
    "internal_error": "CSR051",
}
_LIMIT_CODES = {"disk": "CSR031", "files": "CSR031", "processes": "CSR032"}
_MAPPINGS = ("isolation", "files", "files_skipped")
_REPR_LENGTH = 200


_Made = TypeVar("_Made")


def made(cls: type[_Made], /, **fields: Any) -> _Made:
    """An instance of a frozen dataclass from all of its fields.

    Its own ``__init__`` sets one after the other past the frozen ``__setattr__``, a tenth of the
    caller's share of a warm run.
    """
    instance = object.__new__(cls)
    instance.__dict__.update(fields)
    return instance


@dataclass(frozen=True)
class Usage:
    """Measured from outside the child: times in seconds, memory in bytes.

    ``wall_s`` starts with the child's first byte of submitted code; ``startup_s`` is what came
    before. ``peak_memory_bytes`` is the most that was resident beyond an idle interpreter. All zero
    when nothing was run.
    """

    cpu_s: float = 0.0
    wall_s: float = 0.0
    startup_s: float = 0.0
    peak_memory_bytes: int = 0

    def to_dict(self) -> dict[str, float | int]:
        """The four numbers by name."""
        return dict(vars(self))


def decode_kept(kept: bytes, total: int, head: int) -> str:
    """Text of a captured stream of `total` bytes, of which `kept` are left.

    Undecodable bytes become U+FFFD. When something is missing, the first `head` bytes are the
    beginning and the rest the end; the two are cut at whole characters and joined by a line that
    says what is gone.
    """
    if total <= len(kept):
        return kept.decode("utf-8", "replace")
    first, last = kept[:head], kept[head:]
    end = len(first)
    for back in range(1, min(4, end) + 1):  # a character has at most four bytes
        byte = first[end - back]
        if byte & 0xC0 != 0x80:
            length = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC2 else 1
            if length > back and byte <= 0xF4:  # cut in the middle, and not just a wrong byte
                end -= back
            break
    start = 0
    while start < min(3, len(last)) and last[start] & 0xC0 == 0x80:
        start += 1
    missing = total - end - (len(last) - start)
    return (
        first[:end].decode("utf-8", "replace")
        + f"\n[… {missing} bytes left out …]\n"
        + last[start:].decode("utf-8", "replace")
    )


def _isolation_words(isolation: Mapping[str, str]) -> str:
    # "off: why" is a layer that is taken where a machine has it, or that the caller chose against
    fine = ("enforced", "off: ")
    weak = [name for name, state in isolation.items() if not state.startswith(fine)]
    return f", not enforced: {', '.join(weak)}" if weak else ""


@dataclass(frozen=True, repr=False)
class Result:
    """What came of one run. Immutable, picklable; ``to_dict()`` is plain JSON data.

    ``verdict`` is one word: accepted, time_limit, memory_limit, output_limit, runtime_error,
    compile_error, rejected, security_violation or internal_error. The last one is never the code's
    doing: ``error`` says what failed, and a grader must not count the run. ``limit_hit`` says which
    limit ended it ("cpu", "wall", "memory", "output", "disk", "processes", "files") or is None.

    ``exit_code`` is None when a signal ended the process (``signal``) or nothing was run.
    ``stdout`` and ``stderr`` are text, ``stdout_bytes`` and ``stderr_bytes`` what was kept, byte
    for byte. ``isolation`` maps each layer to "enforced", "off" or "degraded: why"; ``violations``
    lists denied system calls with their counts and what they wanted (``{"syscall": "socket",
    "domain": "AF_INET", "count": 3}``); ``report`` is what the guard found, ``diagnostics`` the
    same as a tuple. ``run_id`` names the run's audit record; None when there is none.

    ``files`` maps the names of collected files to their bytes, ``files_skipped`` what matched and
    was not taken to the reason ("a symbolic link").
    """

    verdict: str
    limit_hit: str | None = None
    exit_code: int | None = None
    signal: int | None = None
    stdout_bytes: bytes = b""
    stderr_bytes: bytes = b""
    stdout_total_bytes: int = 0
    stderr_total_bytes: int = 0
    usage: Usage = field(default_factory=Usage)
    isolation: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    violations: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)
    report: Report | None = field(default=None, hash=False, compare=False)
    error: str | None = None
    profile: str = ""
    filename: str = "submission.py"
    head_bytes: int = 0
    files: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    files_skipped: Mapping[str, str] = field(
        default_factory=lambda: MappingProxyType({}), hash=False
    )
    run_id: str | None = field(default=None, compare=False)

    @property
    def ok(self) -> bool:
        """Whether the verdict is "accepted": it ran to its end and exited with 0."""
        return self.verdict == "accepted"

    @cached_property
    def stdout(self) -> str:
        """Standard output as text (UTF-8, undecodable bytes as U+FFFD, never half a character)."""
        return decode_kept(self.stdout_bytes, self.stdout_total_bytes, self.head_bytes)

    @cached_property
    def stderr(self) -> str:
        """Standard error as text, as ``stdout``."""
        return decode_kept(self.stderr_bytes, self.stderr_total_bytes, self.head_bytes)

    @property
    def stdout_truncated(self) -> bool:
        """Whether more was written than ``stdout_bytes`` holds."""
        return self.stdout_total_bytes > len(self.stdout_bytes)

    @property
    def stderr_truncated(self) -> bool:
        """Whether more was written than ``stderr_bytes`` holds."""
        return self.stderr_total_bytes > len(self.stderr_bytes)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What the guard found, errors and advice."""
        return tuple(self.report) if self.report is not None else ()

    @property
    def signal_name(self) -> str | None:
        """The signal's name ("SIGSEGV"); None when no signal ended the process."""
        if self.signal is None:
            return None
        try:
            return _signal.Signals(self.signal).name
        except ValueError:
            return f"signal {self.signal}"

    @property
    def code(self) -> str | None:
        """What ``csandbox explain`` calls this outcome ("CSR011"); None when it is ok."""
        if self.verdict == "runtime_error" and self.signal is not None:
            return "CSR002"
        if self.verdict == "time_limit" and self.limit_hit == "wall":
            return "CSR010"
        if self.limit_hit in _LIMIT_CODES:
            return _LIMIT_CODES[self.limit_hit]
        return _VERDICT_CODES.get(self.verdict)

    def summary(self) -> str:
        """One sentence for people: the verdict and why."""
        if self.verdict == "accepted":
            return f"accepted in {self.usage.cpu_s:.3f} s of CPU time"
        if self.verdict in ("rejected", "compile_error") and self.report is not None:
            errors = [d for d in self.diagnostics if d.severity == "error"]
            if errors:
                first = errors[0]
                more = f" and {len(errors) - 1} more" if len(errors) > 1 else ""
                return (
                    f"{self.verdict}: {first.message} [{first.code}] at line {first.line}{more}; "
                    "nothing was run"
                )
        if self.verdict == "internal_error":
            return f"internal_error: the sandbox failed, not the code: {self.error}"
        if self.limit_hit is not None:
            return f"{self.verdict}: {self._limit_words()}"
        if self.verdict == "security_violation":
            return f"security_violation: {self._violation_words() or 'a denied system call'}"
        if self.signal is not None:
            return f"{self.verdict}: ended by {self.signal_name}"
        if self.exit_code is not None:
            return f"{self.verdict}: exit code {self.exit_code}"
        return self.verdict

    def _limit_words(self) -> str:
        usage = self.usage
        if self.limit_hit == "cpu":
            return f"out of CPU time after {usage.cpu_s:.2f} s"
        if self.limit_hit == "wall":
            return f"out of time after {usage.wall_s:.2f} s ({usage.cpu_s:.2f} s of CPU time)"
        if self.limit_hit == "memory":
            return f"out of memory at {format_bytes(usage.peak_memory_bytes)}"
        if self.limit_hit == "output":
            most = max(self.stdout_total_bytes, self.stderr_total_bytes)
            return f"wrote {format_bytes(most)} to one stream"
        words = {"disk": "disk space", "files": "number of files", "processes": "threads"}
        return f"limit on {words.get(self.limit_hit or '', self.limit_hit)}"

    def _violation_words(self) -> str:
        return ", ".join(
            f"{v.get('syscall', '?')}"
            + "".join(f" {word}" for key, word in v.items() if key not in ("syscall", "count"))
            + f" ×{v.get('count', 1)}"
            for v in self.violations
        )

    def check(self) -> Result:
        """Return the result when it is ok; else raise OutcomeError, or RejectedError."""
        if self.ok:
            return self
        if self.verdict == "rejected" and self.report is not None:
            raise RejectedError(self.summary(), result=self, report=self.report)
        raise OutcomeError(self.summary(), result=self)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON. The streams are text here, of collected files only the sizes."""
        return {
            "ok": self.ok,
            "verdict": self.verdict,
            "code": self.code,
            "limit_hit": self.limit_hit,
            "exit_code": self.exit_code,
            "signal": self.signal,
            "signal_name": self.signal_name,
            "stdout": self.stdout,
            "stderr": self.stderr,
            "stdout_total_bytes": self.stdout_total_bytes,
            "stderr_total_bytes": self.stderr_total_bytes,
            "stdout_truncated": self.stdout_truncated,
            "stderr_truncated": self.stderr_truncated,
            "usage": self.usage.to_dict(),
            "isolation": dict(self.isolation),
            "violations": [dict(violation) for violation in self.violations],
            "diagnostics": self.report.to_dict()["diagnostics"] if self.report is not None else [],
            "error": self.error,
            "profile": self.profile,
            "filename": self.filename,
            "files": {name: len(content) for name, content in self.files.items()},
            "files_skipped": dict(self.files_skipped),
            "run_id": self.run_id,
        }

    def __repr__(self) -> str:
        """One line, at most 200 characters, whatever the code printed."""
        shown = repr(self.stdout[:48])
        parts = [self.verdict]
        if self.limit_hit is not None:
            parts.append(f"limit_hit={self.limit_hit}")
        if self.exit_code is not None:
            parts.append(f"exit_code={self.exit_code}")
        if self.signal is not None:
            parts.append(f"signal={self.signal_name}")
        parts.append(f"cpu_s={self.usage.cpu_s:.3f}")
        if self.error is not None:
            parts.append(f"error={self.error[:48]!r}")
        elif self.stdout_total_bytes:
            parts.append(f"stdout={shown}" + ("…" if len(self.stdout) > 48 else ""))
        name = type(self).__name__
        text = f"<csandbox.{name} {' '.join(parts)}{_isolation_words(self.isolation)}>"
        return text if len(text) <= _REPR_LENGTH else text[: _REPR_LENGTH - 2] + "…>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as plain data; MappingProxyType itself cannot be pickled."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        for name in _MAPPINGS:
            values[name] = dict(values[name])
        values["violations"] = tuple(dict(violation) for violation in self.violations)
        return _rebuild, (type(self), values)


def _rebuild(kind: type[Result], values: dict[str, Any]) -> Result:
    for name in _MAPPINGS:
        values[name] = MappingProxyType(values[name])
    values["violations"] = tuple(MappingProxyType(v) for v in values["violations"])
    return kind(**values)
