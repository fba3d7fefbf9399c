# ruff: noqa: E501  (tables)
"""Try this system call: what each set answers, row by row, from inside a confined child.

One child tries a whole table. The errno that the kernel gives is the oracle: EPERM comes from the
filter and nothing else here, because every row's arguments are such that an unconfined kernel
would answer something else. That is checked too: the same table runs with seccomp taken out, and
a row whose answer does not change then would prove nothing (``always`` marks those that cannot:
the kernel itself says EPERM to whoever has no capability).
"""

from __future__ import annotations

import errno
import json
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from csandbox import _core
from tests.confined import confined, denied, mode, number, reply, spec
from tests.kernel.syscall_never import NEVER, NEVER_ELSEWHERE
from tests.kernel.syscall_rows import (
    ALLOWED,
    ARGUMENTS,
    BASE,
    BY_SET,
    ELSEWHERE,
    MAKES_FD,
    STILL_REFUSED,
    Row,
    refuse,
)

TRY = """
import ctypes, errno, json, mmap, os, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
call = libc.syscall
call.restype = ctypes.c_long
buffer = ctypes.create_string_buffer(65536)
page = mmap.mmap(-1, 65536, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
page_at = ctypes.addressof(ctypes.c_char.from_buffer(page))
page_at = (page_at + 4095) & ~4095
pid, ppid = os.getpid(), os.getppid()
names = {"PID": pid, "PPID": ppid, "TID": threading.get_native_id(), "BUFFER":
         ctypes.addressof(buffer), "PAGE": page_at, "PARENT_CLOCK": (~ppid << 3) | 2,
         "OWN_CLOCK": (~pid << 3) | 2, "MINUS_PPID": -ppid}
answers = []
for number, arguments, makes_fd in json.loads(sys.stdin.read()):
    values = []
    for argument in arguments:
        if isinstance(argument, str) and argument.startswith("@"):
            values.append(ctypes.c_char_p(argument[1:].encode()))
        else:
            value = names[argument] if isinstance(argument, str) else argument
            values.append(ctypes.c_long(value - (1 << 64) if value >> 63 > 0 else value))
    ctypes.memset(buffer, 0, 4096)
    ctypes.set_errno(0)
    result = call(ctypes.c_long(number), *values)
    answers.append("ok" if result >= 0 else errno.errorcode.get(ctypes.get_errno(), "?"))
    if makes_fd and result > 3:
        os.close(result)
print(json.dumps(answers))
"""


def known(rows: list[Row]) -> list[Row]:
    return [row for row in rows if number(row.name) >= 0]


def attempt(rows: list[Row], **options: Any) -> list[str]:
    """What a child gets for each row."""
    table = [(number(row.name), row.arguments, row.name in MAKES_FD) for row in rows]
    answers: list[str] = reply(TRY, stdin=json.dumps(table).encode(), **options)
    return answers


def wrong(rows: list[Row], answers: list[str]) -> list[str]:
    assert len(rows) == len(answers)
    return [
        f"{row} {row.variant}: wanted {row.want}, got {got}"
        for row, got in zip(rows, answers, strict=True)
        if got != row.want and not (row.want == "ENOTSUP" and got == "EOPNOTSUPP")
    ]


@pytest.mark.parametrize(
    "rows", [NEVER, ARGUMENTS, ALLOWED], ids=["never", "arguments", "neighbours"]
)
def test_table_with_core_and_read_files(rows: list[Row]) -> None:
    rows = known(rows)
    assert not wrong(rows, attempt(rows, sets=BASE))


def test_never_rows_are_refused_with_every_set_on() -> None:
    rows = known(NEVER)
    every = (*BASE, "write-files", "threads", "asyncio", "timers")
    rows = [row for row in rows if row.name != "fchmodat2"]  # pretended by write-files
    assert not wrong(rows, attempt(rows, sets=every))


@pytest.mark.parametrize("name", [name for name, rows in BY_SET.items() if rows])
def test_set_allows_its_rows_and_only_it_does(name: str) -> None:
    rows = known(BY_SET[name])
    assert not wrong(rows, attempt(rows, sets=(*BASE, name)))
    others = [s for s in ("write-files", "threads", "asyncio", "timers") if s != name]
    answers = attempt(rows, sets=(*BASE, *others))
    assert [f"{r}: {a}" for r, a in zip(rows, answers, strict=True) if a != "EPERM"] == []


@pytest.mark.parametrize("name", list(STILL_REFUSED))
def test_set_does_not_allow_more(name: str) -> None:
    rows = known(STILL_REFUSED[name])
    assert not wrong(rows, attempt(rows, sets=(*BASE, name)))


