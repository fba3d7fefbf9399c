"""Branches of a session: the state is copied, neither side sees the other, nothing is left."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import pytest

import csandbox
from csandbox import BranchError, Session, SessionError, Snapshot

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def pool() -> Iterator[csandbox.Pool]:
    with csandbox.Pool("open", workers=1, spares=1) as made:
        yield made


@pytest.fixture
def s(pool: csandbox.Pool) -> Iterator[Session]:
    with pool.session() as made:
        yield made


def test_a_branch_has_the_state_and_both_go_their_ways(s: Session) -> None:
    s.run("import json, os\nx = [1]\nopen('f', 'w').write('one')\nos.mkdir('d')\njson.mark = 1")
    with s.fork() as branch:
        look = "x, open('f').read(), sorted(os.listdir('.')), json.mark, os.getcwd()"
        assert branch.run(look).value_repr == s.run(look).value_repr
        assert branch.run("1").count == s.run("1").count == 3
        branch.run("x.append(2)\nopen('f', 'w').write('two')\nopen('g', 'w').close()")
        branch.run("json.mark = 2\nos.rmdir('d')")
        assert s.run("x, open('f').read(), sorted(os.listdir('.')), json.mark").value_repr == (
            "([1], 'one', ['d', 'f'], 1)"
        )
        s.run("x.append(3)\nopen('h', 'w').close()")
        assert branch.run("x, open('f').read(), sorted(os.listdir('.'))").value_repr == (
            "([1, 2], 'two', ['f', 'g'])"
        )
    assert s.run("x").value_repr == "[1, 3]"


def test_random_goes_on_from_the_same_state(s: Session) -> None:
    s.run("import random, os\nrandom.seed(4)\ncalled = []")
    s.run("os.register_at_fork(after_in_child=lambda: called.append(1))")
    with s.fork() as one, s.fork() as two:
        said = {b.run("random.random(), called").value_repr for b in (s, one, two)}
    assert len(said) == 1 and "[]" in said.pop()


def test_libc_knows_the_branch_for_itself(s: Session) -> None:
    with s.fork() as branch:
        told = branch.run("import os, threading\nos.getpid() == threading.get_native_id()")
        assert told.value_repr == "True"
        # signals to itself by pid, by thread id as libc keeps it, and an abort
        assert branch.run("import signal\nsignal.raise_signal(signal.SIGCONT)").ok
        assert branch.run("os.kill(os.getpid(), signal.SIGCONT)").ok
        ended = branch.run("os.abort()")
        assert (ended.verdict, ended.signal, ended.alive) == (
            "runtime_error",
            signal.SIGABRT,
            False,
        )
    assert s.run("1").ok


def test_a_branch_of_a_branch(s: Session) -> None:
    s.run("path = ['root']")
    with s.fork() as one:
        one.run("path.append('one')")
        with one.fork() as two:
            two.run("path.append('two')")
            assert two.run("path").value_repr == "['root', 'one', 'two']"
        assert one.run("path").value_repr == "['root', 'one']"
    assert s.run("path").value_repr == "['root']"


def test_a_snapshot_outlives_what_it_is_of(pool: csandbox.Pool) -> None:
    with pool.session() as origin:
        origin.run("board = [1, 2]\nopen('f', 'w').write('kept')")
        kept = origin.snapshot()
        origin.run("board.clear()")
    assert isinstance(kept, Snapshot) and kept.alive and not origin.alive
    with kept.session() as one, kept.session() as two:
        one.run("board.append(3)\nopen('f', 'w').write('other')")
        assert two.run("board, open('f').read()").value_repr == "([1, 2], 'kept')"
        kept.close()
        assert one.run("board, open('f').read()").value_repr == "([1, 2, 3], 'other')"
    assert not kept.alive
    with pytest.raises(SessionError, match="ended"):
        kept.session()


def test_a_snapshot_survives_the_death_of_its_origin(s: Session) -> None:
    s.run("x = 9")
    with s.snapshot() as kept:
        assert not s.run("import os\nos._exit(3)").alive
        with pytest.raises(SessionError):
            s.fork()
        with kept.session() as again:
            assert again.run("x").value_repr == "9"


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_closed_in_any_order(pool: csandbox.Pool, order: tuple[int, ...]) -> None:
    first = pool.session()
    first.run("x = 1\nopen('f', 'w').write('text')")
    second = first.fork()
    made = [first, second, second.fork()]
    for place in order:
        for session in made:
            if session.alive:
                assert session.run("x, open('f').read()").value_repr == "(1, 'text')"
        made[place].close()
        made[place].close()
        assert not made[place].alive


@pytest.mark.parametrize("dies", ["original", "branch"])
def test_death_is_told_by_the_one_that_died(s: Session, dies: str) -> None:
    s.run("x = 1")
    with s.fork() as branch:
        dead, living = (s, branch) if dies == "original" else (branch, s)
        ended = dead.run("import os\nos._exit(5)")
        assert (ended.exit_code, ended.alive) == (5, False)
        with pytest.raises(SessionError, match="ended"):
            dead.run("1")
        assert living.run("x").value_repr == "1"


@pytest.mark.parametrize("noticed_s", [0, 0.3])  # the zygote has it reaped by then
def test_a_killed_original_is_told_when_it_is_branched(s: Session, noticed_s: float) -> None:
    s.run("x = 1")
    with s.fork() as branch:
        assert s._core is not None
        os.kill(s._core.pid, signal.SIGKILL)
        time.sleep(noticed_s)
        with pytest.raises(BranchError, match="ended"):
            s.fork()
        assert not s.alive
        with branch.fork() as other:
            assert other.run("x").value_repr == "1"


def test_limits_are_for_each_cell_of_each(s: Session) -> None:
    burn = "import time\nuntil = time.process_time() + 0.4\nwhile time.process_time() < until: pass"
    limits = {"cpu_s": 1, "wall_s": 30}
    assert s.run(burn, limits=limits).ok
    with s.fork() as branch:
        for session in (branch, s, branch, s):
            done = session.run(burn, limits=limits)
            assert done.ok and 0.3 < done.usage.cpu_s < 1
        ended = branch.run("while True: pass", limits=limits)
        assert (ended.verdict, ended.limit_hit, ended.alive) == ("time_limit", "cpu", False)
    with s.fork() as branch:
        big = branch.run("kept = bytearray(300 * 1024 * 1024)", limits={"memory_bytes": 1 << 28})
        assert big.verdict in ("memory_limit", "runtime_error")
    assert s.run("1").ok


def test_memory_counts_what_the_state_holds(s: Session) -> None:
    s.run("kept = bytearray(b'x') * (40 << 20)")
    with s.fork() as branch:
        own = branch.run("1").usage.peak_memory_bytes
        assert 40 << 20 <= own < 120 << 20


def test_interrupt_and_output_of_a_branch(s: Session) -> None:
    with s.fork() as branch:
        threading.Timer(0.4, branch.interrupt).start()
        stopped = branch.run("print('on')\nwhile True: pass", limits={"cpu_s": 30, "wall_s": 60})
        assert stopped.raised is not None and stopped.raised.name == "KeyboardInterrupt"
        assert stopped.stdout == "on\n" and branch.alive
        heard: list[bytes] = []
        assert branch.run("print('later')", on_stdout=heard.append).ok
        assert b"".join(heard) == b"later\n"
        assert s.run("print('mine')").stdout == "mine\n"


def test_reset_of_a_branch_begins_anew(s: Session) -> None:
    s.run("x = 1\nopen('f', 'w').close()")
    with s.fork() as branch:
        branch.reset()
        assert branch.run("import os\n('x' in globals(), os.listdir('.'))").value_repr == (
            "(False, [])"
        )
    assert s.run("x").value_repr == "1"


def test_violations_and_layers_are_the_branches_own(s: Session) -> None:
    try_it = "import os\ntry: os.symlink('a', 'b')\nexcept OSError as e: print(type(e).__name__)"
    assert len(s.run(try_it).violations) == 1
    with s.fork() as branch:
        quiet = branch.run("1")
        assert quiet.violations == () and quiet.isolation == s.run("1").isolation
        assert [v["syscall"] for v in branch.run(try_it).violations] == ["symlink"]
    assert s.run("1").violations == ()


@pytest.mark.parametrize(
    ("state", "why"),
    [
        (
            "import threading\nt = threading.Thread(target=threading.Event().wait, daemon=True)"
            "\nt.start()",
            "2 threads",
        ),
        ("f = open('f', 'w')", "1 open files"),
        ("import os\np = os.pipe()", "2 open files"),
        ("import mmap\nm = mmap.mmap(-1, 4096)", "shared memory"),
        (
            "import mmap\nf = open('f', 'w+b')\nf.write(bytes(4096))\nf.flush()\n"
            "m = mmap.mmap(f.fileno(), 4096)\nf.close()",
            "open files",  # mmap keeps a descriptor of its own
        ),
    ],
)
def test_what_cannot_be_branched_is_told(s: Session, state: str, why: str) -> None:
    assert s.run(state).ok
    with pytest.raises(BranchError, match=why) as caught:
        s.fork()
    assert caught.value.unfit and s.alive
    assert s.run("1 + 1").value_repr == "2"


def test_what_was_closed_is_no_obstacle(s: Session) -> None:
    s.run("import threading\nt = threading.Thread(target=print)\nt.start()\nt.join()")
    s.run("f = open('f', 'w')\nf.write('x')")
    s.run("f.close()")
    with s.fork() as branch:
        again = branch.run(
            "t = threading.Thread(target=print)\nt.start()\nt.join()\nopen('f').read()"
        )
        assert again.value_repr == "'x'"


def test_one_of_a_family_runs_at_a_time(s: Session) -> None:
    with s.fork() as branch:
        began = threading.Event()
        long = threading.Thread(
            target=lambda: branch.run(
                "print(1)\nimport time\ntime.sleep(1)", on_stdout=lambda _: began.set()
            )
        )
        long.start()
        began.wait(20)
        waited = s.run("1", limits={"wall_s": 0.5})  # waiting is not its time
        long.join()
        assert waited.ok
        # in the thread that runs the other one it could never come to an end
        inner: list[object] = []

        def from_within(_: bytes) -> None:
            try:
                s.run("1")
            except SessionError as error:
                inner.append(error)

        assert branch.run("print(1)", on_stdout=from_within).ok
        assert len(inner) == 1 and "family" in str(inner[0])


def test_close_ends_the_waiting(s: Session) -> None:
    with s.fork() as branch:
        began = threading.Event()
        ended: list[object] = []

        def wait_for_it() -> None:
            began.wait(20)
            try:
                ended.append(s.run("1"))
            except SessionError as error:
                ended.append(error)

        waiter = threading.Thread(target=wait_for_it)
        waiter.start()
        threading.Timer(1.5, s.close).start()
        code = "print(1)\nimport time\ntime.sleep(3)"
        assert branch.run(code, on_stdout=lambda _: began.set(), limits={"wall_s": 20}).ok
        waiter.join()
        assert isinstance(ended[0], SessionError) and not s.alive


def test_a_folder_of_every_shape(s: Session) -> None:
    s.run(
        "import os\n"
        "os.makedirs('a/b/c')\nopen('a/b/c/deep', 'w').write('deep')\n"
        "os.chdir('a/b')\n"
        "fd = os.open('closed', os.O_CREAT | os.O_WRONLY, 0)\nos.write(fd, b'shut')\nos.close(fd)\n"
        "os.mkdir('../sealed', 0o500)\n"
        "f = open('sparse', 'wb')\nf.truncate(5 << 20)\nf.seek(1 << 20)\nf.write(b'mid')\nf.close()"
    )
    look = (
        "os.getcwd(), sorted(os.listdir('.')), open('c/deep').read(), os.stat('sparse').st_size,"
        "os.stat('sparse').st_blocks < 2048, open('sparse', 'rb').read()[1 << 20:][:3],"
        "os.stat('closed').st_mode, os.stat('../sealed').st_mode, os.stat('c/deep').st_mtime_ns"
    )
    with s.fork() as branch:
        told = branch.run(look)
        assert told.value_repr == s.run(look).value_repr and "'deep'" in str(told.value_repr)
        branch.run("open('c/deep', 'w').write('other')\nos.remove('sparse')")
        assert s.run("open('c/deep').read(), os.path.exists('sparse')").value_repr == (
            "('deep', True)"
        )


def test_the_copy_is_bounded(pool: csandbox.Pool) -> None:
    limits = {"disk_bytes": 4 << 20, "file_bytes": 4 << 20, "files": 50}
    with pool.session(limits=limits, files={"given": "text"}) as s:
        assert s.run("for i in range(40): open(f'f{i}', 'w').write('x' * 1000)").ok
        with s.fork() as branch:
            assert branch.run(
                "import os\nlen(os.listdir('.')), open('given').read()"
            ).value_repr == ("(41, 'text')")
            # what was made before the branch counts, as it does in the original
            for session in (branch, s):
                more = session.run("for i in range(20): open(f'g{i}', 'w').close()")
                assert more.raised is not None and "quota" in more.raised.text


def test_fifty_branches(s: Session) -> None:
    s.run("x = list(range(1000))\nopen('f', 'w').write('text')")
    made = [s.fork() for _ in range(50)]
    for number, branch in enumerate(made):
        assert branch.run(f"x.append({number})\nopen('f', 'a').write('{number}')").ok
    for number, branch in reversed(list(enumerate(made))):
        assert branch.run("x[1000:], open('f').read()").value_repr == (
            f"([{number}], 'text{number}')"
        )
    for branch in made:
        branch.close()
    assert s.run("len(x), open('f').read()").value_repr == "(1000, 'text')"


def test_calls_values_and_profiles() -> None:
    with csandbox.Session("compute") as s:
        s.run("def f(n):\n    return n + k")
        s.set(k=40)
        with s.fork() as branch:
            branch.set(k=1)
            assert (branch.call("f", (2,)).value, s.call("f", (2,)).value) == (3, 42)
            assert branch.get("k") == 1 and branch.profile == s.profile
            assert branch.run("import socket").verdict == "rejected"


def test_a_busy_session_is_not_branched(s: Session) -> None:
    began = threading.Event()
    code = "print(1)\nimport time\ntime.sleep(1)"
    cell = threading.Thread(target=lambda: s.run(code, on_stdout=lambda _: began.set()))
    cell.start()
    began.wait(20)
    with pytest.raises(SessionError, match="busy"):
        s.fork()
    cell.join()
    s.fork().close()


def test_an_old_zygote_keeps_its_families() -> None:
    with csandbox.Pool("open", workers=1, spares=1, renew_runs=4) as pool, pool.session() as s:
        s.run("x = 1")
        zygote = pool.stats()["zygote_pid"]
        for _ in range(8):
            assert pool.run("print(1)").ok
        assert pool.stats()["zygote_pid"] != zygote  # it was let go, and lives for its children
        with s.fork() as branch:
            s.close()
            with branch.fork() as other:
                assert other.run("x").value_repr == "1"


HOST = """
    import os, sys, time
    import csandbox
    pool = csandbox.Pool("open", workers=1, spares=1)
    s = pool.session()
    s.run("import signal\\nfor n in range(1, 32):\\n"
          "    if n not in (9, 19): signal.signal(n, signal.SIG_IGN)")
    branch = s.fork()
    kept = branch.snapshot()
    if sys.argv[1] == "origin first":
        s.close()
    print(*(m._core.pid for m in (branch, kept._branch)), pool.stats()["zygote_pid"], flush=True)
    branch.run("while True: pass", limits={"cpu_s": 60, "wall_s": 60})
