"""One structured record a run: to the logger ``csandbox.audit``, and to a file of JSON lines.

Nothing is computed unless somebody listens: `begin` gives None then. The record holds digests, not
the source, and no output of the program, so a log may be kept where the programs may not.
"""

from __future__ import annotations

import fcntl
import os
import select
import stat
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from csandbox._arguments import path_text
from csandbox._errors import SetupError

if TYPE_CHECKING:
    from csandbox._profile import Profile
    from csandbox._result import Result

LOGGER = "csandbox.audit"
SCHEMA = 1  # of the record; a field that changes its meaning changes this number
_INFO = 20  # logging.INFO, without the import
_ERROR_CHARACTERS = 500


def _listening() -> Any:
    """The logger when somebody wants its records, else None.

    A program that never imported ``logging`` cannot have asked for them, so it need not pay for it.
    """
    logging = sys.modules.get("logging")
    if logging is None:
        return None
    logger = logging.getLogger(LOGGER)
    return logger if logger.isEnabledFor(_INFO) else None


def _timestamp(seconds: float) -> str:
    """RFC 3339 in UTC, with microseconds."""
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds % 1 * 1_000_000):06d}Z"


def _base(source: bytes, profile: Profile, filename: str) -> dict[str, Any]:
    from hashlib import sha256

    return {
        "pid": os.getpid(),
        "uid": os.geteuid(),
        "source_sha256": sha256(source).hexdigest(),
        "source_bytes": len(source),
        "filename": filename,
        "profile": profile.name,
        "profile_sha256": profile.digest(),
    }


def record_of(
    result: Result, *, source: bytes, profile: Profile, run_id: str, began_s: float
) -> dict[str, Any]:
    """The record of a finished run: plain JSON data.

    ``source`` are the bytes that the caller submitted, ``began_s`` the time.time() of its start.
    Findings are counted by code; ``isolation`` maps each layer to its state, as in the result.
    """
    findings: dict[str, int] = {}
    for diagnostic in result.diagnostics:
        findings[diagnostic.code] = findings.get(diagnostic.code, 0) + 1
    return {
        "schema": SCHEMA,
        "time": _timestamp(began_s),
        "run_id": run_id,
        **_base(source, profile, result.filename),
        "verdict": result.verdict,
        "code": result.code,
        "limit_hit": result.limit_hit,
        "exit_code": result.exit_code,
        "signal": result.signal,
        "error": None if result.error is None else result.error[:_ERROR_CHARACTERS],
        "usage": result.usage.to_dict(),
        "violations": [dict(violation) for violation in result.violations],
        "findings": dict(sorted(findings.items())),
        "isolation": dict(result.isolation),
    }


def failure_of(
    error: BaseException,
    *,
    source: bytes,
    profile: Profile,
    filename: str,
    run_id: str,
    began_s: float,
) -> dict[str, Any]:
    """The record of a run that gave no result: not started, or interrupted by its caller."""
    return {
        "schema": SCHEMA,
        "time": _timestamp(began_s),
        "run_id": run_id,
        **_base(source, profile, filename),
        "verdict": "not_started" if isinstance(error, Exception) else "interrupted",
        "error": f"{type(error).__name__}: {error}"[:_ERROR_CHARACTERS],
    }


def _trouble(path: str, verb: str, error: OSError) -> SetupError:
    return SetupError(
        step="audit",
        errno=error.errno or 0,
        message=f"audit log {path}: cannot {verb} it: {error.strerror or error}",
    )


def open_log(path: str | os.PathLike[str]) -> int:
    """A descriptor that only appends; SetupError when there can be none. The file is made 0600."""
    name = os.fspath(path)
    try:
        return os.open(name, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _trouble(name, "open", error) from error


def append(descriptor: int, line: bytes) -> None:
    """Append one line whole, whoever else appends.

    Linux serialises appends to a regular file, whatever their length, and writes of at most
    PIPE_BUF to a pipe. Longer lines are written under flock(2), so that two of them cannot mix
    where a file system or a pipe takes them in pieces. Raises OSError.
    """
    regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
    rest = memoryview(line)
    if regular and len(line) <= select.PIPE_BUF:
        rest = rest[os.write(descriptor, rest) :]
    if not rest:
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def line_of(record: Mapping[str, Any]) -> bytes:
    """One line of ASCII JSON: no byte of it can end the line early or move a terminal's cursor."""
    import json

    return (json.dumps(record, separators=(",", ":"), ensure_ascii=True) + "\n").encode()


class Audit:
    """The audit of one run between its beginning and its record."""

    def __init__(self, logger: Any, path: str | None) -> None:
        """Open the file at once: a log that cannot be written is told before anything runs."""
        self.run_id = os.urandom(8).hex()
        self.began_s = time.time()
        self._logger = logger
        self._path = path
        self._descriptor = -1 if path is None else open_log(path)

    def done(self, result: Result, source: bytes, profile: Profile) -> None:
        """Write the record of a finished run. SetupError when the file takes it no more."""
        self._write(
            record_of(
                result, source=source, profile=profile, run_id=self.run_id, began_s=self.began_s
            )
        )

    def failed(self, error: BaseException, source: bytes, profile: Profile, filename: str) -> None:
        """Write the record of a run that raised; SetupError as `done`."""
        self._write(
            failure_of(
                error,
                source=source,
                profile=profile,
                filename=filename,
                run_id=self.run_id,
                began_s=self.began_s,
            )
        )

    def __enter__(self) -> None:
        """Nothing to do; the end gives the descriptor back."""

    def __exit__(self, *_: object) -> None:
        """Give the descriptor back; harmless when called again."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _write(self, record: dict[str, Any]) -> None:
        try:
            if self._logger is not None:
                self._logger.info(
                    "run %s: %s", self.run_id, record["verdict"], extra={"audit": record}
                )
            if self._descriptor >= 0:
                append(self._descriptor, line_of(record))
        except OSError as error:
            raise _trouble(str(self._path), "write", error) from error


def begin(path: str | os.PathLike[str] | None) -> Audit | None:
    """The audit of a run that begins now, or None when nobody wants a record.

    It is used as ``with audit: …``, with one call of `done` or `failed` inside. Raises SetupError
    when `path` cannot be opened, TypeError or ValueError when it is no path.
    """
    logger = _listening()
    if path is None:
        return None if logger is None else Audit(logger, None)
    return Audit(logger, path_text(path, "audit_log"))
