r"""Check and run Python code that somebody else wrote, contained by the Linux kernel.

    >>> import csandbox
    >>> csandbox.run("print(6*7)").stdout
    '42\n'

``check`` says what a profile does not allow, and where; ``run`` checks, then runs the program in a
confined child and says how it ended; ``probe`` says what this kernel can enforce. Profiles are
objects (``Profile``), limits carry their unit in their name (``Limits(cpu_s=2, memory_bytes=256 *
MiB)``).
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
from csandbox._check import check
from csandbox._errors import (
    OutcomeError,
    ProfileError,
    RejectedError,
    SandboxError,
    SetupError,
    UnsupportedError,
)
from csandbox._limits import Limits
from csandbox._probe import Feature, Features, probe
from csandbox._profile import Profile
from csandbox._report import Diagnostic, Report
from csandbox._result import Result, Usage
from csandbox._run import run
from csandbox._units import GiB, KiB, MiB
from csandbox._value import ValueLimits

__version__: str = _core.build_info()["version"]

__all__ = [
    "CallResult",
    "Diagnostic",
    "Feature",
    "Features",
    "GiB",
    "KiB",
    "Limits",
    "MiB",
    "OutcomeError",
    "Profile",
    "ProfileError",
    "RejectedError",
    "Report",
    "Result",
    "SandboxError",
    "SetupError",
    "UnsupportedError",
    "Usage",
    "ValueLimits",
    "__version__",
    "call",
    "check",
    "probe",
    "run",
]

# The modules are private; messages, tracebacks and pickles name the public place.
for _public in (
    CallResult, ValueLimits, call,
    Diagnostic, Feature, Features, Limits, OutcomeError, Profile, ProfileError, RejectedError,
    Report, Result, SandboxError, SetupError, UnsupportedError, Usage, check, probe, run,
):  # fmt: skip
    _public.__module__ = __name__
del _public
