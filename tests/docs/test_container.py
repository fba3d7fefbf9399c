"""What docs/how-to/docker.md promises: csandbox works under the refusals of a container.

The filter refuses what the default profiles of Docker and containerd refuse a container without
CAP_SYS_ADMIN, and root has no capability left. Not the container itself: no image, no mounts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
REFUSED = (
    "unshare setns mount umount2 pivot_root keyctl add_key request_key bpf perf_event_open "
    "userfaultfd io_uring_setup io_uring_enter io_uring_register kexec_load open_by_handle_at "
    "fanotify_init quotactl sethostname setdomainname swapon reboot init_module delete_module "
    "move_mount open_tree fsopen"
)
CONTAINER = """
import ctypes, errno, os, sys

lib = ctypes.CDLL("libseccomp.so.2")
class Argument(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int),
                ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]
lib.seccomp_init.restype = ctypes.c_void_p
lib.seccomp_rule_add_array.argtypes = [
    ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.c_void_p]
lib.seccomp_load.argtypes = [ctypes.c_void_p]
context = lib.seccomp_init(ctypes.c_uint32(0x7FFF0000))  # allow

def refuse(name, error, *arguments):
    number = lib.seccomp_syscall_resolve_name(name.encode())
    array = (Argument * len(arguments))(*arguments) if arguments else None
    action = 0x00050000 | error
    assert lib.seccomp_rule_add_array(context, action, number, len(arguments), array) == 0, name

for name in sys.argv[1].split():
    refuse(name, errno.EPERM)
refuse("clone3", errno.ENOSYS)
for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
    refuse("clone", errno.EPERM, Argument(0, 7, flag, flag))  # namespaces; 7: masked, equal
assert lib.seccomp_load(context) == 0
import csandbox, json
runs = [csandbox.run("print(6 * 7)", fresh=fresh) for fresh in (True, False)]
print(json.dumps([[run.verdict, run.stdout, dict(run.isolation)] for run in runs]))
"""


def test_a_container_that_refuses_namespaces(tmp_path: Path) -> None:
    program = tmp_path / "container.py"
    program.write_text(CONTAINER)
    command = [sys.executable, str(program), REFUSED]
    if os.geteuid() == 0:
        command[:0] = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    if "libseccomp.so.2" in done.stderr:
        pytest.skip("the library is not found by its name")
    assert done.returncode == 0, done.stderr
    for verdict, stdout, isolation in json.loads(done.stdout):
        assert (verdict, stdout) == ("accepted", "42\n")
        off = {name for name, state in isolation.items() if not state.startswith("enforced")}
        assert "namespaces" in off and off <= {"namespaces", "cgroup", "mdwe"}
