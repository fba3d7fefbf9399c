"""Attacks on the branching of sessions, by cells that speak the protocol themselves.

A hostile cell answers its own frame, then reads the caller's next one: the order to branch. What it
makes of that is the attack. In the way are the listener (``seccomp_notify``: one exact clone, of a
process that is fit, for one order), the kernel's word about who a process is, the family's home
(``landlock`` and file modes), and the guard that ties a process group to its zygote.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import csandbox
from csandbox import BranchError, Session
from tests.confined import number

pytestmark = pytest.mark.modeless  # sessions are warm

# enum csb_wire_frame_kind, in its order
_KINDS = re.findall(
    r"CSB_FRAME_([A-Z_]+),", (Path(__file__).parents[2] / "ext" / "wire.h").read_text()
)
KIND = {name: place for place, name in enumerate(_KINDS)}

PROLOGUE = f"""
import ctypes, os, struct, time, json
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
CLONE, PRCTL = {number("clone")}, {number("prctl")}
KILL, TGKILL = {number("kill")}, {number("tgkill")}
BRANCH_FLAGS = 0x8000 | 17
SAY_BRANCH = 0x43534246
PLAIN = 17

def call(nr, *arguments):
    result = libc.syscall(nr, *map(ctypes.c_long, arguments))
    return -ctypes.get_errno() if result < 0 else result

def answer(data):
    os.write(3, struct.pack("QII", len(data), {KIND["REPLY"]}, 0) + data)

def next_frame():
    data = b""
    while len(data) < 16:
        data += os.read(3, 16 - len(data))
    length, kind, mask = struct.unpack("QII", data)
    body = b""
    while len(body) < length:
        body += os.read(3, length - len(body))
    return kind, body

def answer_cell(value=None):
    answer(json.dumps({{"count": 0, "displays": [], "value_repr": repr(value)}}).encode())

def wait_for_order():
    answer_cell()
    kind, body = next_frame()
    assert kind == {KIND["BRANCH"]}, kind

def settle():
    return call(PRCTL, SAY_BRANCH, 0, 0, 0, 0)

def serve(value):
    # each later cell is answered with what there is to tell
    while True:
        kind, body = next_frame()
        if kind == {KIND["CELL"]}:
            # facts first, then the caller's word
            os.write(3, struct.pack("QII", 0, {KIND["FACTS"]}, 0))
            os.read(3, 1)
        answer_cell(value() if callable(value) else value)
"""


@pytest.fixture
def s() -> Iterator[Session]:
    with (
        csandbox.Pool("open", workers=1, spares=1) as pool,
        pool.session(limits={"startup_s": 15}) as made,
    ):
        yield made


def group(session: Session) -> set[int]:
    """Living processes of the session's process group."""
    assert session._core is not None
    leader = os.getpgid(session._core.pid) if session.alive else 0
    return members(leader)


def members(leader: int) -> set[int]:
    found = set()
    for entry in os.listdir("/proc"):
        try:
            words = Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()
        except (OSError, ValueError):
            continue
        if words and int(words[2]) == leader and words[0] not in "ZX":
            found.add(int(entry))
    return found


def attack(session: Session, code: str) -> None:
    """A cell that stays in its own loop."""
    assert session.run(PROLOGUE).ok
    session.run(code)


def test_forks_without_an_order(s: Session) -> None:
    """Layer: seccomp_notify. The exact call, but nobody ordered it."""
    s.run(PROLOGUE)
    tries = "[call(CLONE, f, 0, 0, 0, 0) for f in (BRANCH_FLAGS, BRANCH_FLAGS | 0x1200000, PLAIN)]"
    for session in (s, s.fork()):
        said = session.run(tries)
        assert said.value_repr == "[-1, -1, -1]"
        assert {v["syscall"] for v in said.violations} == {"clone"}
        assert len(group(s)) == 2 - (not s.alive)
        if session is not s:
            session.close()


