"""A caller may be without some of root's rights: those that it has are taken from the child."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.confined import ROOT

CAP_CHOWN, CAP_NET_RAW = 0, 13

CODE = """
import ctypes, pathlib, sys
import csandbox

PR_CAPBSET_DROP = 24
for capability in map(int, sys.argv[1:]):
    assert ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0

def line(pid, key):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return next(row.split()[1] for row in text.splitlines() if row.startswith(key))

def children(parent):
    pids = [int(p.name) for p in pathlib.Path("/proc").iterdir() if p.name.isdigit()]
    return [pid for pid in pids if line(pid, "PPid:") == str(parent)]

assert int(line("self", "CapBnd:"), 16) != 0
with csandbox.Pool("minimal", workers=1, spares=1, namespaces="off") as pool:
    assert pool.wait_ready()
    zygote = pool.stats()["zygote_pid"]
    for pid in [zygote, *children(zygote)]:
        print(*(int(line(pid, key), 16) for key in ("CapBnd:", "CapPrm:", "CapEff:", "CapInh:")))
"""


@pytest.mark.skipif(not ROOT, reason="only root has rights to lose")
@pytest.mark.parametrize(
    "without", [(), (CAP_CHOWN,), (CAP_NET_RAW,)], ids=["none", "chown", "net_raw"]
)
def test_nothing_is_left_of_it(without: tuple[int, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE, *map(str, without)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == ["0 0 0 0"] * 2, done.stdout + done.stderr
