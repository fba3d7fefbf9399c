r"""Check and run Python code that somebody else wrote, contained by the Linux kernel.

    >>> import csandbox
    >>> csandbox.run("print(6*7)").stdout
    '42\n'

``check`` says what a profile does not allow, and where; ``run`` checks, then runs the program in a
confined child and says how it ended; ``grade`` judges one by tests that it cannot reach, and
``audit_task`` says what such tests are worth; ``probe`` says what this kernel can enforce.
Profiles are objects (``Profile``), limits carry their unit in their name (``Limits(cpu_s=2,
memory_bytes=256 * MiB)``).
"""

from __future__ import annotations

import sys as _sys

if not _sys.platform.startswith("linux"):
    raise ImportError(
        f"csandbox needs Linux (this is {_sys.platform}): it confines code by seccomp and "
        "Landlock, which only Linux has. It works in a Linux container or virtual machine."
    )

try:
    from csandbox import _core
except ImportError as _error:
    if ".so" not in str(_error):
        raise
    raise ImportError(
        f"csandbox's C core cannot be loaded ({_error}); it needs the libraries libseccomp, "
        "libutf8proc and libcbor: on Debian, apt-get install libseccomp2 libutf8proc2 libcbor0.8 "
        "(libutf8proc3 libcbor0.10 on 13)"
    ) from _error
from csandbox._call import CallResult, call
from csandbox._cell import CellError, CellResult
from csandbox._check import check
from csandbox._errors import (
    BranchError,
    OutcomeError,
    ProfileError,
    RejectedError,
    SandboxError,
    SessionError,
    SetupError,
    UnsupportedError,
)
from csandbox._grade import grade
from csandbox._grade_async import agrade
from csandbox._grade_many import agrade_many, grade_many
from csandbox._grade_report import GradeReport, TestResult
from csandbox._grade_tests import (
    Answer,
    Call,
    CallTest,
    CheckerTest,
    InProcessTest,
    PropertyTest,
    RoundTripTest,
    StdioTest,
)
from csandbox._handle import Handle
from csandbox._limits import Limits
from csandbox._load_asserts import Loaded, Unconverted, load_asserts
from csandbox._load_evalplus import load_evalplus
from csandbox._load_folder import load_folder
from csandbox._load_humaneval import Task, load_humaneval
from csandbox._load_io import load_io
from csandbox._load_mbpp import load_mbpp
from csandbox._load_tests import load_tests
from csandbox._many import acall, arun, arun_many, run_many
from csandbox._pool import Pool
from csandbox._probe import Feature, Features, probe
from csandbox._profile import Profile
from csandbox._report import Diagnostic, Report
from csandbox._result import Result, Usage
from csandbox._run import run
from csandbox._session import Session
from csandbox._snapshot import Snapshot
from csandbox._task_audit import audit_task
from csandbox._task_audit_report import AuditReport, Finding
from csandbox._units import GiB, KiB, MiB
from csandbox._value import ValueLimits

__version__: str = _core.build_info()["version"]

__all__ = [
    "Answer",
    "AuditReport",
    "BranchError",
    "Call",
    "CallResult",
    "CallTest",
    "CellError",
    "CellResult",
    "CheckerTest",
    "Diagnostic",
    "Feature",
    "Features",
    "Finding",
    "GiB",
    "GradeReport",
    "Handle",
    "InProcessTest",
    "KiB",
    "Limits",
    "Loaded",
    "MiB",
    "OutcomeError",
    "Pool",
    "Profile",
    "ProfileError",
    "PropertyTest",
    "RejectedError",
    "Report",
    "Result",
    "RoundTripTest",
    "SandboxError",
    "Session",
    "SessionError",
    "SetupError",
    "Snapshot",
    "StdioTest",
    "Task",
    "TestResult",
    "Unconverted",
    "UnsupportedError",
    "Usage",
    "ValueLimits",
    "__version__",
    "acall",
    "agrade",
    "agrade_many",
    "arun",
    "arun_many",
    "audit_task",
    "call",
    "check",
    "grade",
    "grade_many",
    "load_asserts",
    "load_evalplus",
    "load_folder",
    "load_humaneval",
    "load_io",
    "load_mbpp",
    "load_tests",
    "probe",
    "run",
    "run_many",
]

# The modules are private; messages, tracebacks and pickles name the public place.
for _public in (
    Answer, AuditReport, BranchError, Call, CallResult, CallTest, CellError, CellResult,
    CheckerTest, Diagnostic, Feature, Features, Finding, GradeReport, Handle, InProcessTest,
    Limits, Loaded, OutcomeError, Pool, Profile, ProfileError, PropertyTest, RejectedError,
    Report, Result, RoundTripTest, SandboxError, Session, SessionError, SetupError, Snapshot,
    StdioTest, Task, TestResult, Unconverted, UnsupportedError, Usage, ValueLimits, acall,
    agrade, agrade_many, arun,
    arun_many, audit_task, call, check, grade, grade_many, load_asserts, load_evalplus,
    load_folder, load_humaneval, load_io, load_mbpp, load_tests, probe, run, run_many,
):  # fmt: skip
    _public.__module__ = __name__
del _public


def load_ipython_extension(ipython: object) -> None:
    """For ``%load_ext csandbox``: the magics ``%csandbox`` and ``%%csandbox``."""
    from csandbox.jupyter.magic import register

    register(ipython)
