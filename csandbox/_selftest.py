"""Try forbidden things in a real child and see what held.

Each attempt is a small program that prints EFFECT when it got what it must not get. They run under
the profile ``open``: no guard in front, so what holds is the kernel's. Effects that can be seen
from outside (a file written, a process gone) are looked for there too.

An attempt that succeeds must do no harm: the self-test is for systems where a layer may be missing.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from csandbox._limits import Limits
from csandbox._result import Result
from csandbox._run import run
from csandbox._units import MiB

EFFECT = "EFFECT"
_MARKER = "csandbox-self-test-secret"
_HIGH_DESCRIPTOR = 50


@dataclass(frozen=True)
class Attempt:
    """One forbidden thing: what it is, and the body that prints EFFECT when it worked.

    ``limit`` is the verdict with which the run must end when only a limit can stop it.
    """

    name: str
    body: str
    limit: str | None = None


@dataclass(frozen=True)
class Finding:
    """How an attempt went: whether it was stopped, and by what."""

    name: str
    held: bool
    how: str
    result: Result

    def to_dict(self) -> dict[str, object]:
        """Plain data for JSON."""
        return {
            "name": self.name,
            "held": self.held,
            "how": self.how,
            "verdict": self.result.verdict,
        }


# A raw system call by number would tie the table to an architecture; libc's wrappers do not.
# EPERM and its kin mean that the call was refused; any other error means that the kernel looked at
# the arguments, which are chosen so that it then finds nothing to do.
_C = """import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
def attempt(value):
    code = ctypes.get_errno()
    if value < 0 and code in (errno.EPERM, errno.EACCES, errno.ENOSYS):
        raise PermissionError(code, os.strerror(code))
    print('EFFECT')
