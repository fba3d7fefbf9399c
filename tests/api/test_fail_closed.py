"""What cannot be known or enforced is an error or a refusal, never a verdict on the code."""

from __future__ import annotations

import glob
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
from unittest import mock

import pytest

import csandbox
from csandbox import _core

# The dynamic loader prints its help and exits before the interpreter has started.
NEVER_STARTS = {"LD_DEBUG": "help"}


def _fork_until(stop: threading.Event) -> None:
    """Children that hold copies of every descriptor for a moment, as multiprocessing's do."""
    while not stop.is_set():
        pid = os.fork()
        if pid == 0:
            time.sleep(0.02)
            os._exit(0)
        os.waitpid(pid, 0)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_an_interpreter_that_never_was_ready_is_no_verdict() -> None:
    stop = threading.Event()
    forker = threading.Thread(target=_fork_until, args=(stop,))
    forker.start()
    try:
        for _ in range(12):
            with pytest.raises(csandbox.SetupError):
                csandbox.run("raise SystemExit(3)", env=NEVER_STARTS, fresh=True)
    finally:
        stop.set()
        forker.join()


def test_page_tables_count_as_memory() -> None:
    source = (
        "import mmap\n"
        "m = mmap.mmap(-1, 1 << 39, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ)\n"
        "for at in range(0, 1 << 39, 1 << 21): m[at]\n"
        "print('done')\n"
    )
    limits = csandbox.Limits(memory_bytes=64 << 20, cpu_s=8)
    result = csandbox.run(source, profile="open", limits=limits)
    assert (result.verdict, result.limit_hit) == ("memory_limit", "memory")
    assert "done" not in result.stdout


def test_files_are_counted_and_their_removal_does_not_hold_the_caller() -> None:
    source = (
        "import os\nmade = 0\ntry:\n    while True:\n        os.mkdir(f'd{made}'); made += 1\n"
        "except OSError as error:\n    print(made, error.strerror)\n"
    )
    limits = csandbox.Limits(cpu_s=20, wall_s=30)
    start = time.monotonic()
    result = csandbox.run(source, profile="compute", limits=limits)
    spent = time.monotonic() - start - result.usage.wall_s - result.usage.startup_s
    assert result.stdout == "4096 Disk quota exceeded\n"
    assert spent < 2, "removing the folders belongs to a thread"
    deadline = time.monotonic() + 120
    while glob.glob(os.path.join(tempfile.gettempdir(), "csandbox-*")):
        assert time.monotonic() < deadline, "the thread removes them"
        time.sleep(0.05)


def test_confirm_never_returns_the_first_opinion_alone() -> None:
    name = "_" * 30_000
    source = f"class {name}:\n" + "    def f(self): self.__x\n" * 120
    report = csandbox.check(source, profile="open", confirm=True)
    confirmed = csandbox.run(source, profile="open").verdict
    assert report.ok == (confirmed == "accepted")


def test_a_policy_is_not_what_claims_to_be_one() -> None:
    claims = mock.Mock(spec=_core.Policy)
    with pytest.raises(TypeError, match="Policy"):
        _core.run(claims, {})


def test_checked_findings_serve_many_runs_and_take_nothing_from_one_to_the_next() -> None:
    from csandbox._check import check_bytes
    from csandbox._confirm import confirmed
    from csandbox._profile import as_profile

    profile = as_profile("open")
    report, text, checked = check_bytes(b"print(1)", profile, "x.py")
    for _ in range(2):
        assert confirmed(report, text, checked, profile).ok
    unseen = struct.pack("=II", 1, 6) + b"hidden"  # a name that CPython would have compiled
    for _ in range(2):
        assert [found["code"] for found in _core.compare(checked, unseen)] == ["CSB010"]
    assert confirmed(report, text, checked, profile).ok
    profile = as_profile("compute")
    warned = check_bytes(b"while True:\n    pass\n", profile, "x.py")
    assert [found.code for found in warned[0]] == ["CSB401"]
    for _ in range(2):
        assert [found.code for found in confirmed(*warned, profile)] == ["CSB401"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root drops its uid")
@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare(1) is not installed")
def test_root_of_a_user_namespace_with_one_user_can_run() -> None:
    code = "import csandbox; print(csandbox.run('print(6*7)').isolation['privileges'])"
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
    )
    if "unshare" in done.stderr and done.returncode != 0:
        pytest.skip(f"no user namespaces here: {done.stderr.strip()}")
    assert done.stdout.startswith("enforced ("), done.stderr
