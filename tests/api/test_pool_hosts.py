"""Pools in hosts of every kind: forked, spawned, ending, short of descriptors, with signals and
modules of their own. Each program runs in a process of its own, so that nothing of it stays."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

PROGRAMS = {
    "fork": """
        import os
        with csandbox.Pool("open", workers=1, spares=2) as pool:
            assert pool.run("print(1)").stdout == "1\\n"
            pid = os.fork()
            if pid == 0:
                out = pool.run("print(2)").stdout
                zygote = pool.stats()["zygote_pid"]
                pool.close()
                os._exit(0 if out == "2\\n" else 1)
            assert os.waitpid(pid, 0)[1] == 0
            assert pool.run("print(3)").stdout == "3\\n"  # the child's end did not touch ours
            assert pool.stats()["failures"] == 0 and pool.stats()["renewals"] == 0
    """,
    "fork while others run": """
        import os, threading
        with csandbox.Pool("open", workers=2, spares=2) as pool:
            stop = threading.Event()
            def work():
                while not stop.is_set():
                    assert pool.run("print(1)").ok
            threads = [threading.Thread(target=work) for _ in range(3)]
            for t in threads: t.start()
            try:
                for _ in range(6):
                    pid = os.fork()
                    if pid == 0:
                        ok = pool.run("print(2)").stdout == "2\\n"
                        pool.close()
                        os._exit(0 if ok else 1)
                    assert os.waitpid(pid, 0)[1] == 0
            finally:
                stop.set()
                for t in threads: t.join()
    """,
    "fork after runs": """
        import os
        def left():
            count, told = os.pipe()
            pid = os.fork()
            if pid == 0:
                os.write(told, b"%d" % len(os.listdir("/proc/self/fd")))
                os._exit(0)
            assert os.waitpid(pid, 0)[1] == 0
            os.close(told)
            with os.fdopen(count) as stream: return int(stream.read())
        with csandbox.Pool("open", workers=2, spares=8) as pool:
            pool.run("print(1)")
            few = left()
            assert pool.wait_ready()
            idle = left()
            assert idle <= few, (few, idle)  # nor is anything left of those that are ready
            for _ in range(6): assert pool.run("print(1)").ok
            after = left()
            # those that are left standing hold nine each; one may just be in the making
            assert after < idle + 3 * 9, (idle, after)
    """,
    "fork with the default pools": """
        import os
        for _ in range(5): assert csandbox.run("print(1)").stdout == "1\\n"
        pid = os.fork()
        if pid == 0:
            ok = all(csandbox.run("print(2)").stdout == "2\\n" for _ in range(5))
            os._exit(0 if ok else 1)
        assert os.waitpid(pid, 0)[1] == 0
        assert csandbox.run("print(3)").stdout == "3\\n"
    """,
    "multiprocessing fork": """
        import multiprocessing
        pool = csandbox.Pool("open", workers=1, spares=1)
        assert pool.run("print(1)").ok
        def work(n): return pool.run(f"print({n})").stdout
        with multiprocessing.get_context("fork").Pool(2) as workers:
            assert workers.map(work, range(6)) == [f"{n}\\n" for n in range(6)]
        assert pool.run("print(1)").ok
        pool.close()
    """,
    "multiprocessing spawn": """
        import multiprocessing
        def work(n): return csandbox.run(f"print({n})").stdout
        if __name__ == "__main__":
            assert csandbox.run("print(1)").ok
            with multiprocessing.get_context("spawn").Pool(2) as workers:
                assert workers.map(work, range(6)) == [f"{n}\\n" for n in range(6)]
    """,
    "ends without close": """
        pool = csandbox.Pool("open", workers=1, spares=2)
        assert pool.run("print(1)").ok
        print(pool.stats()["zygote_pid"])
    """,
    "ends with a handle running": """
        pool = csandbox.Pool("open", workers=1, spares=1)
        handle = pool.start("import time\\ntime.sleep(3)", limits={"wall_s": 60})
        pool.wait_ready()
        print(pool.stats()["zygote_pid"])
    """,
    "ends with a daemon thread in a run": """
        import threading, time
        pool = csandbox.Pool("open", workers=1, spares=1)
        pool.wait_ready()
        threading.Thread(target=pool.run, args=("import time\\ntime.sleep(2)",),
                         kwargs={"limits": {"wall_s": 3}}, daemon=True).start()
        time.sleep(0.3)
        print(pool.stats()["zygote_pid"])
    """,
    "a run in atexit": """
        import atexit
        pool = csandbox.Pool("open", workers=1, spares=1)
        assert pool.run("print(1)").ok
        @atexit.register
        def last():
            try: assert pool.run("print(2)").stdout == "2\\n"
            except ValueError: pass  # closed before: registered later, called sooner
    """,
    "few descriptors": """
        import resource
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
        import threading
        # Rules for hundreds of paths are open one after the other: three profiles fit.
        for name in ("open", "compute", "contest"):
            assert csandbox.run("print(1)", profile=name, fresh=True).ok
        with csandbox.Pool("open", workers=4, spares=4) as pool:
            bad = []
            def work():
                for _ in range(4):
                    result = pool.run("print(1)")
                    if result.stdout != "1\\n": bad.append(result)
            threads = [threading.Thread(target=work) for _ in range(40)]
            for t in threads: t.start()
            for t in threads: t.join()
            assert not bad, bad
    """,
    "SIGCHLD ignored": """
        import signal
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        with csandbox.Pool("open", workers=1, spares=1) as pool:
            for code, exit_code in (("print(1)", 0), ("exit(3)", 3)):
                result = pool.run(code)
                assert result.exit_code == exit_code, result
    """,
    "SIGCHLD handled": """
        import os, signal
        reaped = []
        def handler(*a):
            try:
                while True:
                    pid, status = os.waitpid(-1, os.WNOHANG)
                    if pid == 0: break
                    reaped.append(pid)
            except ChildProcessError: pass
        signal.signal(signal.SIGCHLD, handler)
        with csandbox.Pool("open", workers=1, spares=1) as pool:
            for _ in range(5):
                assert pool.run("exit(3)").exit_code == 3
    """,
    "faulthandler": """
        import faulthandler
        faulthandler.enable()
        faulthandler.dump_traceback_later(60)
        with csandbox.Pool("open", workers=1, spares=1) as pool:
            assert pool.run("import ctypes\\nctypes.string_at(0)").signal == 11
            assert pool.run("print(1)").ok
        faulthandler.cancel_dump_traceback_later()
    """,
    "select taken over": """
        import select, selectors, time
        def no(*a, **k): raise RuntimeError("patched: would block the hub")
        for name in ("select", "poll", "epoll"): setattr(select, name, no)
        time.sleep = no
        with csandbox.Pool("open", workers=1, spares=1) as pool:
            assert pool.run("print(1)").stdout == "1\\n"
            assert pool.start("print(2)").wait(30).stdout == "2\\n"
            assert [r.stdout for r in pool.run_many(["print(3)"] * 3)] == ["3\\n"] * 3
    """,
    "signals blocked": """
        import signal
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        with csandbox.Pool("open", workers=1, spares=1) as pool:
            result = pool.run("import signal\\nprint(signal.pthread_sigmask(signal.SIG_BLOCK, []))")
            assert result.stdout == "set()\\n", result.stdout
    """,
    "streams closed": """
        import os
        for fd in (0, 1, 2): os.close(fd)
        with csandbox.Pool("open", workers=1, spares=1) as pool:
            if pool.run("print(1)").stdout != "1\\n": os._exit(1)
    """,
    "KeyboardInterrupt in run": """
        import os, signal, threading, time
        with csandbox.Pool("open", workers=1, spares=1) as pool:
            pool.wait_ready()
            signal.signal(signal.SIGINT, signal.default_int_handler)
            threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
            try: pool.run("import time\\ntime.sleep(60)", limits={"wall_s": 60})
            except KeyboardInterrupt: pass
            else: raise AssertionError("not interrupted")
            assert pool.stats()["running"] == 0
            assert pool.run("print(1)").ok
    """,
    "KeyboardInterrupt in run_many": """
        import os, signal, threading
        with csandbox.Pool("open", workers=2, spares=2) as pool:
            pool.wait_ready()
            signal.signal(signal.SIGINT, signal.default_int_handler)
            threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
            try: list(pool.run_many(["import time\\ntime.sleep(60)"] * 9, limits={"wall_s": 60}))
            except KeyboardInterrupt: pass
            else: raise AssertionError("not interrupted")
            assert pool.stats()["running"] == 0 and pool.stats()["waiting"] == 0
            assert pool.run("print(1)").ok
    """,
    "sub-interpreter": """
        try: import _xxsubinterpreters as interpreters
        except ImportError: import _interpreters as interpreters
        code = "import csandbox._core"
        name = interpreters.create()
        try: failed = interpreters.run_string(name, code)
        except Exception as error: failed = str(error)
        assert failed and "interpreter" in str(failed), failed
        interpreters.destroy(name)
        assert csandbox.run("print(1)").ok
    """,
}


def _run(tmp_path: Path, name: str) -> subprocess.CompletedProcess[str]:
    path = tmp_path / "host.py"
    path.write_text("import csandbox\n" + textwrap.dedent(PROGRAMS[name]))
    return subprocess.run(
        [sys.executable, path],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_host(name: str, tmp_path: Path) -> None:
    done = _run(tmp_path, name)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr, done.stderr
    if name.startswith("ends"):
        assert not Path(f"/proc/{int(done.stdout)}").exists()


def test_a_host_that_is_killed_leaves_no_zygote(tmp_path: Path) -> None:
    path = tmp_path / "host.py"
    path.write_text(
        "import csandbox, sys\npool = csandbox.Pool('open', workers=1, spares=2)\n"
        "pool.wait_ready()\nprint(pool.stats()['zygote_pid'], flush=True)\n"
        "pool.run('import time\\ntime.sleep(60)', limits={'wall_s': 60})\n"
    )
    with subprocess.Popen(
        [sys.executable, path], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}
    ) as host:
        assert host.stdout is not None
        zygote = int(host.stdout.readline())
        host.kill()
    deadline = time.monotonic() + 20
    while Path(f"/proc/{zygote}").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not Path(f"/proc/{zygote}").exists()


def test_hosts_that_are_killed_leave_nothing() -> None:
    """A share of `python -m bench.kills`: processes, folders, mounts."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.kills", "--kills", "28", "--at-once", "4"],
        cwd=ROOT,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("28 kills"), done.stdout