"""


@pytest.mark.parametrize("how", ["host", "zygote"])
@pytest.mark.parametrize("when", ["whole family", "origin first"])
def test_branches_die_with_their_host(how: str, when: str) -> None:
    folder = tempfile.mkdtemp(prefix="host-")
    os.chmod(folder, 0o755)  # a child that root starts passes through
    environment = {**os.environ, "TMPDIR": folder}
    host = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(HOST), when],
        stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment,
    )  # fmt: skip
    try:
        assert host.stdout is not None
        *branches, zygote = map(int, host.stdout.readline().split())
        assert all(_lives(pid) for pid in branches)
        os.kill(host.pid if how == "host" else zygote, signal.SIGKILL)
        deadline = time.monotonic() + 20
        while any(map(_lives, branches)) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not any(map(_lives, branches))
        host.kill()
        host.wait()
        # the next process of the user sweeps what a killed one has left, homes too
        sweep = "import csandbox; assert csandbox.run('print(1)', profile='open').ok"
        subprocess.run([sys.executable, "-c", sweep], check=True, cwd=ROOT, env=environment)
        assert os.listdir(folder) == []
    finally:
        host.kill()
        host.communicate()
        shutil.rmtree(folder, ignore_errors=True)


def _lives(pid: int) -> bool:
    try:
        stat = Path("/proc", str(pid), "stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def test_repr_and_names(s: Session) -> None:
    with s.fork() as branch, s.snapshot() as kept:
        assert repr(branch) == repr(s) and "kept" in repr(kept)
    assert "ended" in repr(kept)
