"""Many runs, and runs that nobody waits for yet: `run_many` and handles."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
import time
import types
from collections.abc import Iterator
from typing import ClassVar

import pytest

import csandbox

SLEEPS = "import time\nprint('begun', flush=True)\ntime.sleep(60)"
LIMITS = {"cpu_s": 5, "wall_s": 60}


@pytest.fixture
def pool() -> Iterator[csandbox.Pool]:
    with csandbox.Pool("open", workers=2, spares=2) as made:
        yield made


def test_in_order_whatever_ends_first(pool: csandbox.Pool) -> None:
    items = [f"import time\ntime.sleep({0.3 if n == 0 else 0})\nprint({n})" for n in range(8)]
    assert [r.stdout for r in pool.run_many(items)] == [f"{n}\n" for n in range(8)]


def test_as_they_finish(pool: csandbox.Pool) -> None:
    items = ["import time\ntime.sleep(1.5)\nprint('slow')", "print('fast')"]
    assert [r.stdout for r in pool.run_many(items, ordered=False)] == ["fast\n", "slow\n"]


@pytest.mark.parametrize("ordered", [True, False])
def test_input_is_taken_when_there_is_room(pool: csandbox.Pool, ordered: bool) -> None:
    taken = []

    def items() -> Iterator[str]:
        for number in range(1000):
            taken.append(number)
            yield f"print({number})"

    results = pool.run_many(items(), concurrency=3, ordered=ordered)
    assert not taken
    for given, _ in enumerate(results):
        assert len(taken) <= given + 1 + 2 * 3
        if given == 20:
            break
    results.close()  # type: ignore[attr-defined]
    assert len(taken) < 40
    assert pool.stats()["running"] == pool.stats()["waiting"] == 0


def test_items_with_keywords_of_their_own(pool: csandbox.Pool) -> None:
    items = [
        {"source": "print(input())", "stdin": "a"},
        {"source": "import sys\nprint(sys.argv[1:])", "args": ["x"]},
        "print(input())",
    ]
    out = [r.stdout for r in pool.run_many(items, stdin="common")]
    assert out == ["a\n", "['x']\n", "common\n"]
    for wrong in (5, {"no": "source"}, None.__class__):
        with pytest.raises(TypeError, match="item"):
            list(pool.run_many([wrong]))  # type: ignore[list-item]


def test_an_item_that_is_none_is_an_error_not_the_end(pool: csandbox.Pool) -> None:
    with pytest.raises(TypeError, match="item"):
        list(pool.run_many(["print(1)", None, "print(2)"]))  # type: ignore[list-item]


def test_every_verdict_is_a_result(pool: csandbox.Pool) -> None:
    items = ["print(1)", "1 / 0", "x = (", "while True: pass", "import os\nos._exit(3)"]
    verdicts = [r.verdict for r in pool.run_many(items, limits={"cpu_s": 0.3, "wall_s": 30})]
    assert verdicts == ["accepted", "runtime_error", "compile_error", "time_limit", "runtime_error"]


def test_progress_is_told(pool: csandbox.Pool) -> None:
    told: list[tuple[int, int | None]] = []
    list(pool.run_many(["print(1)"] * 4, progress=lambda done, total: told.append((done, total))))
    assert told == [(n, 4) for n in range(1, 5)]
    told.clear()
    items = (text for text in ["print(1)"] * 2)
    list(pool.run_many(items, progress=lambda done, total: told.append((done, total))))
    assert told == [(1, None), (2, None)]


class Bar:
    """What is used of tqdm's bar."""

    made: ClassVar[list[Bar]] = []

    def __init__(self, total: int | None, unit: str) -> None:
        self.total, self.unit, self.count, self.closed = total, unit, 0, False
        self.made.append(self)

    def update(self) -> None:
        self.count += 1

    def close(self) -> None:
        self.closed = True


