"""Where scratch folders are made: in memory when nobody chose a place and they are small."""

import os
import subprocess
import sys
import threading
import time

import pytest

import csandbox
from csandbox import GiB, MiB, _policy

CODE = """
import csandbox, sys
for profile, limits in (("contest", None), ("compute", {"disk_bytes": 1 << 20}),
                        ("compute", {"disk_bytes": 1 << 40})):
    result = csandbox.run("import os; print(os.getcwd())", profile=profile, limits=limits)
    print(result.stdout.rpartition("/")[0], result.verdict)
"""


def places(**env):
    clean = {k: v for k, v in os.environ.items() if k not in ("TMPDIR", "TEMP", "TMP")}
    done = subprocess.run(
        [sys.executable, "-c", CODE], env={**clean, **env}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.skipif(not _policy._is_in_memory("/dev/shm"), reason="/dev/shm is no tmpfs here")
def test_small_folders_are_in_memory_when_nobody_chose():
    assert places() == ["/dev/shm accepted", "/dev/shm accepted", "/tmp accepted"]


def test_a_chosen_place_is_kept(tmp_path):
    tmp_path.chmod(0o755)
    assert places(TMPDIR=os.environ["TMPDIR"]) == [f"{os.environ['TMPDIR']} accepted"] * 3


@pytest.mark.parametrize(
    ("disk", "memory", "fits"),
    [(MiB, 64 * MiB, True), (65 * MiB, 64 * MiB, False), (1 << 50, 1 << 51, False)],
)
def test_what_fits(monkeypatch, disk, memory, fits):
    free = os.statvfs_result((4096, 4096, 1 << 20, 1 << 20, 1 << 20, 0, 0, 0, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _: free)  # 4 GiB: a run's share is 256 MiB
    assert _policy._fits_in_memory({"disk_bytes": disk, "memory_bytes": memory}) is fits
    assert _policy._fits_in_memory({"disk_bytes": 256 * MiB, "memory_bytes": GiB})
    assert not _policy._fits_in_memory({"disk_bytes": 257 * MiB, "memory_bytes": GiB})


def test_a_folder_of_another_name_or_in_use_is_not_swept(tmp_path):
    base = os.environ["TMPDIR"]
    kept = [
        os.path.join(base, name)
        for name in ("csandbox-0123", "csandbox-0123456789abcdeX", "csandbox-0123456789abcdef0")
    ]
    stale = os.path.join(base, "csandbox-0123456789abcdef")
    for path in (*kept, stale):
        os.makedirs(os.path.join(path, "deep", "er"))
    try:
        _policy.clear_caches()
        source = "import os, time\ntime.sleep(0.5)\nprint(os.listdir())"
        results = []
        worker = threading.Thread(
            target=lambda: results.append(csandbox.run(source, files={"a": "x"}, fresh=True))
        )
        worker.start()
        time.sleep(0.3)
        _policy.clear_caches()
        csandbox.run("pass", profile="contest", fresh=True)
        worker.join()
        assert results[0].stdout == "['a']\n"
        assert not os.path.exists(stale)
        assert all(os.path.isdir(path) for path in kept)
    finally:
        for path in (*kept, stale):
            subprocess.run(["rm", "-rf", path], check=True)
