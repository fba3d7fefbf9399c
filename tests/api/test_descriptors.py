"""A run closes its own descriptors, each once, and nobody else's.

A second close() of a number that another thread has meanwhile been given is the worst fault a
library can have: the stranger's file is closed, and what is opened next stands in its place.
"""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import csandbox

pytestmark = pytest.mark.both_modes


def _watch(folder: Path, stop: threading.Event) -> list[str]:
    """Open, hold and close descriptors as fast as possible; report each that was disturbed."""
    disturbed: list[str] = []
    while not stop.is_set() and len(disturbed) < 5:
        held = [os.open(folder, os.O_RDONLY | os.O_DIRECTORY) for _ in range(4)]
        held += list(os.pipe())
        before = [os.fstat(fd).st_ino for fd in held]
        stop.wait(0.0005)
        for fd, inode in zip(held, before, strict=True):
            try:
                if os.fstat(fd).st_ino != inode:
                    disturbed.append(f"descriptor {fd} was replaced")
            except OSError as error:
                disturbed.append(f"descriptor {fd}: {error}")
        for fd in held:
            try:
                os.close(fd)
            except OSError as error:
                disturbed.append(f"descriptor {fd}: {error}")
    return disturbed


def test_no_descriptor_of_another_thread_is_closed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("x")
    stop = threading.Event()
    sources = [("print(input())", "hello\n"), ("import sys; sys.exit(3)", ""), ("1/0", "x" * 9000)]
    with ThreadPoolExecutor(8) as threads:
        watchers = [threads.submit(_watch, tmp_path, stop) for _ in range(2)]
        try:
            list(
                threads.map(
                    lambda i: csandbox.run(
                        sources[i % 3][0], stdin=sources[i % 3][1], profile="open"
                    ),
                    range(60),
                )
            )
        finally:
            stop.set()
        assert [watcher.result() for watcher in watchers] == [[], []]
    assert (tmp_path / "precious").read_text() == "x"
