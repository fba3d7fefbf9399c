"""A spare reads and compiles while the guard checks: what is executed is what was admitted."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest

import csandbox
from csandbox import _core
from csandbox._core_pool import CorePool
from csandbox._default_pool import pool_spec
from csandbox._interpreter import interpreter
from csandbox._order import Order
from csandbox._policy import policy_spec

PROFILE = csandbox.Profile.load("open")
WAIT_S = 30.0


def core_pool(**more: Any) -> CorePool:
    """A pool of the core with two processors, whatever this machine has."""
    policy = _core.Policy(policy_spec(PROFILE, interpreter(None), frozenset()))
    spec = pool_spec(PROFILE, workers=2, spares=2)
    return CorePool(policy, {**spec, "processors": 2, **more})


def ready(pool: CorePool) -> _core.Pool:
    core = pool.get()
    assert core.wait_ready(WAIT_S)
    return core


def order_of(source: str) -> Order:
    return Order.make(source, {}, profile=PROFILE)


def test_nothing_is_executed_before_the_word() -> None:
    pool = core_pool()
    ready(pool)
    order = order_of("import time\nprint(time.time())")
    ahead = pool.head_start(order)
    assert ahead is not None
    time.sleep(0.3)
    assert order.admit() is None
    before = time.time()
    data = ahead.complete(order.request)
    assert data["verdict"] == "accepted"
    assert float(data["stdout"]) >= before
    assert data["wall_s"] < 0.25, "the time of the caller is not the submission's"
    with pytest.raises(ValueError, match="over"):
        ahead.complete(order.request)
    pool.close()


def test_a_program_sees_all_processors() -> None:
    """While it is compiled it is kept off the caller's (ext/elsewhere.c)."""
    pool = core_pool()
    for _ in range(3):
        ready(pool)
        order = order_of("import os\nprint(sorted(os.sched_getaffinity(0)))")
        ahead = pool.head_start(order)
        assert ahead is not None
        assert order.admit() is None
        data = ahead.complete(order.request)
        assert data["stdout"].decode().strip() == str(sorted(os.sched_getaffinity(0)))
    pool.close()


def test_a_dropped_one_leaves_its_place() -> None:
    pool = core_pool()
    for _ in range(6):  # more than there are places and spares
        core = ready(pool)
        ahead = pool.head_start(order_of("while True: pass"))
        assert ahead is not None
        ahead.drop()
        ahead.drop()  # harmless
    assert core.stats()["running"] == 0
    assert pool.run(_admitted("print(1)"))["stdout"] == b"1\n"
    pool.close()


def _admitted(source: str) -> dict[str, Any]:
    order = order_of(source)
    assert order.admit() is None
    return order.request


def test_there_is_none_where_another_run_is_on() -> None:
    pool = core_pool()
    ready(pool)
    first = pool.head_start(order_of("print(1)"))
    assert first is not None
    ready(pool)
    assert pool.head_start(order_of("print(2)")) is None
    first.drop()
    ready(pool)
    assert pool.head_start(order_of("print(3)")) is not None  # and the object ends it
    pool.close()


def test_there_is_none_with_one_processor() -> None:
    pool = core_pool(processors=1)
    ready(pool)
    assert pool.head_start(order_of("print(1)")) is None
    pool.close()


def test_a_wrong_request_is_told_by_the_run_itself() -> None:
    pool = core_pool()
    ready(pool)
    order = order_of("print(1)")
    order.request["limits"] = {**order.request["limits"], "cpu_s": -1.0}
    assert pool.head_start(order) is None
    assert order.admit() is None
    with pytest.raises(ValueError, match="cpu_s"):
        pool.run(order.request)
    pool.close()


@pytest.mark.parametrize(
    ("source", "printed"),
    [("\ufeffprint(1)", "1\n"), ("print(1)\r\nprint('a\\\r\nb')", "1\nab\n")],
    ids=["byte order mark", "line ends"],
)
@pytest.mark.parametrize("workers", [1, 2])
def test_what_is_compiled_is_the_text_that_was_checked(
    source: str, printed: str, workers: int
) -> None:
    with csandbox.Pool("contest", workers=workers) as pool:
        assert pool.wait_ready(WAIT_S)
        assert pool.run(source).stdout == printed


def test_a_refused_source_costs_a_spare_and_nothing_else() -> None:
    with csandbox.Pool("minimal") as pool:
        for _ in range(3 * pool.spares):
            refused = pool.run("import socket\nprint('EFFECT')")
            assert refused.verdict == "rejected"
            assert refused.stdout_bytes == b""
            assert pool.stats().get("running", 0) == 0
        assert pool.run("print(1)").stdout == "1\n"


def test_an_error_in_the_check_leaves_no_child_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyboardInterrupt

    with csandbox.Pool("minimal") as pool:
        assert pool.wait_ready(WAIT_S)
        with monkeypatch.context() as patch:
            patch.setattr(Order, "admit", broken)
            with pytest.raises(KeyboardInterrupt):
                pool.run("print(1)")
        assert pool.stats().get("running", 0) == 0
        assert pool.run("print(1)").stdout == "1\n"


def test_a_plain_run_is_the_same_as_one_that_says_everything() -> None:
    with csandbox.Pool("minimal", limits=csandbox.Limits(output_bytes=6)) as pool:
        plain = pool.run("print('0123456789')")
        full = pool.run("print('0123456789')", stdin="", args=(), env={}, filename="submission.py")
        assert plain.verdict == full.verdict == "output_limit"
        assert plain.stdout_bytes == full.stdout_bytes
        assert pool.run("print(1)").report is not plain.report


def test_a_result_has_all_of_its_fields() -> None:
    """It is made without its __init__ (csandbox/_result.py)."""
    result = csandbox.run("print(1)")
    bare = csandbox.Result(verdict="accepted")
    assert list(vars(result)) == list(vars(bare))
    assert list(vars(result.usage)) == list(vars(bare.usage))
