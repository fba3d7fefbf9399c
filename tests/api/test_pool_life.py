"""A pool over its life: renewals, a zygote that is killed, preloads, figures, the end."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
import venv
from importlib.util import find_spec
from pathlib import Path

import pytest

import csandbox

LIMITS = {"cpu_s": 10, "wall_s": 60}


def wait_for(condition: object, seconds: float = 30.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():  # type: ignore[operator]
            return True
        time.sleep(0.01)
    return False


def test_the_zygote_is_renewed_by_runs() -> None:
    """New address layout and hash seed; no run fails, and none waits for a start."""
    source = "print(hash('a'))"
    with csandbox.Pool("open", workers=1, spares=2, renew_runs=5) as pool:
        pool.wait_ready()
        first = pool.stats()["zygote_pid"]
        results = [pool.run(source) for _ in range(24)]
        while pool.stats()["renewals"] < 3 and len(results) < 500:
            results.append(pool.run(source))
        assert wait_for(lambda: pool.stats()["zygote_pid"] > 0)
        stats = pool.stats()
    assert all(result.ok for result in results)
    assert stats["renewals"] >= 3 and stats["zygote_pid"] != first and stats["failures"] == 0
    assert len({result.stdout for result in results}) >= 3


def test_the_zygote_is_renewed_by_time() -> None:
    with csandbox.Pool("open", workers=1, spares=1, renew_s=0.3) as pool:
        pool.wait_ready()
        assert wait_for(lambda: pool.stats()["renewals"] >= 2)
        assert pool.run("print(1)").stdout == "1\n"
        assert pool.stats()["failures"] == 0


def test_a_renewal_leaves_no_old_zygote_behind() -> None:
    from tests.conftest import children

    before = children()
    with csandbox.Pool("open", workers=1, spares=1, renew_runs=2) as pool:
        for _ in range(12):
            pool.run("print(1)")
        assert wait_for(lambda: len(children() - before) <= 2)


def test_why_a_zygote_does_not_start_is_said_also_after_a_long_traceback() -> None:
    """A module that raises far down: the last line is the one that says why."""
    if not find_spec("matplotlib"):
        pytest.skip("matplotlib is not installed here")
    profile = csandbox.Profile.load("open").replace(env={"MPLBACKEND": "no such"})
    with (
        csandbox.Pool(profile, workers=1, spares=1, preload=["matplotlib.pyplot"]) as pool,
        pytest.raises(csandbox.SetupError) as caught,
    ):
        pool.run("print(1)")
    assert "Error: " in str(caught.value) and "File " not in str(caught.value)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_a_killed_zygote_is_replaced(number: signal.Signals) -> None:
    with csandbox.Pool("open", workers=2, spares=2) as pool:
        pool.wait_ready()
        for _ in range(3):
            pid = pool.stats()["zygote_pid"]
            os.kill(pid, number)
            result = pool.run("print(1)", limits=LIMITS)
            # What had begun when it died can not be run again.
            assert result.verdict in ("accepted", "internal_error"), result.stderr
            assert wait_for(lambda pid=pid: pool.stats()["zygote_pid"] not in (-1, pid))
            assert pool.wait_ready()
            assert pool.run("print(1)", limits=LIMITS).ok


def test_zygotes_that_are_killed_again_and_again_raise_nothing() -> None:
    """Also before they were of any use: another is made, each after a longer while."""
    verdicts: list[str] = []
    over = threading.Event()
    with csandbox.Pool("open", workers=4, spares=2) as pool:
        assert pool.wait_ready()

        def work() -> None:
            while not over.is_set():
                verdicts.append(pool.run("print(1)", limits=LIMITS).verdict)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(25):
            pid = pool.stats()["zygote_pid"]
            if pid > 0:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.03)
        over.set()
        for thread in threads:
            thread.join()
        assert wait_for(lambda: pool.stats()["zygote_pid"] > 0)
        assert pool.wait_ready()
        assert pool.run("print(1)", limits=LIMITS).ok
    assert set(verdicts) <= {"accepted", "internal_error"}


def test_spares_that_died_before_anybody_saw_it_cost_no_run() -> None:
    """SIGKILL takes all of them at once, and the next caller may be faster than the keeper."""
    with csandbox.Pool("open", workers=2, spares=4) as pool:
        for _ in range(4):
            assert pool.wait_ready()
            for child in (
                Path(f"/proc/{(pid := pool.stats()['zygote_pid'])}/task/{pid}/children")
                .read_text()
                .split()
            ):
                os.kill(int(child), signal.SIGKILL)
            assert pool.run("print(1)", limits=LIMITS).ok


def test_a_run_that_meets_the_death_is_never_the_codes_fault() -> None:
    """Begun, it is "internal_error"; not begun, it is run again."""
    verdicts = []
    with csandbox.Pool("open", workers=4, spares=4) as pool:
        pool.wait_ready()

        def work() -> None:
            result = pool.run("import time\ntime.sleep(0.4)\nprint('end')", limits=LIMITS)
            verdicts.append((result.verdict, result.stdout))

        for _ in range(3):
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            time.sleep(0.15)
            os.kill(pool.stats()["zygote_pid"], signal.SIGKILL)
            for thread in threads:
                thread.join()
            assert wait_for(lambda: pool.stats()["zygote_pid"] > 0)
            assert pool.wait_ready()
        assert pool.run("print(1)").ok
    assert len(verdicts) == 12
    assert {verdict for verdict, _ in verdicts} <= {"accepted", "internal_error"}
    assert all(out == "end\n" for verdict, out in verdicts if verdict == "accepted")


def test_a_zygote_that_stops_does_not_stop_a_run_that_is_on() -> None:
    with csandbox.Pool("open", workers=1, spares=1) as pool:
        pool.wait_ready()
        pid = pool.stats()["zygote_pid"]
        handle = pool.start("import time\ntime.sleep(0.3)\nprint('end')", limits=LIMITS)
        time.sleep(0.1)
        os.kill(pid, signal.SIGSTOP)
        try:
            assert handle.wait(30).stdout == "end\n"
        finally:
            os.kill(pid, signal.SIGCONT)


def test_a_zygote_without_an_interpreter_says_why(tmp_path: Path) -> None:
    with csandbox.Pool("open", preload=["no_such_module_at_all"]) as pool:
        assert pool.run("print(1)").ok  # what is not installed is passed over
    with (
        pytest.raises((csandbox.SandboxError, ValueError)),
        csandbox.Pool("open", python=tmp_path / "python3") as pool,
    ):
        pool.run("print(1)")


@pytest.mark.parametrize("name", ["numpy", "pandas", "scipy", "sympy", "matplotlib.pyplot"])
def test_a_preloaded_package(name: str) -> None:
    if not find_spec(name.partition(".")[0]):
        pytest.skip(f"{name} is not installed here")
    source = (
        f"import sys\nprint({name!r} in sys.modules)\nimport time\nbegan = time.perf_counter()\n"
        f"import {name}\nspent = time.perf_counter() - began\n"
        "import threading\nprint(threading.active_count(), spent < 0.01)\n"
    )
    with csandbox.Pool("open", workers=1, spares=1, preload=[name], startup_s=90) as pool:
        result = pool.run(source, limits=LIMITS)
    assert result.stdout == "True\n1 True\n", (result.stderr, result.error)


def test_a_package_that_starts_a_thread_is_refused(tmp_path: Path) -> None:
    home = tmp_path / "env"
    venv.create(home, with_pip=False, symlinks=True)
    (site,) = home.glob("lib/python3*/site-packages")
    (site / "starter.py").write_text(
        "import threading, time\n"
        "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    )
    profile = csandbox.Profile.load("open").replace(packages={"names": ["starter"]})
    python = home / "bin" / "python"
    with csandbox.Pool(profile, python=python) as pool:
        assert pool.run("import starter").ok  # a program may start one, in its own child
    with (
        csandbox.Pool(profile, python=python, preload=["starter"]) as pool,
        pytest.raises(csandbox.SandboxError, match=r"starter starts a thread.* take it out"),
    ):
        pool.run("print(1)")


def test_blas_has_one_thread_in_a_preloaded_numpy() -> None:
    if not find_spec("numpy"):
        pytest.skip("numpy is not installed here")
    source = "import numpy\na = numpy.ones((300, 300))\nprint(int((a @ a).sum()))"
    with csandbox.Pool("open", workers=1, spares=1, preload=["numpy"], startup_s=90) as pool:
        result = pool.run(source, limits={**LIMITS, "threads": 1})
    assert result.stdout == "27000000\n" and not result.violations, result.stderr


def test_figures() -> None:
    with csandbox.Pool("open", workers=2, spares=2) as pool:
        assert pool.stats() == {}  # not started
        assert pool.wait_ready()
        for _ in range(5):
            assert pool.run("print(1)").ok
        stats = pool.stats()
    assert stats["runs"] == 5 and stats["waiting"] == 0 and stats["running"] == 0
    assert stats["spares_hit"] + stats["spares_missed"] == 5
    assert 0 < stats["p50_s"] <= stats["p99_s"] < 60
    assert stats["zygote_resident_bytes"] > 4 << 20


def test_waiting_and_running_are_counted() -> None:
    with csandbox.Pool("open", workers=1, spares=1) as pool:
        pool.wait_ready()
        handles = [pool.start("import time\ntime.sleep(60)", limits=LIMITS) for _ in range(3)]
        assert wait_for(lambda: pool.stats()["running"] == 1)
        assert pool.stats()["running"] == 1
        for handle in handles:
            with contextlib.suppress(csandbox.SandboxError):
                handle.kill()


def test_close_waits_for_runs_and_refuses_new_ones() -> None:
    pool = csandbox.Pool("open", workers=1, spares=1)
    results: list[csandbox.Result] = []
    thread = threading.Thread(
        target=lambda: results.append(pool.run("import time\ntime.sleep(0.5)\nprint('end')"))
    )
    thread.start()
    assert wait_for(lambda: pool.stats().get("running") == 1)
    pool.close()
    thread.join()
    assert results[0].stdout == "end\n"
    pool.close()
    with pytest.raises(ValueError, match="closed"):
        pool.run("print(1)")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"workers": 0}, "workers"),
        ({"spares": 5000}, "spares"),
        ({"workers": True}, "workers"),
        ({"profile": "no-such"}, "no-such"),
    ],
)
def test_wrong_arguments_are_named(options: dict[str, object], words: str) -> None:
    with pytest.raises((ValueError, csandbox.ProfileError), match=words):
        csandbox.Pool(**options)  # type: ignore[arg-type]


def test_arguments_of_the_pool_are_not_those_of_a_run() -> None:
    with csandbox.Pool("open") as pool:
        for name in ("profile", "python", "fresh", "namespaces"):
            with pytest.raises(TypeError, match=name):
                pool.run("1", **{name: "x"})
        with pytest.raises(TypeError, match="preload"):
            csandbox.Pool("open", preload="numpy")
        assert pool.stats() == {}


def test_every_thread_may_use_one_pool() -> None:
    failed: list[object] = []
    with csandbox.Pool("open", workers=2, spares=3) as pool:

        def work(number: int) -> None:
            for turn in range(5):
                result = pool.run(f"print({number}, {turn})")
                if result.stdout != f"{number} {turn}\n":
                    failed.append((result, result.stderr, result.error))

        threads = [threading.Thread(target=work, args=(n,)) for n in range(24)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        stats = pool.stats()
    assert not failed, failed[0]
    assert stats["runs"] == 120 and stats["failures"] == 0


def test_limits_of_the_pool_and_of_the_run() -> None:
    with csandbox.Pool("open", workers=1, spares=1, limits={"cpu_s": 0.3, "wall_s": 20}) as pool:
        assert pool.run("while True: pass").limit_hit == "cpu"
        longer = pool.run(
            "import time\nwhile time.process_time() < 0.5: pass\nprint(1)", limits={"cpu_s": 5}
        )
        assert longer.ok, longer.verdict


def test_versions_of_the_interpreter() -> None:
    from tests.confined import pythons

    for python in pythons():
        with csandbox.Pool("open", workers=1, spares=1, python=python) as pool:
            result = pool.run("import sys\nprint(sys.version_info[:2])")
            assert result.ok, (python, result.stderr, result.error)
    assert sys.version_info >= (3, 10)
