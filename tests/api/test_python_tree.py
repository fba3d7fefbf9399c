"""Reading test text from many threads: CPython 3.11 counts the depth of trees for all together."""

from __future__ import annotations

import ast
import gc
import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from csandbox import PropertyTest, load_asserts, load_io
from csandbox import _python_tree as python_tree

MISMATCH = "AST constructor recursion depth mismatch (before=20, after=42)"
TEXT = "\n".join(f"assert f({n}, [{n}, (1, {{'a': [[{n}]]}})]) == {n} + (1 - 1)" for n in range(60))


@pytest.fixture
def _hasty() -> Iterator[None]:
    """Threads change as often as CPython lets them, also while a tree is made.

    There only the garbage collector runs Python code: hypothesis has such a callback, for one.
    """
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()

    def callback(_phase: str, _facts: dict[str, int]) -> None:
        for _ in range(30):
            pass

    sys.setswitchinterval(1e-6)
    gc.callbacks.append(callback)
    gc.set_threshold(50, 10_000, 10_000)  # the young ones only: the others take long
    yield
    gc.set_threshold(*thresholds)
    gc.callbacks.remove(callback)
    sys.setswitchinterval(interval)


def failing(monkeypatch: pytest.MonkeyPatch, errors: list[Exception]) -> list[Exception]:
    """Let the parser raise these, one a call, before it works. Those left are returned."""
    parse = ast.parse

    def broken(*args: Any, **options: Any) -> ast.AST:
        if errors:
            raise errors.pop(0)
        return parse(*args, **options)

    monkeypatch.setattr(ast, "parse", broken)
    monkeypatch.setattr(python_tree, "_PAUSE_S", 0.0)
    return errors


@pytest.mark.usefixtures("_hasty")
def test_many_threads_load_assertions() -> None:
    with ThreadPoolExecutor(8) as pool:
        loaded = list(pool.map(lambda _: load_asserts(TEXT, "f"), range(32)))
    assert all(one.whole and len(one) == 60 for one in loaded)
    assert all(one.tests == loaded[0].tests for one in loaded)


@pytest.mark.usefixtures("_hasty")
def test_the_hosts_own_threads_parse_beside() -> None:
    stop = threading.Event()

    def beside() -> None:
        while not stop.is_set():
            try:
                ast.parse(TEXT)
            except (SystemError, RecursionError):
                continue  # their affair; ours must not be

    threads = [threading.Thread(target=beside) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(3):
            assert len(load_asserts(TEXT, "f")) == 60
            PropertyTest(calls=load_io('[{"input": "[1]", "output": "(2)"}]', entry="f").tests[
                0
            ].calls, holds="value == [1, (2, 3)]")  # fmt: skip
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@pytest.mark.parametrize("error", [SystemError(MISMATCH), RecursionError("not true")])
def test_a_parser_that_fails_once_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    left = failing(monkeypatch, [error, error])
    assert load_asserts("assert f(1) == 2", "f").whole
    assert not left
    failing(monkeypatch, [error])
    assert PropertyTest(calls=load_asserts("assert f(1) == 2", "f").tests[0].calls, holds="value")


def test_a_parser_that_keeps_failing_is_a_value_error(monkeypatch: pytest.MonkeyPatch) -> None:
    left = failing(monkeypatch, [SystemError(MISMATCH)] * 1000)
    with pytest.raises(ValueError, match=r"test text cannot be read as Python.*depth mismatch"):
        load_asserts("assert f(1) == 2", "f")
    assert len(left) == 990  # a bounded number of attempts


def test_text_that_is_too_deep_stays_an_error() -> None:
    with pytest.raises(ValueError, match="the test text"):
        load_asserts("assert f(" + "-" * 5000 + "1) == 2", "f")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_of_a_process_that_is_parsing_can_parse() -> None:
    """fork() while another thread has the turn: in the child nobody would give it back."""
    taken, done = threading.Event(), threading.Event()

    def hold() -> None:
        with python_tree._turn:
            taken.set()
            done.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait(30)
    try:
        pid = os.fork()
        if pid == 0:
            os._exit(0 if python_tree._turn.acquire(timeout=10) else 1)
        assert os.waitpid(pid, 0)[1] == 0
    finally:
        done.set()
        thread.join()
