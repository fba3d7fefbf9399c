"""Every default layer is what stops something: taken out alone, its attack succeeds.

Each attack prints EFFECT when it got through, and nothing else does. With all layers on it must
not; with the named layer alone out (``skip_for_tests``, and out of ``require``) it must, or the
test says why that layer cannot be seen alone. A layer that is required but was not entered is
found out by the child's own confirmation, and the submission never begins.
"""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from csandbox import _core
from csandbox._errors import SetupError, UnsupportedError
from tests.confined import (
    ALL_LAYERS,
    EMULATED,
    ROOT,
    confined,
    mode,
    reachable_python,
    request,
    run_in,
    spec,
)

STRANGER = 12345  # a uid that is neither root's, nor the child's, nor the caller's


def effect(source: str, **options: Any) -> bool:
    return "EFFECT" in confined(source, **options)["out"]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that any uid may pass through."""
    made = Path(tempfile.mkdtemp(prefix="layers-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


# ---- one attack a layer -------------------------------------------------------------------------


def test_fds_keeps_the_callers_open_files_out(folder: Path) -> None:
    """Landlock asks at open(2) only: a descriptor that is inherited would be readable."""
    (folder / "secret").write_text("EFFECT")
    with (folder / "secret").open() as file:
        os.set_inheritable(file.fileno(), True)
        source = f"import os\ntry: print(os.pread({file.fileno()}, 9, 0))\nexcept OSError: pass"
        assert not effect(source)
        assert effect(source, without=["fds"])


HOST = """
import sys
from tests.confined import confined, using
print("started", flush=True)
with using(sys.argv[1]):
    confined("import time\\ntime.sleep(60)", without=sys.argv[2:], limits={"wall_s": 60})