def test_without_the_filter_the_refused_rows_answer_otherwise() -> None:
    """Otherwise EPERM would be the kernel's and the tables above could not fail."""
    rows = known([r for r in [*NEVER, *ARGUMENTS] if r.want == "EPERM"])
    rows += known([row for more in STILL_REFUSED.values() for row in more])
    answers = attempt(rows, without=("seccomp", "seccomp_notify"))
    same = [str(row) for row, got in zip(rows, answers, strict=True) if got == "EPERM"]
    expected = {str(row) for row in rows if row.always}
    if os.getpgrp() == os.getpid() or mode() == "warm":
        # The parent leads a group, as a zygote always does, and Landlock keeps signals in.
        expected.add("kill(MINUS_PPID, 0)")
    assert [row for row in same if row not in expected] == []


@pytest.mark.modeless
def test_every_name_of_the_tables_is_known_here() -> None:
    tables = [*NEVER, *ARGUMENTS, *ALLOWED]
    tables += [row for group in (BY_SET, STILL_REFUSED) for rows in group.values() for row in rows]
    unknown = {row.name for row in tables if number(row.name) < 0}
    # Newer than the oldest libseccomp in use, or of some architectures only.
    assert unknown <= {
        "process_mrelease", "memfd_secret", "fchmodat2", "setxattrat", "futex_waitv", "quotactl_fd",
        "ustat", "iopl", "ioperm", "modify_ldt", "arch_prctl", "open", "stat", "access", "readlink",
        "unlink", "mkdir", "rmdir", "rename", "link", "symlink", "mknod", "chmod", "chown", "lchown",
        "poll", "select", "epoll_wait", "alarm", "getpgrp", "utime", "utimes", "getrlimit",
        "remap_file_pages", "mount_setattr", "pkey_alloc", "dup2", "epoll_create", "lstat", "pause",
        "pipe", "time", "inotify_init", "uselib", "nfsservctl", "lookup_dcookie", "signalfd", "creat",
        "kexec_file_load", "sync_file_range",
    }  # fmt: skip


TABLE = Path(__file__).parents[2] / "ext" / "syscalls.c"


@pytest.mark.modeless
def test_every_allowed_call_is_tried_from_inside() -> None:
    every = (*BASE, "write-files", "threads", "asyncio", "timers")
    allowed = set(_core.Policy(spec(sets=every)).syscall_names)
    tried = {row.name for row in ALLOWED} | {r.name for rows in BY_SET.values() for r in rows}
    assert allowed - tried - set(ELSEWHERE) == set()
    assert not set(ELSEWHERE) & tried and set(ELSEWHERE) <= allowed


@pytest.mark.modeless
def test_every_call_of_the_never_list_is_tried_from_inside() -> None:
    text = TABLE.read_text()
    at = text.index("csb_syscalls_never[]")
    names = re.findall(r'"(\w+)"', text[at : text.index("};", at)])
    assert len(names) > 100
    tried = {row.name for row in NEVER}
    assert set(names) - tried == set(NEVER_ELSEWHERE)


def test_a_signal_handler_returns() -> None:
    source = (
        "import signal\nsignal.signal(signal.SIGALRM, lambda *_: print('handled'))\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.05)\nsignal.pause()\nprint('after')"
    )
    result = confined(source, sets=(*BASE, "timers"))
    assert (result["out"], result["violations"]) == ("handled\nafter\n", [])


CLONE = """
import ctypes, errno, json, sys, mmap, os, threading
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
answers = {}
for name, flags in json.loads(sys.stdin.read()).items():
    ctypes.set_errno(0)
    # No stack and bad combinations: where clone is let through, the kernel says EINVAL, or makes
    # a process, which leaves at once.
    result = libc.syscall(ctypes.c_long(NUMBER), ctypes.c_long(flags), 0, 0, 0, 0)
    if result == 0:
        os._exit(0)
    answers[name] = "ok" if result > 0 else errno.errorcode[ctypes.get_errno()]
thread = threading.Thread(target=int)
thread.start()
thread.join()
print(json.dumps(answers))
"""
VM, FS, FILES, SIGHAND, THREAD, SYSVSEM = 0x100, 0x200, 0x400, 0x800, 0x10000, 0x40000
PTHREAD = VM | FS | FILES | SIGHAND | THREAD | SYSVSEM
CLONE_FLAGS = {
    "a process": 17,
    "a silent process": 0,
    "vfork": 17 | 0x4000 | VM,
    "a thread without its signal handlers": THREAD,
    "a process that shares files": 17 | FILES,
    "a new user namespace": 17 | 0x10000000,
    "a new mount namespace": 17 | 0x20000,
    "a thread in a new user namespace": PTHREAD | 0x10000000,
    "a thread in a new network namespace": PTHREAD | 0x40000000,
    "a traced thread": PTHREAD | 0x2000,
    "a thread with a parent": PTHREAD | 0x8000,
    "a thread with a pidfd": PTHREAD | 0x1000,
    "a thread in another io context": PTHREAD | 0x80000000,
    "a thread with a signal": PTHREAD | 17,
    "a thread, and a bit that the kernel cuts off": PTHREAD | 1 << 33,
}


