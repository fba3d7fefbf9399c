"""The command as a user starts it."""

import os
import subprocess
import sys

import pytest


@pytest.fixture
def cli(tmp_path):
    """Run ``python -m csandbox`` and return the finished process (text streams)."""

    def run(*words, stdin="", env=None, cwd=None):
        mine = ("NO_COLOR", "FORCE_COLOR", "PYTHONUNBUFFERED")
        clean = {k: v for k, v in os.environ.items() if k not in mine}
        return subprocess.run(
            [sys.executable, "-m", "csandbox", *map(str, words)],
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            env={**clean, **(env or {})},
            cwd=cwd,
        )

    return run


@pytest.fixture
def program(tmp_path):
    """Write a program and return its path."""

    def write(text, name="prog.py"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write
