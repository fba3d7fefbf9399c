# ruff: noqa: E501  (tables)
"""Disk space and number of files, whatever a program does to hide what it takes.

The limits are small, so that a program which were not stopped would still do no harm: it writes at
most 40 files of 4 MiB where 16 MiB are allowed.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from tests.confined import MiB, confined, in_parallel, mode

LIMITS = {"cpu_s": 8, "wall_s": 20, "file_bytes": 4 * MiB, "disk_bytes": 16 * MiB, "files": 200}
BLOCK = "import ctypes, mmap, os, sys, threading, time\nBLOCK = bytes(4 << 20)\n"

PASSED = {
    "many files": "for n in range(40):\n    with open(str(n), 'wb') as f: f.write(BLOCK)",
    "in folders": "for n in range(40):\n    os.makedirs(f'{n % 5}/{n % 7}/{n}')\n"
    "    with open(f'{n % 5}/{n % 7}/{n}/f', 'wb') as f: f.write(BLOCK)",
    "deleted and open": "x = []\nfor n in range(40):\n    f = open('f', 'wb', 0)\n    os.unlink('f')\n"
    "    f.write(BLOCK)\n    x.append(f)",
    "never with a name": "for n in range(40):\n    f = os.open('.', os.O_TMPFILE | os.O_RDWR)\n"
    "    os.write(f, BLOCK)",
    "deleted and mapped": "x = []\nfor n in range(40):\n    f = os.open('f', os.O_CREAT | os.O_RDWR)\n"
    "    os.ftruncate(f, 4 << 20)\n    m = ctypes.CDLL(None).mmap\n    m.restype = ctypes.c_void_p\n"
    "    p = m(None, ctypes.c_size_t(4 << 20), 3, 1, f, ctypes.c_long(0))\n"
    "    os.close(f)\n    os.unlink('f')\n    ctypes.memset(p, 1, 4 << 20)",
    "from threads": "def f(k):\n    for n in range(10):\n        with open(f'{k}-{n}', 'wb') as f: f.write(BLOCK)\n"
    "for k in range(4): threading.Thread(target=f, args=(k,)).start()",
    "first thread gone": "def f():\n    x = []\n    for n in range(40):\n        f = open('f', 'wb', 0)\n"
    "        os.unlink('f')\n        f.write(BLOCK)\n        x.append(f)\n    time.sleep(1)\n    os._exit(0)\n"
    "threading.Thread(target=f).start()\nctypes.CDLL(None).syscall(60, 0)",
    "renamed all the time": "os.mkdir('a')\nos.mkdir('z')\ndef f():\n    while True:\n"
    "        for n in range(40):\n            for one, other in (('a', 'z'), ('z', 'a')):\n"
    "                try: os.rename(f'{one}/{n}', f'{other}/{n}')\n                except OSError: pass\n"
    "threading.Thread(target=f, daemon=True).start()\nx = []\n"
    "for n in range(40):\n    f = open(f'a/{n}', 'wb', 0)\n    f.write(BLOCK)",
    "in a folder closed to reading": "os.mkdir('d', 0o300)\nfor n in range(40):\n"
    "    with open(f'd/{n}', 'wb') as f: f.write(BLOCK)",
    "very deep": "for n in range(80):\n    os.mkdir('d')\n    os.chdir('d')\n"
    "for n in range(9):\n    with open(str(n), 'wb') as f: f.write(b'x')\ntime.sleep(1)",
    "signals blocked": "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\n"
    "for n in range(40):\n    with open(str(n), 'wb') as f: f.write(BLOCK)",
    "a million denials beside it": "import socket\ndef f():\n    while True:\n"
    "        try: socket.socket()\n        except OSError: pass\n"
    "threading.Thread(target=f, daemon=True).start()\n"
    "for n in range(40):\n    with open(str(n), 'wb') as f: f.write(BLOCK)",
    "left behind in a hurry": "for n in range(5):\n    f = os.open(str(n), os.O_CREAT | os.O_RDWR)\n"
    "    os.write(f, BLOCK)\nos._exit(0)",
}  # fmt: skip

REFUSED = {
    "set aside": "for n in range(40):\n    f = os.open(str(n), os.O_CREAT | os.O_RDWR)\n"
    "    os.posix_fallocate(f, 0, 4 << 20)",
    "set aside in one file": "f = os.open('f', os.O_CREAT | os.O_RDWR)\n"
    "for n in range(40): os.posix_fallocate(f, 0, 4 << 20)",
}  # fmt: skip

FINE = {
    "as much as is allowed": "for n in range(3):\n    with open(str(n), 'wb') as f: f.write(BLOCK)",
    "the same file again": "for n in range(40):\n    with open('f', 'wb') as f: f.write(BLOCK)",
    "deleted in time": "for n in range(40):\n    with open('f', 'wb') as f: f.write(BLOCK)\n    os.unlink('f')",
    "sparse files": "for n in range(40):\n    with open(str(n), 'wb') as f: f.truncate(4 << 20)",
    "many small files": "for n in range(150):\n    with open(str(n), 'wb') as f: f.write(b'x')",
    "one descriptor many times": "f = os.open('f', os.O_CREAT | os.O_RDWR)\nos.unlink('f')\n"
    "os.write(f, BLOCK)\nfor n in range(20): os.dup(f)\nfor n in range(9): open(str(n), 'w').close()\n"
    "time.sleep(0.3)",
}  # fmt: skip


@cache
def outcomes(mode: str) -> dict[str, dict[str, Any]]:
    everything = {**PASSED, **REFUSED, **FINE}
    results = in_parallel(
        lambda source: confined(BLOCK + source, limits=LIMITS), everything.values(), 3
    )
    return dict(zip(everything, results, strict=True))


@pytest.mark.parametrize("name", list(PASSED))
def test_more_than_is_allowed_ends_the_run(name: str) -> None:
    result = outcomes(mode())[name]
    assert (result["verdict"], result["limit_hit"]) == ("output_limit", "disk"), result["err"]


@pytest.mark.parametrize("name", list(REFUSED))
def test_what_is_set_aside_is_refused_before_it_is_taken(name: str) -> None:
    result = outcomes(mode())[name]
    assert (result["verdict"], result["limit_hit"]) == ("runtime_error", "disk"), result["err"]
    assert "Disk quota exceeded" in result["err"]


@pytest.mark.parametrize("name", list(FINE))
def test_what_is_allowed_is_fine(name: str) -> None:
    result = outcomes(mode())[name]
    assert result["verdict"] == "accepted", (result["limit_hit"], result["err"])


def test_what_the_caller_put_there_is_not_the_programs() -> None:
    files = [(f"given/{n}", bytes(4 << 20)) for n in range(8)]
    source = BLOCK + "with open('mine', 'wb') as f: f.write(BLOCK)\ntime.sleep(0.2)"
    assert confined(source, limits=LIMITS, files=files)["verdict"] == "accepted"
    source = BLOCK + "for n in range(8):\n    with open(str(n), 'wb') as f: f.write(BLOCK)"
    assert confined(source, limits=LIMITS, files=files)["limit_hit"] == "disk"


def test_without_the_listener_it_is_looked_at_all_the_same() -> None:
    result = confined(
        BLOCK + PASSED["many files"], limits=LIMITS, without=["seccomp", "seccomp_notify"]
    )
    assert (result["verdict"], result["limit_hit"]) == ("output_limit", "disk")


def test_the_number_of_files_is_a_limit_of_the_run() -> None:
    source = (
        "made = 0\ntry:\n    for n in range(50):\n        open(str(n), 'w').close(); made += 1\n"
    )
    source += "finally: print(made)"
    result = confined(source, limits={**LIMITS, "files": 20})
    assert (result["verdict"], result["limit_hit"]) == ("runtime_error", "files")
    assert result["out"] == "20\n"
    assert confined(source, limits={**LIMITS, "files": 50})["verdict"] == "accepted"


def test_no_thread_has_a_descriptor_table_of_its_own() -> None:
    """It would hide open files, and have a limit of its own."""
    source = (
        "import ctypes, errno\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "for flags in (0, 4, 2, 6): print(libc.syscall(436, 900, 901, flags), ctypes.get_errno())\n"
    )
    assert confined(source)["out"].split() == ["0", "0", "0", "0", "-1", "1", "-1", "1"]
