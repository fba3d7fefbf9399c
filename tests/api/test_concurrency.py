"""Runs from many threads, from asyncio's executor, and interrupted ones."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import csandbox


def test_many_threads_get_their_own_answers():
    with ThreadPoolExecutor(8) as pool:
        codes = [f"print({i} ** 2)" for i in range(40)]
        results = list(pool.map(csandbox.run, codes))
    assert [result.stdout for result in results] == [f"{i**2}\n" for i in range(40)]


def test_the_caller_goes_on_meanwhile():
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.01)

    thread = threading.Thread(target=tick)
    thread.start()
    csandbox.run("import time; time.sleep(0.5)", limits={"wall_s": 5})
    stop.set()
    thread.join()
    assert len(ticks) > 15


def test_from_asyncio():
    async def main():
        return await asyncio.gather(
            *(asyncio.to_thread(csandbox.run, f"print({i})") for i in range(4))
        )

    assert [result.stdout for result in asyncio.run(main())] == ["0\n", "1\n", "2\n", "3\n"]


def test_signal_handlers_of_the_caller_are_left_alone():
    before = [signal.getsignal(n) for n in range(1, signal.NSIG) if n not in (32, 33)]
    csandbox.run("while True: pass", limits={"cpu_s": 0.1})
    assert [signal.getsignal(n) for n in range(1, signal.NSIG) if n not in (32, 33)] == before


def test_a_callers_child_is_not_reaped():
    own = subprocess.Popen([sys.executable, "-c", "raise SystemExit(7)"])
    time.sleep(0.2)
    csandbox.run("print(1)")
    assert own.wait() == 7


def test_keyboard_interrupt_ends_the_child_and_the_call():
    main = threading.main_thread()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a shell's background
    timer = threading.Timer(0.5, lambda: signal.pthread_kill(main.ident, signal.SIGINT))
    timer.start()
    begin = time.monotonic()
    interrupted = False
    try:
        csandbox.run("import time; time.sleep(30)", limits={"wall_s": 30})
    except KeyboardInterrupt:
        interrupted = True
    timer.join()
    assert interrupted
    assert time.monotonic() - begin < 3


def test_after_a_fork_of_the_caller():
    csandbox.run("print(1)")  # a compiled policy is inherited
    pid = os.fork()
    if pid == 0:
        try:
            # A pool's spares would leave folders behind, as any process that ends by os._exit.
            good = csandbox.run("print(2)", fresh=True).stdout == "2\n"
        except BaseException:
            good = False
        os._exit(0 if good else 1)
    assert os.waitpid(pid, 0)[1] == 0


def scratch_folders():
    return {name for name in os.listdir(os.environ["TMPDIR"]) if name.startswith("csandbox-")}


def test_nothing_outlives_a_killed_caller():
    code = "import csandbox; csandbox.run('import time; time.sleep(60)', limits={'wall_s': 60})"
    before = scratch_folders()
    caller = subprocess.Popen([sys.executable, "-c", code])
    deadline = time.monotonic() + 20
    child = None
    while child is None and time.monotonic() < deadline:
        time.sleep(0.05)
        listing = Path(f"/proc/{caller.pid}/task/{caller.pid}/children").read_text()
        child = next(iter(listing.split()), None)
    assert child is not None
    time.sleep(0.5)
    caller.kill()
    caller.wait()
    deadline = time.monotonic() + 3
    while os.path.exists(f"/proc/{child}") and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not os.path.exists(f"/proc/{child}")
    # what a SIGKILLed caller cannot remove any more, its scratch folder, its janitor removes
    deadline = time.monotonic() + 20
    while scratch_folders() - before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not scratch_folders() - before


def test_a_compiled_policy_holds_few_descriptors():
    """Hosts often have a limit of 1024; one policy of a real interpreter has 200 paths."""
    csandbox._policy.clear_caches()
    before = len(os.listdir("/proc/self/fd"))
    for profile in csandbox.Profile.builtin():
        assert csandbox.run("print(1)", profile=profile).ok
    assert len(os.listdir("/proc/self/fd")) - before < 50 * len(csandbox.Profile.builtin())


def test_too_few_descriptors_are_the_sandboxs_failure():
    code = (
        "import csandbox, resource\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n"
        "try:\n    print(csandbox.run('print(1)').verdict)\n"
        "except csandbox.SetupError as error:\n    print(error.errno, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith(("accepted", "24 ")), done