def test_forks_twice(s: Session) -> None:
    """Layer: seccomp_notify. One order is one clone, in the original and in the branch."""
    attack(
        s,
        """
wait_for_order()
first = call(CLONE, BRANCH_FLAGS, 0, 0, 0, 0)
if first == 0:
    inner = call(CLONE, BRANCH_FLAGS, 0, 0, 0, 0)
    settled = settle()
    inner = inner, call(CLONE, BRANCH_FLAGS, 0, 0, 0, 0)
    answer(b"")
    serve((inner, settled))
second = call(CLONE, BRANCH_FLAGS, 0, 0, 0, 0)
answer(bytes(4))
serve(second)
""",
    )
    try:
        branch = s.fork()
    except BranchError:
        branch = None  # a branch whose first call is another one is none
    assert s.run("1").value_repr == "-1"
    assert branch is None and len(group(s)) == 1


def test_forks_again_when_it_is_settled(s: Session) -> None:
    """Layer: seccomp_notify. The branch forks, after it was adopted as it should."""
    attack(
        s,
        """
wait_for_order()
if call(CLONE, BRANCH_FLAGS, 0, 0, 0, 0) == 0:
    settled = settle()
    again = [call(CLONE, f, 0, 0, 0, 0) for f in (BRANCH_FLAGS, PLAIN)]
    answer(b"")
    serve(lambda: (settled, again, call(CLONE, BRANCH_FLAGS, 0, 0, 0, 0)))
again = call(CLONE, BRANCH_FLAGS, 0, 0, 0, 0)
answer(bytes(4))
serve(lambda: (again, call(CLONE, BRANCH_FLAGS, 0, 0, 0, 0)))
""",
    )
    with s.fork() as branch:
        assert branch.run("1").value_repr == "(0, [-1, -1], -1)"
        assert s.run("1").value_repr == "(-1, -1)"
        assert len(group(s)) == 2


@pytest.mark.parametrize(
    "flags",
    ["PLAIN", "0x100 | 0x4000 | 17", "BRANCH_FLAGS | 0x10000000", "BRANCH_FLAGS | 0x400", "0x8000"],
)
def test_forks_in_another_way(s: Session, flags: str) -> None:
    """Layer: seccomp_notify. Ordered, but its own child, a vfork, a namespace, shared files."""
    attack(s, f"wait_for_order()\nr = call(CLONE, {flags}, 0, 0, 0, 0)\nanswer(bytes(4))\nserve(r)")
    with pytest.raises(BranchError):
        s.fork()
    assert s.run("1").value_repr == "-1" and len(group(s)) == 1


def test_answers_for_a_branch_that_is_none(s: Session) -> None:
    """Layer: the kernel's word. Both replies, and no process."""
    attack(s, "wait_for_order()\nanswer(bytes(4))\nanswer(b'')\nserve('alive')")
    with pytest.raises(BranchError, match="did not do what it was told"):
        s.fork()
    assert len(group(s)) == 1


@pytest.mark.parametrize("life", ["while True: pass", "time.sleep(1000)", "os.read(3, 1)"])
def test_the_branch_never_waits_to_be_adopted(life: str) -> None:
    """Layer: the kernel's word. A process that does not show itself is looked for and killed."""
    with (
        csandbox.Pool("open", workers=1, spares=1) as pool,
        pool.session(limits={"startup_s": 1.5}) as s,
    ):
        attack(
            s,
            f"""
wait_for_order()
if call(CLONE, BRANCH_FLAGS, 0, 0, 0, 0) == 0:
    {life}
    os._exit(0)
answer(bytes(4))
serve('alive')
""",
        )
        with pytest.raises(BranchError, match="no new process was seen"):
            s.fork()
        assert s.run("1").value_repr == "'alive'"
        for _ in range(200):
            if len(group(s)) == 1:
                break
            os.sched_yield()
        assert len(group(s)) == 1


