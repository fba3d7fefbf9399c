"""Every exception that csandbox raises.

::

    SandboxError                      base of all; nothing else derives from Exception directly
    ├─ ProfileError(ValueError)       a profile is wrong                    .path .key
    ├─ UnsupportedError(OSError)      a required layer cannot be enforced   .feature .hint
    ├─ SetupError(OSError)            the sandbox failed, not the code      .step .errno
    └─ OutcomeError                   asked for with check=True             .result
       └─ RejectedError               the guard refused the source          .report

What the submitted code does is never an exception: it is a verdict in a ``Result``. Only
``Result.check()`` and ``run(check=True)`` turn a verdict into an ``OutcomeError``.
A caller's wrong argument is a plain ``TypeError`` or ``ValueError``.
"""

from __future__ import annotations

import errno as _errno
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from csandbox._report import Report
    from csandbox._result import Result


def _rebuild(cls: type[SandboxError], keywords: dict[str, Any]) -> SandboxError:
    """Unpickle: the constructors take keywords only, which Exception's own protocol cannot pass."""
    return cls(**keywords)


class SandboxError(Exception):
    """Base of every csandbox exception.

    ``message`` is one or two sentences: what failed, why, and what to do.
    """

    message: str

    def __init__(self, message: str = "") -> None:
        """Keep the sentence."""
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        """Only the sentence; OSError would put its errno in front."""
        return self.message

    def _keywords(self) -> dict[str, Any]:
        return {"message": self.message}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by keywords, so that errors cross process pools unchanged."""
        return _rebuild, (type(self), self._keywords())


class ProfileError(SandboxError, ValueError):
    """A profile, or a value that would go into one, is wrong.

    ``path`` is the file (None for a value given in code), ``key`` the dotted key
    ("limits.cpu_s"; None when the whole file is meant).
    """

    path: str | None
    key: str | None

    def __init__(
        self, message: str = "", *, path: str | None = None, key: str | None = None
    ) -> None:
        """Keep where the mistake is."""
        super().__init__(message)
        self.path = path
        self.key = key

    def _keywords(self) -> dict[str, Any]:
        return {"message": self.message, "path": self.path, "key": self.key}


class UnsupportedError(SandboxError, OSError):
    """A required layer cannot be enforced here, so nothing was run.

    ``feature`` is the layer's name as in ``Result.isolation`` ("landlock"), ``hint`` says what to
    do. ``errno`` is ENOTSUP.
    """

    feature: str
    hint: str

    def __init__(self, *, feature: str, hint: str = "", message: str = "") -> None:
        """Keep the layer and the advice."""
        text = message or f"{feature} cannot be enforced on this system"
        super().__init__(text)
        self.errno = _errno.ENOTSUP
        self.strerror = text
        self.feature = feature
        self.hint = hint

    def __str__(self) -> str:
        """Sentence and advice."""
        return f"{self.message} (hint: {self.hint})" if self.hint else self.message

    def _keywords(self) -> dict[str, Any]:
        return {"feature": self.feature, "hint": self.hint, "message": self.message}


class SetupError(SandboxError, OSError):
    """Starting a child failed before any submitted code ran: the sandbox's fault, never the code's.

    ``step`` names the step ("landlock", "exec", "scratch", …), ``errno`` is the system's error
    number.
    """

    step: str

    def __init__(self, *, step: str, errno: int = 0, message: str = "") -> None:
        """Keep the step and the errno."""
        text = message or f"the sandbox could not be set up: step {step} failed"
        super().__init__(text)
        self.errno = errno
        self.strerror = text
        self.step = step

    def _keywords(self) -> dict[str, Any]:
        return {"step": self.step, "errno": self.errno, "message": self.message}


class OutcomeError(SandboxError):
    """``Result.check()`` found a verdict other than "accepted"; ``result`` has everything."""

    result: Result

    def __init__(self, message: str = "", *, result: Result) -> None:
        """Keep the result."""
        super().__init__(message or f"the run ended with verdict {result.verdict}")
        self.result = result

    def _keywords(self) -> dict[str, Any]:
        return {"message": self.message, "result": self.result}


class RejectedError(OutcomeError):
    """The guard refused the source and nothing was run; ``report`` says where and why."""

    report: Report

    def __init__(self, message: str = "", *, result: Result, report: Report) -> None:
        """Keep the report beside the result."""
        super().__init__(message, result=result)
        self.report = report

    def _keywords(self) -> dict[str, Any]:
        return {"message": self.message, "result": self.result, "report": self.report}


class SessionError(SandboxError):
    """The session has no child any more; `reset` begins a new one."""


class BranchError(SessionError):
    """The session cannot be branched; the message says why. It lives on unless it says otherwise.

    ``unfit`` is True when it is the session's own state (threads, open files, shared memory).
    """

    def __init__(self, message: str, *, unfit: bool = False) -> None:
        """Keep both."""
        super().__init__(message)
        self.unfit = unfit
