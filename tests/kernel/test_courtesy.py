"""A refusal names the rule and the profile, and it is the kernel that refuses.

Without the guard, in a fresh child and in a zygote's. Each attempt is made for real, so that the
supervisor counts it: the text and ``violations`` are held together.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

import csandbox
from csandbox import _core
from csandbox._interpreter import interpreter
from csandbox._policy import policy_spec
from tests.confined import confined, denied, profile, pythons, reply, request

NETWORK = "the network is off in profile open (csandbox explain CSR040)"
PROCESS = "no process can be started in profile open (csandbox explain CSR040)"
REACH = "Permission denied, out of reach in profile open (csandbox explain CSR041)"
INSIDE = """
import json, os, sys
def attempt(code):
    names = {}
    try:
        exec(code, names)
    except BaseException as error:
        number, name = getattr(error, "errno", None), getattr(error, "filename", None)
        return [type(error).__name__, str(error), number, name]
    return None
print(json.dumps([attempt(code) for code in json.loads(sys.stdin.read())]))
"""
# code, type of the exception, text, errno, filename, the system call that is counted
ATTEMPTS: list[tuple[Any, ...]] = [
    ("import socket; socket.socket()", "PermissionError",
     f"[Errno 1] socket: {NETWORK}", 1, None, "socket"),
    ("import socket; socket.create_connection(('127.0.0.1', 9))", "PermissionError",
     f"[Errno 1] socket: {NETWORK}", 1, None, "socket"),
    ("import socket; socket.getaddrinfo('example.org', 80)", "gaierror",
     f"[Errno -3] getaddrinfo: {NETWORK}", -3, None, "socket"),
    ("import os; os.fork()", "PermissionError", f"[Errno 1] fork: {PROCESS}", 1, None, "clone"),
    ("import os; os.execv('/bin/true', ['true'])", "PermissionError",
     f"[Errno 1] execv: {PROCESS}", 1, None, "execve"),
    ("import os; os.posix_spawn('/bin/true', ['true'], {})", "PermissionError",
     f"[Errno 1] posix_spawn: {PROCESS}: '/bin/true'", 1, "/bin/true", "clone"),
    ("import subprocess; subprocess.run(['true'])", "PermissionError",
     f"[Errno 1] subprocess: {PROCESS}", 1, None, "vfork"),
    ("import os; os.kill(1, 0)", "PermissionError",
     "[Errno 1] kill: only the program itself can be signalled in profile open "
     "(csandbox explain CSR040)", 1, None, "kill"),
    ("import os; os.symlink('a', 'b')", "PermissionError",
     "[Errno 1] symlink: not allowed in profile open (csandbox explain CSR040): 'a' -> 'b'",
     1, "a", "symlink"),
    ("open('/etc/passwd')", "PermissionError", f"[Errno 13] {REACH}: '/etc/passwd'",
     13, "/etc/passwd", None),
    ("import io; io.open('/etc/passwd')", "PermissionError",
     f"[Errno 13] {REACH}: '/etc/passwd'", 13, "/etc/passwd", None),
    ("import os; os.listdir('/')", "PermissionError", f"[Errno 13] {REACH}: '/'", 13, "/", None),
    ("import pathlib; pathlib.Path('/etc/passwd').read_text()", "PermissionError",
     f"[Errno 13] {REACH}: '/etc/passwd'", 13, "/etc/passwd", None),
    ("__import__('nothing' + '_here')", "ModuleNotFoundError",
     "No module named 'nothing_here' in profile open (csandbox explain CSB101)", None, None, None),
]  # fmt: skip
CODES = [attempt[0] for attempt in ATTEMPTS]


def check(result: Any, told: list[Any]) -> None:
    assert told == [list(attempt[1:5]) for attempt in ATTEMPTS]
    assert denied(result) >= {attempt[5] for attempt in ATTEMPTS if attempt[5] is not None}


@pytest.mark.parametrize("python", pythons())
def test_in_a_fresh_child_of_each_version(python: str) -> None:
    policy = _core.Policy(policy_spec(profile(), interpreter(python), frozenset()))
    result = _core.run(policy, request(INSIDE, stdin=json.dumps(CODES).encode()))
    assert result["verdict"] == "accepted", result["stderr"]
    check(result, json.loads(result["stdout"]))


@pytest.mark.parametrize("preload", [(), ("socket", "subprocess", "pathlib")])
def test_in_a_child_of_a_zygote(preload: tuple[str, ...]) -> None:
    with csandbox.Pool("open", workers=1, preload=preload) as pool:
        result = pool.run(INSIDE, stdin=json.dumps(CODES))
    assert result.verdict == "accepted", result.stderr
    check({"violations": result.violations}, json.loads(result.stdout))


def test_the_supervisor_counts_what_it_counted_without_the_words() -> None:
    def counted(name: str) -> Any:
        made = policy_spec(profile(), interpreter(None), frozenset()) | {"profile": name}
        stdin = json.dumps(CODES).encode()
        return _core.run(_core.Policy(made), request(INSIDE, stdin=stdin))

    with_words, without = counted("open"), counted("")
    assert with_words["violations"] == without["violations"]
    assert b"csandbox" not in without["stdout"]


def test_an_error_that_ends_the_program_is_put_into_words_where_it_is_printed() -> None:
    """io.FileIO is a type, and is not replaced."""
    result = confined("import io\nio.FileIO('/etc/passwd')")
    assert result["err"].endswith(f"PermissionError: [Errno 13] {REACH}: '/etc/passwd'\n")
    assert "in <module>" in result["err"]
    assert result["err"].count("File ") == 1  # no frame of ours


def test_other_errors_keep_their_words() -> None:
    codes = [
        "open('nothing')",
        "raise PermissionError('mine')",
        "raise PermissionError(1, 'mine')",
        "import os.nothing",
        "open()",
        "import os; os.listdir('nothing')",
        "open('x', opener=lambda *a: 1 / 0)",
    ]
    told = reply(INSIDE, stdin=json.dumps(codes).encode())
    assert [text for _, text, _, _ in told] == [
        "[Errno 2] No such file or directory: 'nothing'",
        "mine",
        "[Errno 1] mine",
        "No module named 'os.nothing'; 'os' is not a package",
        told[4][1],
        "[Errno 2] No such file or directory: 'nothing'",
        "division by zero",
    ]
    assert "missing required argument 'file'" in told[4][1]


ALIKE = """
import inspect, io, json, os, pickle, socket, unittest.mock
import builtins
unittest.mock.create_autospec(socket.socket)
print(json.dumps([repr(open), repr(os.fork), str(inspect.signature(open)), open.__module__,
    str(inspect.signature(os.open)), str(inspect.signature(socket.socket)), open.__doc__,
    io.open is builtins.open, pickle.loads(pickle.dumps(os.fork)) is os.fork, open.__name__,
    os.unlink in os.supports_dir_fd, type(open).__name__, socket.socket.__mro__[1].__module__]))
"""


def test_what_is_replaced_looks_like_what_it_was() -> None:
    def seen(name: str) -> Any:
        made = policy_spec(profile(), interpreter(None), frozenset()) | {"profile": name}
        return json.loads(_core.run(_core.Policy(made), request(ALIKE))["stdout"])

    assert seen("open") == seen("")


UNDO = """
import json, os, sys
del sys.modules["posix"]
import posix, _socket, io  # posix anew, with CPython's own functions
def attempt(call):
    try:
        call()
    except OSError as error:
        return [error.errno, error.strerror]
print(json.dumps([
    attempt(posix.fork),
    attempt(lambda: posix.open("/etc/passwd", os.O_RDONLY)),
    attempt(_socket.socket),
    attempt(lambda: io.FileIO("/etc/passwd")),
]))
"""


def test_a_program_that_takes_it_out_gains_nothing() -> None:
    result = confined(UNDO)
    assert result["verdict"] == "accepted", result["err"]
    refused, unreadable = [1, "Operation not permitted"], [13, "Permission denied"]
    assert json.loads(result["out"]) == [refused, unreadable, refused, unreadable]
    assert denied(result) == {"clone", "socket"}