@pytest.mark.parametrize("who", ["before", "after"])
def test_keeps_the_others_pipes(s: Session, who: str) -> None:
    """Layer: descriptors are counted from outside, while the only thread waits in the call."""
    before, after = ("os.dup(3)", "pass") if who == "before" else ("pass", "os.dup(3)")
    attack(
        s,
        f"""
wait_for_order()
{before}
made = call(CLONE, BRANCH_FLAGS, 0, 0, 0, 0)
if made == 0:
    {after}
    settle()
    answer(b"")
    serve('branch')
answer(bytes(4))
serve(made)
""",
    )
    with pytest.raises(BranchError, match="open files" if who == "before" else "did not wait"):
        s.fork()
    assert len(group(s)) == 1


def test_starts_a_thread_in_time(s: Session) -> None:
    """Layer: threads are counted from outside; while an order stands none is started."""
    attack(
        s,
        """
import threading
wait_for_order()
stop = threading.Event()
started = []
def more():
    try:
        threading.Thread(target=stop.wait).start()
        started.append(1)
    except RuntimeError as error:
        started.append(str(error))
more()
made = call(CLONE, BRANCH_FLAGS, 0, 0, 0, 0)
if made == 0:
    settle()
    answer(b"")
    more()
    serve(lambda: (started, len(os.listdir('/proc/self/task'))))
answer(bytes(4))
stop.set()
serve(started)
""",
    )
    try:
        branch = s.fork()
    except BranchError:
        branch = None
    else:
        branch.close()
    assert "can't start new thread" in str(s.run("1").value_repr)


def test_a_thread_that_was_there_refuses_the_branch(s: Session) -> None:
    """Layer: threads are counted from outside. The thread lives already when the order comes."""
    attack(
        s,
        """
import threading
threading.Thread(target=lambda: [os.getpid() for _ in iter(int, 1)], daemon=True).start()
wait_for_order()
made = call(CLONE, BRANCH_FLAGS, 0, 0, 0, 0)
answer(bytes(4))
serve(made)
""",
    )
    with pytest.raises(BranchError, match="2 threads"):
        s.fork()
    assert len(group(s)) == 1


def test_signals_interrupt_the_call() -> None:
    """Layer: seccomp_notify. A call that begins anew is looked at anew, and counts once."""
    profile = csandbox.Profile.load("open")
    sets = [*profile.syscalls.sets, "timers"]
    with csandbox.Pool(profile.replace(syscalls={"sets": sets}), workers=1, spares=1) as pool:
        for _ in range(4):
            with pool.session(limits={"startup_s": 1.5}) as s:
                _interrupted(s)


def _interrupted(s: Session) -> None:
    attack(
        s,
        """
import signal
signal.signal(signal.SIGALRM, lambda *_: None)
wait_for_order()
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
made = [call(CLONE, BRANCH_FLAGS, 0, 0, 0, 0) for _ in range(200)]
signal.setitimer(signal.ITIMER_REAL, 0)
if 0 in made:
    settle()
    answer(b"")
    serve(len(made))
answer(bytes(4))
serve(sum(m > 0 for m in made))
""",
    )
    try:
        branch = s.fork()
    except BranchError:
        branch = None  # its 200 calls made others before it waited to be adopted
    said = s.run("1").value_repr
    assert said == "1" if branch is not None else said in ("0", "1")
    assert len(group(s)) == 1 + (branch is not None)
    if branch is not None:
        branch.close()


def test_a_branch_reaches_no_other_process(s: Session) -> None:
    """Layer: seccomp_notify. Own signals are judged by who calls, since the filter is inherited."""
    s.run(PROLOGUE)
    s.run("origin = os.getpid()")
    with s.fork() as branch:
        branch.run("other = os.getpid()")
        said = branch.run(
            "[call(KILL, p, n) for p in (origin, -origin, 0, -1) for n in (0, 9, 19)]"
            " + [call(TGKILL, origin, origin, 9)]"
        )
        assert said.value_repr == str([-1] * 13)
        assert {v["syscall"] for v in said.violations} == {"kill", "tgkill"}
        assert branch.run("call(KILL, other, 0), call(TGKILL, other, other, 0)").value_repr == (
            "(0, 0)"
        )
        pid = branch._core.pid if branch._core is not None else 0
        assert s.run(f"call(KILL, {pid}, 9), call(KILL, origin, 0)").value_repr == "(-1, 0)"
        for leave in ("os.setsid()", "os.setpgid(0, 0)"):
            refused = branch.run(leave).raised
            assert refused is not None and refused.name == "PermissionError"
    assert s.run("1").ok


