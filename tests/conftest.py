"""What every test is held to: nothing left behind.

Processes, threads, descriptors and scratch folders are compared before and after each test. The
scratch folders of all runs lie in one private folder, so other programs' files do not count.
"""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

#: Every test of these folders runs in both modes, and those marked "both_modes".
_IN_BOTH_MODES = ("kernel", "escape")
_BASE = Path(tempfile.mkdtemp(prefix="csandbox-tests-"))
_BASE.chmod(0o755)  # a child that was started by root runs as nobody and must pass through
os.environ["TMPDIR"] = str(_BASE)
tempfile.tempdir = None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Each test of confinement twice: an interpreter of its own, and a spare child of a pool.

    ``modeless``: it runs no child, or chooses by itself. ``one_mode(name, why)``: it means nothing
    in the other, which is skipped with the reason.
    """
    item = metafunc.definition
    folder = item.path.parent.name
    chosen = folder in _IN_BOTH_MODES or item.get_closest_marker("both_modes") is not None
    if not chosen or item.get_closest_marker("modeless") is not None:
        return
    only = item.get_closest_marker("one_mode")
    modes = []
    for name in ("fresh", "warm"):
        skip = only is not None and only.args[0] != name
        why = [pytest.mark.skip(reason=only.args[1])] if only is not None and skip else []
        modes.append(pytest.param(name, marks=why))
    metafunc.parametrize("_mode", modes, indirect=True)


@pytest.fixture(autouse=True)  # or pytest would leave it out of tests that are parametrized
def _mode(request: pytest.FixtureRequest, nothing_left_behind: None) -> Iterator[None]:
    """Inside of the fixture that looks for what is left, so that pools are ended before."""
    chosen = getattr(request, "param", None)
    if chosen is None:
        yield
        return
    from tests.confined import mode, using

    with using(chosen):
        assert mode() == chosen
        yield


def pytest_unconfigure() -> None:
    """Remove the private folder."""
    shutil.rmtree(_BASE, ignore_errors=True)


def children() -> set[int]:
    """Process ids of our children, zombies included."""
    found = set()
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = Path("/proc", entry, "stat").read_text()
            except OSError:
                continue  # gone meanwhile
            if int(stat.rpartition(")")[2].split()[1]) == os.getpid():
                found.add(int(entry))
    return found


def descriptors() -> dict[int, str]:
    """Open descriptors and what they are."""
    found = {}
    for entry in os.listdir("/proc/self/fd"):
        try:
            found[int(entry)] = os.readlink(f"/proc/self/fd/{entry}")
        except OSError:
            continue  # the listing's own
    return found


def scratch() -> set[str]:
    """What lies in the folder in which scratch folders are made."""
    return {name for name in os.listdir(_BASE) if not name.startswith("pytest-of-")}


def _left(before_fds: dict[int, str], before: dict[str, set[object]]) -> list[str]:
    left = []
    now = descriptors()
    opened = [fd for fd, target in now.items() if before_fds.get(fd) != target]
    left += [f"descriptor {fd} ({now[fd]})" for fd in opened]
    left += [f"child process {pid}" for pid in children() - before["children"]]
    left += [f"scratch {name}" for name in scratch() - before["scratch"]]
    left += [f"thread {t.name}" for t in set(threading.enumerate()) - before["threads"]]
    return left


@pytest.fixture(autouse=True)
def nothing_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail the test that leaves a process, a thread, a descriptor or a scratch folder."""
    fds = descriptors()
    before: dict[str, set[object]] = {
        "children": set(children()),
        "scratch": set(scratch()),
        "threads": set(threading.enumerate()),
    }
    yield
    left = _left(fds, before)
    if left:
        # Pools and compiled policies are kept on purpose; ending and freeing them must close all.
        from csandbox import _default_pool, _policy

        _default_pool.close_default_pools()
        _policy.clear_caches()
        request.node.funcargs.clear()  # fixtures that have ended, and what they gave
        gc.collect()
        # A killed process is reaped, and a large folder removed, in the background.
        deadline = time.monotonic() + 15.0
        while (left := _left(fds, before)) and time.monotonic() < deadline:
            time.sleep(0.01)
    if left:
        pytest.fail("the test left behind: " + ", ".join(left))