def test_clone_makes_threads_and_nothing_else() -> None:
    source = CLONE.replace("NUMBER", str(number("clone")))
    answers = reply(source, stdin=json.dumps(CLONE_FLAGS).encode())
    assert {name: got for name, got in answers.items() if got != "EPERM"} == {}


def test_fork_and_vfork_are_refused_by_name() -> None:
    rows = known([refuse("fork"), refuse("vfork")])
    assert attempt(rows) == ["EPERM"] * len(rows)


def test_without_the_set_a_thread_cannot_start() -> None:
    source = "import threading\ntry: threading.Thread(target=int).start()\nexcept RuntimeError as e: print(e)"
    result = confined(source, sets=BASE)
    assert "can't start new thread" in result["out"]
    assert "clone" in denied(result)


@pytest.mark.parametrize("value", [999, 5000, 0x3FFFFFFF])
def test_a_number_without_a_name_is_enosys_so_that_libc_falls_back(value: int) -> None:
    source = f"""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print(libc.syscall({value}), ctypes.get_errno())"""
    result = confined(source)
    assert result["out"].split() == ["-1", str(errno.ENOSYS)]
    assert result["violations"]


@cache
def _x32_bit() -> int:
    import platform

    return 0x40000000 if platform.machine() == "x86_64" else 0


@pytest.mark.parametrize("call", ["getpid", "write", "ptrace"])
def test_x32_calls_end_the_process(call: str) -> None:
    if not _x32_bit():
        pytest.skip("x32 is a second set of system calls of x86-64 only")
    value = _x32_bit() | number(call)
    result = confined(f"import ctypes\nprint(ctypes.CDLL(None).syscall({value}))\nprint('EFFECT')")
    assert result["verdict"] == "security_violation"
    assert result["signal"] == 31
    assert "EFFECT" not in result["out"]


def test_denials_are_counted_by_name_and_argument() -> None:
    source = """
import socket
for family in (2, 2, 2, 16):
    try: socket.socket(family)
    except PermissionError: pass
"""
    result = confined(source)
    assert result["verdict"] == "accepted"
    assert result["violations"] == [
        {"syscall": "socket", "domain": "AF_INET", "count": 3},
        {"syscall": "socket", "domain": "AF_NETLINK", "count": 1},
    ]


def test_denials_say_what_was_meant_not_each_number() -> None:
    source = """
import ctypes, os, signal
libc = ctypes.CDLL(None)
def attempt(call, *arguments):
    try: call(*arguments)
    except OSError: pass
for pid in range(1, 200):
    if pid != os.getpid(): attempt(os.kill, pid, 0)
attempt(os.killpg, 0, 0)
libc.ioctl(0, 0x5412, b'x')
libc.prctl(4, 1, 0, 0, 0)
attempt(os.fork)
libc.unshare(0x10000000)
"""
    result = confined(source)
    assert result["verdict"] == "accepted", result["err"]
    seen = {tuple(v.values()) for v in result["violations"]}
    assert ("kill", "own group", 1) in {(v[0], v[2], v[1]) for v in seen if v[0] == "kill"}
    words = {(v[0], v[2]) for v in seen}
    assert words == {
        ("kill", "other"),
        ("kill", "own group"),
        ("ioctl", "TIOCSTI"),
        ("prctl", "PR_SET_DUMPABLE"),
        ("clone", "new process"),
        ("unshare", "CLONE_NEWUSER"),
    }


def test_kill_mode_ends_the_run_at_the_first_denial() -> None:
    source = (
        "import socket\ntry: socket.socket()\nexcept OSError: pass\nprint('EFFECT', flush=True)"
    )
    result = confined(source, on_denied="kill")
    assert result["verdict"] == "security_violation"
    assert "EFFECT" not in result["out"]