"""

# Each attempt must be harmless when nothing at all confines it and it runs as root: what it changes
# is its own process, a file or process made for the test, or nothing because the target does not
# exist; what would go on for ever ends by itself, well above the limit that should have ended it.
ATTEMPTS = (
    Attempt("read a file of the host", "open('/etc/passwd').read(1)\nprint('EFFECT')"),
    Attempt("list the root folder", "import os\nos.listdir('/')\nprint('EFFECT')"),
    Attempt("write outside the scratch folder", "open(TARGET, 'w').write('x')\nprint('EFFECT')"),
    Attempt("change a file's mode outside", "import os\nos.chmod(VICTIM_FILE, 0o777)"),
    Attempt(
        "read the caller's environment",
        "open(f'/proc/{PARENT}/environ').read()\nprint('EFFECT')",
    ),
    Attempt("read the caller's memory", "open(f'/proc/{PARENT}/mem', 'rb')\nprint('EFFECT')"),
    Attempt(
        "inherit the caller's environment",
        "import os\nif MARKER in os.environ.values(): print('EFFECT')",
    ),
    Attempt(
        "use a descriptor of the caller",
        "import os\nif MARKER.encode() in os.pread(FD, 64, 0): print('EFFECT')",
    ),
    Attempt(
        "open an internet socket",
        "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_STREAM)\nprint('EFFECT')",
    ),
    Attempt("open a unix socket", "import socket\nsocket.socket(socket.AF_UNIX)\nprint('EFFECT')"),
    Attempt("fork", "import os\nif os.fork() == 0: os._exit(0)\nprint('EFFECT')"),
    Attempt("start a program", "import os\nos.execv('/bin/sh', ['sh', '-c', 'echo EFFECT'])"),
    Attempt("signal a process of the host", "import os\nos.kill(VICTIM, 0)\nprint('EFFECT')"),
    Attempt("trace a process of the host", _C + "attempt(libc.ptrace(16, VICTIM, 0, 0))"),
    Attempt("make a namespace", _C + "attempt(libc.unshare(0x10000000))"),
    Attempt("mount", _C + "attempt(libc.mount(b'x', b'/no/such/folder', b'x', 0, None))"),
    Attempt("become root", "import os\nos.setuid(0)\nprint('EFFECT')"),
    Attempt(
        "raise its own limits",
        "import resource\n"
        "soft, hard = resource.getrlimit(resource.RLIMIT_CPU)\n"
        "if hard >= 0: resource.setrlimit(resource.RLIMIT_CPU, (hard + 9, hard + 9))\n"
        "print('EFFECT')",
    ),
    Attempt(
        "loop for ever",
        "import time\nend = time.monotonic() + 10\nwhile time.monotonic() < end: pass",
        "time_limit",
    ),
    Attempt("sleep for ever", "import time\ntime.sleep(10)", "time_limit"),
    Attempt("eat memory", "x = [bytearray(1 << 20) for _ in range(320)]", "memory_limit"),
    Attempt("flood the output", "for _ in range(512): print('x' * 65536)", "output_limit"),
)

_LIMITS = Limits(cpu_s=0.5, wall_s=2.0, memory_bytes=128 * MiB, output_bytes=MiB)


def _how(result: Result) -> str:
    """What stopped it, in one phrase."""
    if result.limit_hit is not None:
        return f"the {result.limit_hit} limit"
    if result.violations:
        names = ", ".join(sorted({str(v.get("syscall", "?")) for v in result.violations}))
        return f"seccomp refused {names}"
    last = result.stderr.strip().splitlines()[-1:] or [result.verdict]
    if "PermissionError" in last[0]:
        return f"landlock or privileges: {last[0]}"
    return last[0] if result.verdict != "accepted" else "nothing to see from inside"


def _judge(attempt: Attempt, result: Result, reached: bool) -> Finding:
    effect = reached or EFFECT in result.stdout
    if result.verdict == "internal_error":
        return Finding(attempt.name, False, f"not tried: {result.error}", result)
    if attempt.limit is not None:
        held = result.verdict == attempt.limit and not effect
        return Finding(attempt.name, held, _how(result) if held else result.summary(), result)
    return Finding(attempt.name, not effect, "it worked" if effect else _how(result), result)


def self_test(
    attempts: Iterable[Attempt] = ATTEMPTS, allow_degraded: Iterable[str] = ()
) -> Iterator[Finding]:
    """Run every attempt, one after the other, and say how each went.

    Takes some seconds, because two attempts end at a time limit. Leaves nothing behind. Raises
    UnsupportedError or SetupError when no child can be started at all.
    """
    degraded = tuple(allow_degraded)
    with tempfile.TemporaryDirectory(prefix="csandbox-self-test-") as folder:
        os.chmod(folder, 0o777)  # nothing but the sandbox may be what keeps the child out
        target = Path(folder, "written")
        victim_file = Path(folder, "victim")
        victim_file.write_text(_MARKER)
        os.chmod(victim_file, 0o666)
        victim = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"],
            stdin=subprocess.DEVNULL,
        )
        opened = os.open(victim_file, os.O_RDONLY)
        # Inheritable, and a number that the child's own descriptors do not reach.
        descriptor = fcntl.fcntl(opened, fcntl.F_DUPFD, _HIGH_DESCRIPTOR)
        os.close(opened)
        before = os.environ.get("CSANDBOX_SELF_TEST")
        os.environ["CSANDBOX_SELF_TEST"] = _MARKER
        try:
            head = (
                f"TARGET, VICTIM_FILE, FD = {str(target)!r}, {str(victim_file)!r}, {descriptor}\n"
                f"PARENT, VICTIM, MARKER = {os.getpid()}, {victim.pid}, {_MARKER!r}\n"
            )
            for attempt in attempts:
                result = run(
                    head + attempt.body,
                    profile="open",
                    limits=_LIMITS,
                    allow_degraded=degraded,
                    filename="self-test.py",
                )
                reached = (
                    target.exists()
                    or victim.poll() is not None
                    or victim_file.stat().st_mode & 0o777 != 0o666
                )
                yield _judge(attempt, result, reached)
                target.unlink(missing_ok=True)
                os.chmod(victim_file, 0o666)
        finally:
            if before is None:
                os.environ.pop("CSANDBOX_SELF_TEST", None)
            else:
                os.environ["CSANDBOX_SELF_TEST"] = before
            os.close(descriptor)
            victim.kill()
            victim.wait()
