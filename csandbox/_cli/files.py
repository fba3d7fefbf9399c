"""Reading what the command line names."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from csandbox._cli.arguments import Usage

# The guard refuses sources above 1 MiB; the bound only keeps a wrong path from filling memory.
_MAX_BYTES = 256 << 20
_PIECE_BYTES = 1 << 20  # read(n) sets n bytes aside, however small the file is


def _read(file: BinaryIO, name: str) -> bytes:
    """All of a stream; Usage when it is larger than 256 MiB. Raises OSError."""
    content = bytearray()
    while piece := file.read(_PIECE_BYTES):
        content += piece
        if len(content) > _MAX_BYTES:
            raise Usage(f"{name}: larger than 256 MiB")
    return bytes(content)


def read_stdin() -> bytes:
    """All of this command's stdin; Usage when it cannot be read or is larger than 256 MiB."""
    if sys.stdin is None:
        raise Usage("cannot read stdin: it is closed")
    try:
        return _read(sys.stdin.buffer, "stdin")
    except (OSError, ValueError, AttributeError) as error:
        raise Usage(f"cannot read stdin: {error}") from error


def read_file(path: str) -> bytes:
    """A file's bytes; Usage when it cannot be read or is larger than 256 MiB."""
    try:
        with Path(path).open("rb") as file:
            return _read(file, path)
    except OSError as error:
        raise Usage(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:  # a NUL in the name
        raise Usage(f"{path!r}: {error}") from error


def read_source(path: str) -> tuple[bytes, str]:
    """Source and the name to show for it; ``-`` is stdin."""
    return (read_stdin(), "<stdin>") if path == "-" else (read_file(path), _shown(path))


def _shown(path: str) -> str:
    """The path as text; bytes of it that are no text of this locale, nor UTF-8, as escapes."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path).decode("utf-8", "backslashreplace")
    return path


def collect_folder(patterns: Sequence[str], into: str | None) -> Path | None:
    """The empty folder for collected files, made when missing; None when none are wanted."""
    if not patterns and into is None:
        return None
    if not patterns or into is None:
        raise Usage("--collect PATTERN and --into DIR belong together")
    folder = Path(into)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise Usage(f"--into {into}: the folder is not empty; name a new one")
    except OSError as error:
        raise Usage(f"--into {into}: {error.strerror}") from error
    return folder


def write_collected(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write collected files below a folder; nothing that exists is opened or replaced.

    The names come from the core, which lets no absolute path, ".." or control character through.
    """
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(content)
