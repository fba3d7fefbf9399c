"""Sessions whose zygote is killed: begun again, or ended by our fault, never by the code's."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

import csandbox

#: KILLS_UNTIL_TOLD in ext/pool_keeper.c.
TOLD = 8


@contextlib.contextmanager
def killing(pool: csandbox.Pool, zygotes: int) -> Iterator[set[int]]:
    """Kill whatever zygote there is before it is of use, so many of them."""
    over = threading.Event()
    killed: set[int] = set()

    def kill() -> None:
        while len(killed) < zygotes and not over.wait(0.001):
            pid = pool.stats().get("zygote_pid", -1)  # no pool before the first use
            if pid > 0:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                killed.add(pid)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


def slow_pool(folder: Path) -> csandbox.Pool:
    """Its zygotes take half a second before their first child, so that they can be killed."""
    venv.create(folder / "env", with_pip=False, symlinks=True)
    (site,) = (folder / "env").glob("lib/python3*/site-packages")
    (site / "slow_start.py").write_text("import time\ntime.sleep(0.5)\n")
    profile = csandbox.Profile.load("open").replace(packages={"names": ["slow_start"]})
    python = folder / "env" / "bin" / "python"
    return csandbox.Pool(profile, workers=1, spares=1, python=python, preload=["slow_start"])


def test_a_session_begins_as_soon_as_a_zygote_lives_long_enough(tmp_path: Path) -> None:
    """Killed more often than what a pool tells those who wait for it."""
    with (
        slow_pool(tmp_path) as pool,
        killing(pool, zygotes=TOLD) as killed,
        pool.session(limits={"startup_s": 120}) as session,
    ):
        assert session.run("6 * 7").value_repr == "42"
        assert len(killed) >= TOLD
        assert pool.run("print(1)").ok


def test_one_for_which_no_zygote_lives_is_a_failure_of_the_sandbox(tmp_path: Path) -> None:
    with (
        slow_pool(tmp_path) as pool,
        killing(pool, zygotes=10**6),
        pytest.raises(csandbox.SetupError) as caught,
    ):
        pool.session(limits={"startup_s": 0.5})
    assert "killed" in str(caught.value) or "start" in str(caught.value)


def wait_for_death(pid: int) -> None:
    """Its state says so before it is reaped, too."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return
        if state in "ZX":
            return
        time.sleep(0.005)


CELLS = {
    "idle": "x = 1",
    "busy": "import time\nprint('begun', flush=True)\ntime.sleep(60)",
    "signals ignored": "import signal, time\nfor n in range(1, 32):\n"
    "    if n not in (9, 19): signal.signal(n, signal.SIG_IGN)\n"
    "print('begun', flush=True)\ntime.sleep(60)",
}


@pytest.mark.parametrize("state", CELLS)
@pytest.mark.parametrize("what", ["origin", "branch"])
def test_a_cell_that_meets_the_death_is_not_at_fault(state: str, what: str) -> None:
    with csandbox.Pool("open", workers=1, spares=1) as pool:
        pool.wait_ready()
        with pool.session() as origin, origin.fork() as branch:
            chosen = origin if what == "origin" else branch
            if state == "idle":
                assert chosen.run(CELLS[state]).ok
                assert chosen._core is not None
                child = chosen._core.pid
                os.kill(pool.stats()["zygote_pid"], signal.SIGKILL)
                wait_for_death(child)
                cell = chosen.run("x")
            else:
                pid = pool.stats()["zygote_pid"]
                cell = chosen.run(
                    CELLS[state],
                    limits={"wall_s": 50, "cpu_s": 50},
                    on_stdout=lambda _: os.kill(pid, signal.SIGKILL),
                )
            assert cell.verdict == "internal_error" and not cell.alive, cell.summary()
            assert not chosen.alive
            with pytest.raises(csandbox.SessionError, match="internal_error"):
                chosen.run("x")
            chosen.reset()
            assert chosen.run("6 * 7").value_repr == "42"


def test_a_branch_that_meets_the_death_is_refused_and_the_session_has_ended() -> None:
    with csandbox.Pool("open", workers=1, spares=1) as pool, pool.session() as session:
        os.kill(pool.stats()["zygote_pid"], signal.SIGKILL)
        assert session._core is not None
        child = session._core.pid
        with pytest.raises(csandbox.BranchError) as caught:
            session.fork()
        wait_for_death(child)
        assert not caught.value.unfit
        if session.alive:  # it was still on its way down
            assert session.run("1").verdict == "internal_error"
        assert not session.alive
