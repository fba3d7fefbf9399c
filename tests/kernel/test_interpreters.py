"""The layers do not depend on which CPython runs below them: every version that is found here."""

from __future__ import annotations

import pytest

from csandbox import _core
from tests.confined import ALL_LAYERS, confined, pythons
from tests.kernel.test_syscalls import ALLOWED, ARGUMENTS, NEVER, attempt, known, wrong

PROGRAM = """
import sys, threading
def tried(what):
    try: what()
    except OSError as error: return error.errno
    return "EFFECT"
import os, socket
thread = threading.Thread(target=int)
thread.start()
thread.join()
open("own", "w").close()
print(sys.version_info[:2], tried(lambda: open("/etc/passwd")), tried(socket.socket),
      tried(os.fork), tried(lambda: os.execv(sys.executable, ["x"])), sep=";")
"""


@pytest.mark.parametrize("python", pythons())
def test_every_layer_with_each_interpreter(python: str) -> None:
    result = confined(PROGRAM, python=python)
    assert result["verdict"] == "accepted", result["err"]
    version, *answers = result["out"].strip().split(";")
    assert version.startswith("(3, ")
    assert answers == ["13", "1", "1", "1"]
    assert set(result["isolation"]) == set(ALL_LAYERS)
    here = _core.probe()
    for name, state in result["isolation"].items():
        assert state.startswith("enforced" if here[name]["available"] else "off: "), name


@pytest.mark.parametrize("python", pythons())
def test_the_tables_with_each_interpreter(python: str) -> None:
    rows = known([*NEVER, *ARGUMENTS, *ALLOWED])
    assert not wrong(rows, attempt(rows, sets=("core", "read-files"), python=python))
