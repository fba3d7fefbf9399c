"""What a program leaves in its working folder is gone when its host has no more to do with it.

Folders are in memory here, where there is such a place: 10^5 files take a busy disk minutes to
make, and seconds to remove.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import csandbox
from csandbox._policy import _is_in_memory
from tests.confined import EMULATED, confined, mode

FILES = 2_000 if EMULATED else 100_000
DEEP = 1000
GONE_S = 120.0


@pytest.fixture
def base() -> Iterator[Path]:
    """A folder of the test's own for scratch folders, in memory if that can be had."""
    place = "/dev/shm" if _is_in_memory("/dev/shm") else None
    made = Path(tempfile.mkdtemp(prefix="left-", dir=place)).resolve()
    made.chmod(0o711 if os.geteuid() == 0 else 0o700)
    try:
        yield made
    finally:
        shutil.rmtree(made)


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []


def is_gone(base: Path) -> bool:
    """Whether what was left goes, within a time; spares of the warm mode have empty folders."""
    deadline = time.monotonic() + GONE_S
    while any(_names(path) for path in base.glob("csandbox-*")):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


# chmod is only pretended, so a mode is given when something is made.
MANY = f"""
import os
made = 0
for folder in range(10):
    os.mkdir(str(folder))
    at = os.open(str(folder), os.O_RDONLY)
    for name in range({FILES} // 10):
        os.close(os.open(str(name), os.O_CREAT | os.O_WRONLY, 0, dir_fd=at))
        made += 1
    os.close(at)
os.mkdir("closed")
os.mkdir("closed/in", 0)
os.mkdir("no bits", 0)
os.mkdir("only write", 0o300)
os.close(os.open("only write/file", os.O_CREAT | os.O_WRONLY, 0))
try: os.symlink(".", "loop")
except PermissionError: print("no link")
for depth in range({DEEP}):
    os.mkdir("d")
    os.chdir("d")
print(made)
"""


def test_many_files_deep_folders_and_modes_that_keep_everybody_out(base: Path) -> None:
    """More than the limit that a profile has for files; so that the sum cannot pass, small ones."""
    limits = {
        "files": FILES + 2 * DEEP,
        "file_bytes": 4096,
        "disk_bytes": 1 << 31,
        "cpu_s": 120,
        "wall_s": 300,
    }
    result = confined(MANY, limits=limits, scratch_base=str(base))
    assert (result["verdict"], result["out"].split("\n")[:2]) == (
        "accepted",
        ["no link", str(FILES)],
    ), result["err"]
    # The next run does not wait for the removal.
    assert confined("print(1)", scratch_base=str(base))["out"] == "1\n"
    assert is_gone(base)


SPARSE = """
import os
for name in range(20):
    at = os.open(str(name), os.O_CREAT | os.O_RDWR, 0)
    os.ftruncate(at, 1 << 40)
    if name % 2:
        os.unlink(str(name))
print(os.lstat("0").st_size)
"""


def test_sparse_files_of_a_terabyte(base: Path) -> None:
    """They take no space, so the limit of disk space has nothing to say."""
    result = confined(SPARSE, limits={"file_bytes": 1 << 40}, scratch_base=str(base))
    if result["verdict"] == "runtime_error" and "File too large" in result["err"]:
        pytest.skip("this file system has no files of that size")
    assert (result["verdict"], result["out"]) == ("accepted", f"{1 << 40}\n"), result["err"]
    assert is_gone(base)


@pytest.mark.one_mode("warm", "sessions are spare children of a pool")
def test_what_a_session_leaves(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(base))
    monkeypatch.setattr(tempfile, "tempdir", None)
    made = f"import os\nfor n in range({FILES // 50}): os.close(os.open(f'{{n}}', os.O_CREAT, 0))"
    deep = f"for _ in range({DEEP}):\n    os.mkdir('d', 0o700)\n    os.chdir('d')"
    limits = {"files": FILES + 2 * DEEP, "cpu_s": 60, "wall_s": 200}
    limits |= {"startup_s": 300, "file_bytes": 4096, "disk_bytes": 1 << 31}
    with csandbox.Session("open", limits=limits) as session:
        assert session.run(made).ok
        with session.fork() as branch:
            assert branch.run(deep).ok
            assert session.run(deep).ok
    assert is_gone(base)


HOST = """
import csandbox
source = "import os\\nfor n in range(COUNT): os.close(os.open(str(n), os.O_CREAT, 0))"
limits = {"files": COUNT, "file_bytes": 4096, "disk_bytes": 1 << 31, "cpu_s": 120, "wall_s": 300}
result = csandbox.run(source, profile="open", limits=limits, fresh=FRESH)
print(result.verdict)
""".replace("COUNT", str(FILES // 4))


def test_a_host_that_ends_meanwhile_leaves_the_rest_to_its_janitor(base: Path) -> None:
    """As any script does that prints its result and is done."""
    code = HOST.replace("FRESH", str(mode() == "fresh"))
    environment = {**os.environ, "TMPDIR": str(base)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "accepted\n"
    deadline = time.monotonic() + GONE_S
    while (left := _names(base)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not left