def test_a_branch_reaches_no_other_folder(s: Session) -> None:
    """Layers: landlock, modes. The others' folders lie outside, and the home is closed."""
    s.run(PROLOGUE)
    s.run("open('f', 'w').write('mine')\nhome = os.path.dirname(os.getcwd())")
    with s.fork() as branch:
        code = """
def tries(*ways):
    said = []
    for way in ways:
        try: said.append(repr(way()))
        except OSError as error: said.append(type(error).__name__)
    return said
tries(lambda: os.listdir(os.path.dirname(home)), lambda: os.mkdir(home + '/x'),
      lambda: open(home + '/x', 'w'), lambda: os.rename(home + '/work', home + '/other'),
      lambda: os.rmdir(home + '/work'), lambda: os.rename('f', home + '/f'),
      lambda: os.chmod(home, 0o700) or os.mkdir(home + '/x'), lambda: os.listdir(home))
"""
        for session in (branch, s):
            said = eval(str(session.run(code).value_repr))
            assert set(said[:-1]) == {"PermissionError"}
            assert said[-1] in ("PermissionError", "['work']")


def test_a_branch_that_stays_in_the_originals_folder(s: Session) -> None:
    """Layer: landlock. It keeps its working folder, which lies outside the home by then."""
    attack(
        s,
        """
open('f', 'w').write('mine')
wait_for_order()
if call(CLONE, BRANCH_FLAGS, 0, 0, 0, 0) == 0:
    settle()
    answer(b"")
    def look():
        said = []
        for way in (lambda: open('f').read(), lambda: open('f', 'w'), lambda: os.listdir('.'),
                    lambda: os.remove('f'), lambda: os.mkdir('d'),
                    lambda: os.truncate('f', 1)):
            try: said.append(repr(way()))
            except OSError as error: said.append(type(error).__name__)
        return said
    serve(look)
answer(bytes(4))
serve(lambda: open('f').read())
""",
    )
    with s.fork() as branch:
        assert set(eval(str(branch.run("1").value_repr))) == {"PermissionError"}
        assert s.run("1").value_repr == "'mine'"


def test_memory_that_would_be_shared(s: Session) -> None:
    """Layer: seccomp_notify. A shared mapping of a file needs no descriptor to last."""
    s.run(PROLOGUE)
    mapped = s.run(
        f"fd = os.open('f', os.O_RDWR | os.O_CREAT)\nos.write(fd, bytes(4096))\n"
        f"at = call({number('mmap')}, 0, 4096, 3, 1, fd, 0)\nos.close(fd)\nat > 0"
    )
    assert mapped.value_repr == "True"
    with pytest.raises(BranchError, match="shared memory"):
        s.fork()
    assert len(group(s)) == 1


def test_late_words_of_the_original_are_not_the_branchs(s: Session) -> None:
    """Layer: descriptors of its own. What the original writes meanwhile stays on its channel."""
    attack(
        s,
        """
wait_for_order()
made = call(CLONE, BRANCH_FLAGS, 0, 0, 0, 0)
if made == 0:
    settle()
    answer(b"")
    print("of the branch", flush=True)
    serve("branch")
answer(bytes(4))
print("of the original", flush=True)
serve("original")
""",
    )
    with s.fork() as branch:
        for session, word in ((s, "original"), (branch, "branch"), (s, "original")):
            said = session.run("1")
            assert said.value_repr == repr(word)
            assert ("of the " + ("branch" if word == "original" else "original")) not in said.stdout
