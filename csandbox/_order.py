"""One run as it was asked for: arguments checked, source checked, ready for any way of running."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from csandbox import _audit, _core
from csandbox._arguments import path_text, several, shown
from csandbox._check import check_bytes, file_name, source_bytes, worth_confirming
from csandbox._limits import Limits, limits_given
from csandbox._policy import degraded_names, policy_of, with_layers
from csandbox._profile import Profile, as_profile
from csandbox._report import Report
from csandbox._result import Result, Usage, made

if TYPE_CHECKING:
    from csandbox._core_pool import CorePool

_SYNTAX_ERROR = "CSB001"
#: Beside CSB001: so broken that the rest was not read.
_NOT_READ = "CSB008"

Check = Callable[[bytes, Profile, str], tuple[Report, bytes, object]]


def _stream(value: str | bytes | bytearray | memoryview, name: str) -> bytes:
    if isinstance(value, str):
        try:
            return value.encode()
        except UnicodeEncodeError as error:
            raise ValueError(
                f"{name} holds a lone surrogate at position {error.start}; pass bytes instead"
            ) from error
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise TypeError(f"{name} must be str or bytes, not {type(value).__name__}")


def _word(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a string, not {type(value).__name__} ({shown(value)})")
    if "\0" in value:
        raise ValueError(f"{what} must not hold a NUL: {shown(value)}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{what} holds a lone surrogate: {shown(value)}") from error
    return value


#: execve(2) takes no longer string (MAX_ARG_STRLEN, its NUL included). A warm child is not
#: executed anew and could have one, but a program must not depend on which kind of child it got.
_EXEC_STRING_BYTES = 32 * 4096

#: execve(2) takes a quarter of the stack limit for all of them (mostly 2 MiB), and a warm child
#: sets each with setenv(3), which walks over those before: 1,000 take 7 ms of CPU time.
_VARIABLES = 1000
_VARIABLES_BYTES = 1 << 20


def _fits_exec(text: str, what: str) -> None:
    if len(text.encode()) >= _EXEC_STRING_BYTES:
        raise ValueError(
            f"{what} must be shorter than {_EXEC_STRING_BYTES:,} bytes; "
            "pass long data through stdin or files"
        )


def _arguments(args: Sequence[str]) -> tuple[str, ...]:
    given = several(args, "args", '["-n", "3"]')
    words = tuple(_word(item, f"args[{index}]") for index, item in enumerate(given))
    for index, word in enumerate(words):
        _fits_exec(word, f"args[{index}]")
    return words


def _environment(env: Mapping[str, str] | None) -> dict[str, str]:
    if env is not None and not isinstance(env, Mapping):
        raise TypeError(f"env must map names to values, not be a {type(env).__name__}")
    checked = {}
    for name, value in (env or {}).items():
        _word(name, "a name in env")
        if not name or "=" in name:
            raise ValueError(f"env: {shown(name)} is not the name of a variable")
        checked[name] = _word(value, f"env[{shown(name)}]")
        _fits_exec(f"{name}={value}", f"env[{shown(name)}] with its name")
    size = sum(len(name.encode()) + len(value.encode()) for name, value in checked.items())
    if len(checked) > _VARIABLES or size > _VARIABLES_BYTES:
        raise ValueError(
            f"env has {len(checked):,} variables of {size:,} bytes together; at most "
            f"{_VARIABLES:,} and {_VARIABLES_BYTES:,} bytes are taken; pass long data through "
            "stdin or files"
        )
    return checked


def _relative(name: str | os.PathLike[str]) -> str:
    text = _word(os.fspath(name) if isinstance(name, os.PathLike) else name, "a name in files")
    path = PurePosixPath(text)
    if not path.parts or path.is_absolute() or ".." in path.parts or text.endswith("/"):
        raise ValueError(
            f"files: {shown(text)} must be a relative path inside the working folder, "
            'such as "data/in.csv", without ".."'
        )
    return str(path)


def _files(files: Mapping[str, str | bytes] | None) -> tuple[tuple[str, bytes], ...]:
    if files is not None and not isinstance(files, Mapping):
        raise TypeError(f"files must map names to contents, not be a {type(files).__name__}")
    checked: dict[str, bytes] = {}
    for name, content in (files or {}).items():
        path = _relative(name)
        if path in checked:
            raise ValueError(f"files: {path!r} is given twice")
        checked[path] = _stream(content, f"files[{path!r}]")
    for path in checked:
        for parent in PurePosixPath(path).parents:
            if str(parent) in checked:
                raise ValueError(f"files: {str(parent)!r} is a file and the folder of {path!r}")
    return tuple(checked.items())


def _patterns(collect: Iterable[str]) -> tuple[str, ...]:
    checked = []
    for item in several(collect, "collect", '["*.csv"]'):
        text = _word(item, "a pattern in collect")
        parts = text.split("/")
        if not all(parts) or "." in parts or ".." in parts:
            raise ValueError(
                f"collect: {shown(text)} must be a relative pattern inside the working folder, "
                'such as "*.csv" or "out/**", without empty, "." and ".." parts'
            )
        checked.append(text)
    return tuple(dict.fromkeys(checked))


def _limits(profile: Profile, limits: Limits | Mapping[str, Any] | None) -> dict[str, float | int]:
    return profile.limits.merge(limits_given(limits)).complete()


def _refused(report: Report, profile: Profile, filename: str) -> Result:
    errors = {d.code for d in report if d.severity == "error"}
    unreadable = errors - {_NOT_READ} == {_SYNTAX_ERROR}
    verdict = "compile_error" if unreadable else "rejected"
    return Result(verdict=verdict, report=report, profile=profile.name, filename=filename)


@dataclass
class Order:
    """What is to be run, and what the guard said of it.

    `make` checks the arguments, `admit` asks the guard; then ``policy()`` and ``request`` are what
    the core takes, and `result` is made of what it gives back.
    """

    raw: bytes
    profile: Profile
    filename: str
    request: dict[str, Any]
    degraded: frozenset[str]
    python: str | None
    report: Report | None = None
    check: Check = check_bytes

    @classmethod
    def make(
        cls,
        source: str | bytes,
        more: Mapping[str, Any],
        *,
        stdin: str | bytes = b"",
        args: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        files: Mapping[str, str | bytes] | None = None,
        collect: Iterable[str] = (),
        profile: str | os.PathLike[str] | Profile = "compute",
        limits: Limits | Mapping[str, Any] | None = None,
        allow_degraded: Iterable[str] = (),
        namespaces: str | None = None,
        cgroup: str | None = None,
        filename: str | os.PathLike[str] = "submission.py",
        python: str | os.PathLike[str] | None = None,
    ) -> Order:
        """Check the arguments of `run`. Raises ProfileError, TypeError, ValueError."""
        chosen = with_layers(as_profile(profile), namespaces=namespaces, cgroup=cgroup)
        name = file_name(filename)
        request: dict[str, Any] = {
            **more,
            "filename": name,
            "args": _arguments(args),
            "stdin": _stream(stdin, "stdin"),
            "env": _environment(env),
            "files": _files(files),
            "collect": _patterns(collect),
            "limits": _limits(chosen, limits),
            "confirm_only": False,
        }
        degraded = degraded_names(allow_degraded)
        interpreter = None if python is None else path_text(python, "python")
        return cls(source_bytes(source), chosen, name, request, degraded, interpreter)

    def again(self, source: str | bytes) -> Order:
        """The same with another source: what was checked is not checked again."""
        order = object.__new__(Order)
        order.__dict__.update(self.__dict__, raw=source_bytes(source), request={**self.request})
        return order

    def admit(self) -> Result | None:
        """Ask the guard: the result of a refused source, or None when it may run."""
        self.report, text, checked = self.check(self.raw, self.profile, self.filename)
        if not worth_confirming(self.report):
            return _refused(self.report, self.profile, self.filename)
        self.request["source"] = text
        self.request["checked"] = checked
        return None

    def policy(self) -> _core.Policy:
        """The compiled confinement. Raises UnsupportedError, SetupError, ValueError."""
        return policy_of(self.profile, self.python, self.degraded, self.request["limits"])

    def result(self, data: _core.RunData) -> Result:
        """What came of it, from what the core says."""
        report = self.report
        found = data["diagnostics"]
        if report is not None and found is not None and (found or report.diagnostics):
            report = report.with_findings(found)
        return made(
            Result,
            verdict=data["verdict"],
            limit_hit=data["limit_hit"],
            exit_code=data["exit_code"],
            signal=data["signal"],
            stdout_bytes=data["stdout"],
            stderr_bytes=data["stderr"],
            stdout_total_bytes=data["stdout_total_bytes"],
            stderr_total_bytes=data["stderr_total_bytes"],
            usage=made(
                Usage,
                cpu_s=data["cpu_s"],
                wall_s=data["wall_s"],
                startup_s=data["startup_s"],
                peak_memory_bytes=data["peak_memory_bytes"],
            ),
            isolation=MappingProxyType(data["isolation"]),
            violations=tuple(map(MappingProxyType, data["violations"])),
            report=report,
            error=data["error"],
            profile=self.profile.name,
            filename=self.filename,
            # The core keeps the first half of the limit as the beginning, the rest as the end.
            head_bytes=-(-int(self.request["limits"]["output_bytes"]) // 2),
            files=MappingProxyType(data["files"]),
            files_skipped=MappingProxyType(data["files_skipped"]),
            run_id=None,
        )


Replies = list[dict[str, Any]]


def carry_out(
    order: Order,
    runner: Callable[[Order], _core.RunData],
    audit_log: str | os.PathLike[str] | None,
    pool: CorePool | None = None,
) -> tuple[Result, Replies]:
    """Admit, run, record: the result and the replies that came. Raises what `runner` raises.

    With a `pool` (that of `runner`) a spare may begin to read while the guard does.
    """
    audit = _audit.begin(audit_log)
    if audit is None:
        return _result_of(order, runner, pool)
    with audit:
        try:
            result, replies = _result_of(order, runner, pool)
        except BaseException as error:
            audit.failed(error, order.raw, order.profile, order.filename)
            raise
        audit.done(result, order.raw, order.profile)
    return replace(result, run_id=audit.run_id), replies


def _result_of(
    order: Order, runner: Callable[[Order], _core.RunData], pool: CorePool | None
) -> tuple[Result, Replies]:
    ahead = None if pool is None else pool.head_start(order)
    try:
        refused = order.admit()
        if refused is not None:
            return refused, []
        # What is compiled must be the text that was checked.
        if ahead is not None and order.request["source"] == order.raw:
            data = ahead.complete(order.request)
            return order.result(data), data["replies"]
    finally:
        if ahead is not None:
            ahead.drop()
    data = runner(order)
    return order.result(data), data["replies"]
