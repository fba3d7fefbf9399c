"""What modules register for after a fork: a zygote's children are as if it had been called."""

from __future__ import annotations

import csandbox

WAIT_S = 30.0


def printed(pool: csandbox.Pool, source: str) -> str:
    result = pool.run(source)
    assert result.ok, result.stderr
    return result.stdout


def test_every_generator_of_the_module_has_its_own_state() -> None:
    source = (
        "import random, sys\n"
        "print(random.random(), random.getrandbits(64), random.gauss(0, 1))\n"
        "assert random._inst.gauss_next is not None\n"
    )
    with csandbox.Pool("open") as pool:
        assert len({printed(pool, source) for _ in range(8)}) == 8


def test_the_first_thread_has_the_number_of_its_process() -> None:
    source = (
        "import os, threading\n"
        "main = threading.main_thread()\n"
        "print(main.native_id == threading.get_native_id() == os.getpid(),\n"
        "      main.ident == threading.get_ident(), threading.active_count(),\n"
        "      threading.current_thread() is main)\n"
    )
    with csandbox.Pool("open") as pool:
        assert printed(pool, source) == "True True 1 True\n"


def test_threads_work_as_in_a_new_interpreter() -> None:
    source = (
        "import threading\n"
        "seen = []\n"
        "barrier = threading.Barrier(3)\n"
        "def work(n):\n"
        "    barrier.wait()\n"
        "    seen.append(n)\n"
        "threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]\n"
        "for thread in threads: thread.start()\n"
        "for thread in threads: thread.join()\n"
        "print(sorted(seen), threading.active_count())\n"
    )
    with csandbox.Pool("open") as pool:
        assert printed(pool, source) == "[0, 1, 2] 1\n"


def test_the_function_itself_is_back() -> None:
    source = (
        "import os, posix\n"
        "print(os.register_at_fork is posix.register_at_fork,\n"
        "      os.register_at_fork.__module__, os.register_at_fork.__self__.__name__)\n"
    )
    with csandbox.Pool("open") as pool:
        assert printed(pool, source) == printed_fresh(source)


def printed_fresh(source: str) -> str:
    result = csandbox.run(source, profile="open", fresh=True)
    assert result.ok, result.stderr
    return result.stdout


def test_hooks_of_other_modules_run() -> None:
    """logging makes its locks anew; a handler works afterwards."""
    source = (
        "import logging, sys\n"
        "logging.basicConfig(stream=sys.stdout, format='%(message)s')\n"
        "logging.warning('heard')\n"
    )
    with csandbox.Pool("open", preload=["logging", "random"]) as pool:
        assert [printed(pool, source) for _ in range(3)] == ["heard\n"] * 3
