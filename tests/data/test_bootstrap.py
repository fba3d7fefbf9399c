"""The set-up on a machine that lacks things: what is missing is listed, nothing is half done."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools" / "bootstrap.sh"

pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="not a checkout with tools/")


def bootstrap(
    folder: Path, *, uid: int, programs: dict[str, str], **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run it in an empty folder; `programs` come first on PATH, so that no package is installed."""
    own = folder / "bin"
    own.mkdir()
    for name, text in {"id": f"echo {uid}", **programs}.items():
        (own / name).write_text(f"#!/bin/sh\n{text}\n")
        (own / name).chmod(0o755)
    (folder / "tools").symlink_to(ROOT / "tools")
    return subprocess.run(
        ["sh", "tools/bootstrap.sh", "build"],
        cwd=folder,
        env={"PATH": f"{own}:/usr/bin:/bin", "CC": "/missing/cc", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


#: sudo is there, and asks for a password that nobody can type.
NO_SUDO = {"sudo": "exit 1"}


def test_without_root_the_packages_are_listed_with_what_they_are_for(tmp_path: Path) -> None:
    calls = {"apt-get": f"echo \"$@\" >>'{tmp_path}/called'", **NO_SUDO}
    done = bootstrap(tmp_path, uid=1000, programs=calls, PKG_CONFIG="/missing/pkg-config")
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0] == "missing on this system:"
    listed = {line.split("  ")[1]: line.split()[-1] for line in lines[1:-1]}
    packages = ["gcc libc6-dev", "pkg-config", "libseccomp-dev", "libutf8proc-dev", "libcbor-dev"]
    assert list(listed)[:5] == packages
    assert lines[-1].startswith("as root:  apt-get update && apt-get install gcc libc6-dev pkg-")
    assert not (tmp_path / "called").exists()
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize("uid", [0, 1000])
def test_with_root_or_sudo_they_are_installed_and_looked_for_again(
    uid: int, tmp_path: Path
) -> None:
    log = f"echo \"$0 $@\" >>'{tmp_path}/called'"
    calls = {"apt-get": log, "sudo": f'{log}\n[ "$1" = -n ] || exec "$@"'}
    done = bootstrap(tmp_path, uid=uid, programs=calls)
    assert done.returncode == 1
    assert "installing them with apt-get" in done.stderr
    assert "still missing:\n  gcc libc6-dev" in done.stderr
    called = (tmp_path / "called").read_text()
    assert "install -y --no-install-recommends gcc libc6-dev\n" in called
    assert ("/sudo " in called) == (uid != 0)


def test_an_interpreter_that_will_not_do_is_named(tmp_path: Path) -> None:
    done = bootstrap(tmp_path, uid=1000, programs=NO_SUDO, PYTHON="/bin/false")
    assert done.returncode == 1
    assert "PYTHON=/bin/false does not run as CPython 3.10 or newer" in done.stderr