def test_a_bar_where_tqdm_is_installed(
    pool: csandbox.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    tqdm = types.ModuleType("tqdm.auto")
    tqdm.tqdm = Bar  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", tqdm)
    monkeypatch.setattr(Bar, "made", [])
    list(pool.run_many(["print(1)"] * 3, progress=True))
    list(pool.run_many((text for text in ["print(1)"] * 2), progress=True))
    for _ in pool.run_many(["print(1)"] * 4, progress=True):
        break

    async def some() -> None:
        async for _ in pool.arun_many(["print(1)"] * 2, progress=True):
            pass

    asyncio.run(some())
    seen = [(bar.total, bar.unit, bar.count, bar.closed) for bar in Bar.made]
    assert seen == [
        (3, "run", 3, True),
        (None, "run", 2, True),
        (4, "run", 1, True),
        (2, "run", 2, True),
    ]


def test_no_bar_without_tqdm(pool: csandbox.Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert all(r.ok for r in pool.run_many(["print(1)"] * 2, progress=True))


def test_an_error_of_the_input_ends_what_is_running(pool: csandbox.Pool) -> None:
    def items() -> Iterator[str]:
        yield SLEEPS
        raise LookupError("of the input")

    with pytest.raises(LookupError):
        list(pool.run_many(items(), limits=LIMITS))
    assert pool.stats()["running"] == 0


def test_leaving_early_ends_the_rest(pool: csandbox.Pool) -> None:
    began = time.monotonic()
    for result in pool.run_many(["print(1)", *[SLEEPS] * 5], limits=LIMITS):
        assert result.ok
        break
    assert pool.stats()["running"] == 0
    assert time.monotonic() - began < 40
    assert pool.run("print(1)").ok


def test_a_handle_that_is_waited_for(pool: csandbox.Pool) -> None:
    handle = pool.start("print(5)")
    assert handle.wait().stdout == "5\n"
    assert handle.done and handle.wait() is handle.wait() and handle.poll() is handle.wait()
    handle.kill()
    assert handle.wait().ok


def test_a_wait_that_ends_before_the_run(pool: csandbox.Pool) -> None:
    handle = pool.start(SLEEPS, limits=LIMITS)
    with pytest.raises(TimeoutError):
        handle.wait(0.1)
    assert not handle.done and handle.poll() is None
    handle.kill()
    with contextlib.suppress(csandbox.SetupError):  # it had not begun
        assert handle.wait().error == "killed by its caller"


def test_a_killed_run_is_dead(pool: csandbox.Pool) -> None:
    out: list[bytes] = []
    handle = pool.start(SLEEPS, limits=LIMITS, on_stdout=out.append)
    while not out:
        handle.poll()
        time.sleep(0.01)
    threading.Timer(0.1, handle.kill).start()
    deadline = time.monotonic() + 30
    while not handle.done and time.monotonic() < deadline:
        time.sleep(0.01)
        handle.poll()
    result = handle.wait(30)
    assert (result.verdict, result.error) == ("internal_error", "killed by its caller")
    assert result.stdout == "begun\n" and b"".join(out) == b"begun\n"
    assert pool.stats()["running"] == 0


def test_output_comes_as_it_is_written(pool: csandbox.Pool) -> None:
    seen: list[tuple[str, bytes, bool]] = []
    source = (
        "import sys, time\nfor n in range(3):\n    print(n, flush=True)\n"
        "    print(n, file=sys.stderr, flush=True)\n    time.sleep(0.2)\n"
    )
    handle = pool.start(
        source,
        limits=LIMITS,
        on_stdout=lambda data: seen.append(("out", data, handle.done)),
        on_stderr=lambda data: seen.append(("err", data, handle.done)),
    )
    result = handle.wait(60)
    assert b"".join(d for s, d, _ in seen if s == "out") == result.stdout_bytes == b"0\n1\n2\n"
    assert b"".join(d for s, d, _ in seen if s == "err") == result.stderr_bytes
    assert len(seen) >= 4 and not any(done for _, _, done in seen)


def test_a_handle_of_what_the_guard_refuses() -> None:
    with csandbox.Pool("compute", workers=1, spares=1) as pool:
        handle = pool.start("import socket")
        assert handle.done and handle.wait().verdict == "rejected"
        handle.kill()
        with pytest.raises(ValueError, match="refused"):
            handle.fileno()


def test_a_handle_in_a_selector(pool: csandbox.Pool) -> None:
    import selectors

    with selectors.DefaultSelector() as selector:
        handles = {pool.start(f"print({n})"): n for n in range(4)}
        for handle in handles:
            selector.register(handle.fileno(), selectors.EVENT_READ, handle)
        left = set(handles)
        deadline = time.monotonic() + 60
        while left and time.monotonic() < deadline:
            for key, _ in selector.select(1):
                if key.data.poll() is not None:
                    selector.unregister(key.fd)
                    left.discard(key.data)
        assert not left
    assert all(handle.wait().stdout == f"{n}\n" for handle, n in handles.items())