"""


def _descendants(pid: int) -> list[int]:
    """Children, and theirs: a run, or a zygote with a run and a spare."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            found += map(int, (task / "children").read_text().split())
        except OSError:
            continue  # a thread that has ended
    return found + [child for parent in found for child in _descendants(parent)]


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _survives_the_caller(*without: str) -> bool:
    """Is any child still there when the caller got SIGKILL?"""
    host = subprocess.Popen(
        [sys.executable, "-c", HOST, mode(), *without],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    try:
        assert host.stdout is not None and host.stdout.readline() == b"started\n"
        deadline = time.monotonic() + (300 if EMULATED else 20)
        found: list[int] = []
        count = 1 if mode() == "fresh" else 3
        while len(found) != count and time.monotonic() < deadline:
            time.sleep(0.6)  # past the probe's child and the start
            found = _descendants(host.pid)
        assert len(found) == count and all(map(_alive, found)), found
    finally:
        host.kill()
        host.communicate()
        for entry in Path(tempfile.gettempdir()).glob("csandbox-*"):
            entry.rmdir()  # a caller that got SIGKILL can not remove its folder
    deadline = time.monotonic() + (1 if without else 5)
    while any(map(_alive, found)) and time.monotonic() < deadline:
        time.sleep(0.02)
    survived = [pid for pid in found if _alive(pid)]
    for pid in survived:
        os.kill(pid, signal.SIGKILL)
    return bool(survived)


def test_session_ends_the_child_with_its_caller() -> None:
    assert not _survives_the_caller()
    assert _survives_the_caller("session")


def test_session_takes_the_child_out_of_the_callers_group() -> None:
    """A signal from the terminal (or to the group) would reach the child, and the reverse."""
    source = f"import os\nprint('EFFECT' if os.getpgrp() == {os.getpgrp()} else 'own')"
    assert not effect(source)
    assert effect(source, without=["session"])


def test_rlimits_stop_a_large_file() -> None:
    source = (
        "with open('f', 'wb', 0) as f:\n"
        "    for _ in range(4): f.write(bytes(1 << 20))\n"
        "print('EFFECT')"
    )
    limits = {"file_bytes": 1 << 20}
    assert not effect(source, limits=limits)
    assert effect(source, limits=limits, without=["rlimits"])


def test_rlimits_stop_many_open_files() -> None:
    source = "import os\nfor _ in range(40): os.dup(0)\nprint('EFFECT')"
    assert not effect(source, limits={"open_files": 32})
    assert effect(source, limits={"open_files": 32}, without=["rlimits"])


def test_no_new_privs_cannot_be_taken_out_alone() -> None:
    """Without it a filter needs CAP_SYS_ADMIN (seccomp(2)), which is gone by then, and file
    rules do too (landlock_restrict_self(2)): the start fails and nothing runs."""
    with pytest.raises(SetupError) as caught:
        confined("print('EFFECT')", without=["no_new_privs"])
    assert caught.value.step in ("seccomp", "landlock")


def test_no_new_privs_stops_a_setuid_program(folder: Path) -> None:
    """The layer's own attack, with those taken out that can not be had without it."""
    if not ROOT or reachable_python() is None:
        pytest.skip("only root can make a setuid program that belongs to somebody else")
    program, secret = folder / "reader", folder / "secret"
    shutil.copyfile(os.path.realpath("/bin/cat"), program)
    os.chown(program, STRANGER, STRANGER)  # chown clears the bit, so it is set after
    program.chmod(0o4755)
    secret.write_text("EFFECT")
    secret.chmod(0o400)
    os.chown(secret, STRANGER, STRANGER)
    if os.statvfs(folder).f_flag & os.ST_NOSUID:
        pytest.skip(f"{folder} is mounted nosuid")
    source = f"import os\nos.execv({str(program)!r}, ['reader', {str(secret)!r}])"
    others = ["seccomp", "seccomp_notify", "landlock"]
    python = reachable_python()
    assert not effect(source, without=others, python=python)
    assert effect(source, without=[*others, "no_new_privs"], python=python)


def test_privileges_leave_no_capability(folder: Path) -> None:
    """A stranger's file that the file rules let through: only CAP_DAC_OVERRIDE opens it."""
    if not ROOT:
        pytest.skip("the caller has no privilege that could be taken away")
    secret = folder / "secret"
    secret.write_text("EFFECT")
    secret.chmod(0o400)
    os.chown(secret, STRANGER, STRANGER)
    source = f"try: print(open({str(secret)!r}).read())\nexcept PermissionError: pass"
    for python in {None, reachable_python()}:  # uid 0 kept, and given up
        rules = (*spec(python=python)["read"], str(secret))
        assert not effect(source, python=python, read=rules)
        assert effect(source, python=python, read=rules, without=["privileges"])


def test_landlock_keeps_the_hosts_files_out() -> None:
    source = "try: print('EFFECT', open('/etc/passwd').readline())\nexcept PermissionError: pass"
    assert not effect(source)
    assert effect(source, without=["landlock"])


def test_landlock_keeps_other_runs_folders_out(folder: Path) -> None:
    """`folder` lies where scratch folders are made, as another run's would."""
    folder.chmod(0o777)
    source = f"open({str(folder / 'x')!r}, 'w').close()\nprint('EFFECT')"
    assert not effect(source)
    assert effect(source, without=["landlock"])


def test_seccomp_refuses_a_socket() -> None:
    source = (
        "import socket\n"
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "s.bind(('127.0.0.1', 0))\n"
        "print('EFFECT')"
    )
    assert not effect(source)
    assert effect(source, without=["seccomp", "seccomp_notify"])


def test_seccomp_refuses_a_process() -> None:
    source = (
        "import os\npid = os.fork()\nif not pid: os._exit(0)\nos.waitpid(pid, 0)\nprint('EFFECT')"
    )
    assert not effect(source)
    assert effect(source, without=["seccomp", "seccomp_notify"])


THREADS = """
import threading
go = threading.Event()
threads = [threading.Thread(target=go.wait) for _ in range(12)]
try:
    for thread in threads: thread.start()
    print("EFFECT")
except RuntimeError: pass
go.set()
"""


def test_seccomp_notify_holds_the_thread_cap() -> None:
    assert not effect(THREADS, limits={"threads": 4})
    assert not effect(THREADS, limits={"threads": 12})  # with the main one they are 13
    assert effect(THREADS, limits={"threads": 13})
    # where there is a control group, its pids.max holds it, too
    assert effect(THREADS, limits={"threads": 4}, without=["seccomp_notify", "cgroup"])


def test_seccomp_notify_is_what_counts_denials() -> None:
    source = "import socket\ntry: socket.socket()\nexcept PermissionError: print('refused')"
    seen = confined(source)
    assert [v["count"] for v in seen["violations"] if v["syscall"] == "socket"] == [1]
    unseen = confined(source, without=["seccomp_notify"])
    assert (unseen["out"], unseen["violations"]) == ("refused\n", [])
    assert unseen["isolation"]["seccomp_notify"] != "enforced"


here = {name: bool(data["available"]) for name, data in _core.probe().items()}


@pytest.mark.skipif(not here["namespaces"], reason="no namespaces can be made here")
def test_namespaces_are_not_the_hosts(folder: Path) -> None:
    """Seen with stat(2), which nothing denies: each namespace is another one than ours."""
    kinds = ("user", "net", "ipc", "uts", "cgroup")
    ours = {kind: os.stat(f"/proc/self/ns/{kind}").st_ino for kind in kinds}
    source = (
        "import os\n"
        f"for kind, ino in {ours!r}.items():\n"
        "    if os.stat(f'/proc/self/ns/{kind}').st_ino == ino: print('EFFECT', kind)"
    )
    assert not effect(source)
    shared = confined(source, without=["namespaces"])["out"].split()
    assert set(shared) - {"EFFECT"} == set(kinds)


@pytest.mark.skipif(not here["namespaces"], reason="no namespaces can be made here")
def test_namespaces_stop_what_the_filter_would_have_stopped() -> None:
    """With the filter gone: the host's abstract sockets, its name, its System V memory."""
    source = (
        "import ctypes, os, socket\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "print('name' if os.uname().nodename == {host!r} else '-')\n"
        "print('memory' if libc.shmget({key}, 0, 0) >= 0 else '-')\n"
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "try: print('net', s.connect(('127.0.0.1', 9)))\n"
        "except OSError: print('-')\n"
    )
    libc = ctypes.CDLL(None, use_errno=True)
    key = 0x43530000 | (os.getpid() & 0xFFFF)
    segment = libc.shmget(key, 4096, 0o1666)
    assert segment >= 0
    try:
        source = source.format(host=os.uname().nodename, key=key)
        gone = ["seccomp", "seccomp_notify", "landlock"]
        assert confined(source, without=gone)["out"].split() == ["-", "-", "-"]
        open_to = confined(source, without=[*gone, "namespaces"])["out"].split()
        assert open_to == ["name", "memory", "net", "None"]
    finally:
        libc.shmctl(segment, 0, None)


@pytest.mark.skipif(not here["mdwe"], reason="this kernel has no PR_SET_MDWE")
def test_mdwe_refuses_new_code() -> None:
    """A page that was writable must not become executable."""
    source = (
        "import ctypes, mmap\n"
        "libc = ctypes.CDLL(None)\n"
        "libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)\n"
        "page = mmap.mmap(-1, 4096)\n"
        "at = ctypes.addressof(ctypes.c_char.from_buffer(page))\n"
        "if libc.mprotect(at, 4096, mmap.PROT_READ | mmap.PROT_EXEC) == 0: print('EFFECT')"
    )
    assert not effect(source)
    assert effect(source, without=["mdwe"])


# ---- required but not entered -------------------------------------------------------------------

#: CPU seconds that the submission would take; a start takes less.
BURN_S = 60 if EMULATED else 2
BURN = f"import time\nwhile time.process_time() < {BURN_S}: pass\nprint('EFFECT')"


@pytest.mark.parametrize("layer", ALL_LAYERS)
def test_a_required_layer_that_is_missing_stops_the_run(layer: str) -> None:
    if layer == "privileges" and not ROOT:
        pytest.skip("a caller without privileges has this layer whether it is entered or not")
    try:
        policy = _core.Policy(spec(without=[layer], still_required=True))
    except UnsupportedError as error:  # a kernel that has no such layer
        assert error.feature == layer and not here[layer]
        return
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Only a descriptor that exec would hand on can be missed; a clean host has none.
    stray, other = os.pipe()
    os.set_inheritable(stray, True)
    try:
        with pytest.raises((UnsupportedError, SetupError)) as caught:
            run_in(policy, request(BURN))
    finally:
        os.close(stray)
        os.close(other)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert used < BURN_S / 2, f"the submission ran: {used} s of CPU time"
    if layer == "no_new_privs":
        assert isinstance(caught.value, SetupError)  # test_no_new_privs_cannot_be_taken_out_alone
    else:
        assert isinstance(caught.value, UnsupportedError)
        named = {layer} | ({"seccomp_notify"} if layer == "seccomp" else set())
        assert caught.value.feature in named
        assert caught.value.hint


def test_the_layers_named_here_are_those_of_a_result() -> None:
    result = confined("print(1)")
    assert set(result["isolation"]) == set(ALL_LAYERS)
    features = _core.probe()
    for name, state in result["isolation"].items():
        assert state.startswith("enforced" if features[name]["available"] else "off: "), name
