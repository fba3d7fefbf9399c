"""A worker of the bench, run in the rivals' environment: ``rival.py NAME`` (see rivals.py).

Prints its version when it is ready, then for each line on stdin the seconds of one run of print(1)
with its output checked.
"""

from __future__ import annotations

import importlib.metadata
import os
import sys
import time
from collections.abc import Callable

SOURCE = "print(1)"


def monty() -> tuple[str, Callable[[], str]]:
    """A session for each run, from a pool of its workers."""
    import pydantic_monty

    pool = pydantic_monty.Monty().__enter__()

    def run() -> str:
        printed = pydantic_monty.CollectString()
        with pool.checkout() as session:
            session.feed_run(SOURCE, print_callback=printed)
        return str(printed.output)

    return "pydantic-monty", run


def sandlock() -> tuple[str, Callable[[], str]]:
    """An interpreter in its sandbox: it has no warm one."""
    from sandlock import Sandbox

    python = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    places = ["/usr", "/lib", "/lib64", "/bin", "/etc", "/proc", "/dev", sys.base_prefix]
    readable = [place for place in places if os.path.exists(place)]

    def run() -> str:
        box = Sandbox(fs_readable=readable)
        result = box.run([python, "-I", "-c", SOURCE], timeout=20)
        if not result.success:
            raise RuntimeError(f"{result.error} {result.stderr!r}")
        return str(result.stdout.decode())

    return "sandlock", run


def smolagents() -> tuple[str, Callable[[], str]]:
    """Walks the tree in the calling process: no isolation."""
    from smolagents.local_python_executor import LocalPythonExecutor

    def run() -> str:
        executor = LocalPythonExecutor([])
        executor.send_tools({})
        return str(executor(SOURCE).logs)

    return "smolagents", run


def main() -> None:
    """Serve."""
    package, run = {"monty": monty, "sandlock": sandlock, "smolagents": smolagents}[sys.argv[1]]()
    for _ in range(3):
        if run() != "1\n":
            raise RuntimeError(f"{package} does not print 1: {run()!r}")
    print(importlib.metadata.version(package), flush=True)
    for _ in sys.stdin:
        began = time.perf_counter()
        printed = run()
        spent = time.perf_counter() - began
        if printed != "1\n":
            raise RuntimeError(f"{package} does not print 1: {printed!r}")
        print(spent, flush=True)
    os._exit(0)  # not what these leave running at exit


if __name__ == "__main__":
    main()
