"""Fault injection inside the child and its zygote: our own code up to the submission.

A library is preloaded into the interpreter, and the n-th call of one function fails. Whatever that
is, the result is a clean error or a run that was confined. All n take minutes (CSB_ALL_FAULTS=1);
otherwise each tenth, and the first ones.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from csandbox import _core
from csandbox._errors import SetupError, UnsupportedError
from tests.confined import MODES, mode, request, run_in, spec

SOURCE = Path(__file__).with_name("fault_in_child.c")
COMPILER = shutil.which(os.environ.get("CC", "cc"))
EVERY = os.environ.get("CSB_ALL_FAULTS") is not None
STRIDE = 1 if EVERY else 23
#: Our own code makes this many calls at most; more in a zygote, which forks and reaps as well.
CALLS = {"syscall": 240, "fork": 3, "recvmsg": 6, "sendmsg": 6}
ONLY_WARM = ("fork", "recvmsg", "sendmsg")
SAYS = """
import socket
def tries(what):
    try: what()
    except OSError: return 'refused'
    return 'UNCONFINED'
print(tries(lambda: open('/etc/passwd')), tries(lambda: socket.socket()),
      tries(lambda: open('/proc/self/environ')), flush=True)
"""

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler here")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("faults")
    for part in (folder, *folder.parents[:2]):
        part.chmod(0o755)
    made = folder / "fault.so"
    command = [str(COMPILER), "-shared", "-fPIC", "-O1", str(SOURCE), "-o", str(made), "-ldl"]
    subprocess.run(command, check=True)
    made.chmod(0o755)
    return str(made)


def attempt(library: str, target: str, number: int) -> str:
    """One run with a fault; what came of it."""
    made = spec()
    made["env"] = {
        **made["env"], "LD_PRELOAD": library, "CSB_FAULT": target, "CSB_FAULT_N": str(number),
    }  # fmt: skip
    made["read"] = (*made["read"], library)
    limits = {"startup_s": 10, "wall_s": 20, "cpu_s": 10}
    try:
        result = run_in(_core.Policy(made), request(SAYS, limits=limits))
    except (SetupError, UnsupportedError) as error:
        assert str(error)
        return "error"
    out = result["stdout"].decode()
    assert "UNCONFINED" not in out, (target, number, out)
    if result["verdict"] == "accepted":
        assert out == "refused refused refused\n", (target, number, out)
    return str(result["verdict"])


@pytest.mark.parametrize("target", list(CALLS))
def test_a_call_that_fails_leaves_nothing_unconfined(library: str, target: str) -> None:
    assert mode() in MODES
    if mode() == "fresh" and target in ONLY_WARM:
        pytest.skip("only a zygote calls it")
    came = [
        attempt(library, target, number)
        for number in range(1, CALLS[target] + 1)
        if number < 4 or number % STRIDE == 0
    ]
    # After the submission began a fault is the interpreter's, and may be the program's end.
    assert set(came) <= {"accepted", "error", "internal_error", "runtime_error"}, came
    # A pool asks again, so that only what fails each time is seen by a caller.
    assert target != "syscall" or came.count("accepted") < len(came), "no fault was met"
