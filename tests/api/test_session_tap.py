"""What a session tells of while a cell runs, and what of earlier cells it does not tell again."""

from __future__ import annotations

import sys

import pytest

import csandbox
from csandbox import _default_pool


@pytest.fixture(autouse=True)
def no_default_pool_stays():  # type: ignore[no-untyped-def]
    yield
    _default_pool.close_default_pools()


def test_output_is_told_as_it_comes_and_is_in_the_result_too() -> None:
    with csandbox.Session() as session:
        seen: list[tuple[str, bytes]] = []

        def first_line(data: bytes) -> None:
            seen.append(("out", data))
            session.interrupt()  # so that the cell ends only if this came while it ran

        code = "import sys, time\nprint('a')\nwhile True:\n    time.sleep(0.01)"
        result = session.run(code, on_stdout=first_line)
        assert result.raised is not None and result.raised.name == "KeyboardInterrupt"
        assert seen == [("out", b"a\n")] and result.stdout == "a\n"
        errors: list[bytes] = []
        result = session.run("import sys; print('e', file=sys.stderr)", on_stderr=errors.append)
        assert b"".join(errors) == b"e\n" and result.ok
        assert len(seen) == 1  # a listener hears its own cell only


def test_a_listener_that_raises_costs_nothing_but_its_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[str] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: told.append(str(args.exc_value)))

    def broken(data: bytes) -> None:
        raise ValueError("listener")

    with csandbox.Session() as session:
        assert session.run("x = 1\nprint(x)", on_stdout=broken).stdout == "1\n"
        assert session.run("x").value_repr == "1"
    assert told == ["listener"]


def test_violations_are_those_of_the_cell() -> None:
    with csandbox.Session("agent") as session:
        first = session.run("import os\ntry:\n    os.fork()\nexcept OSError:\n    pass")
        assert first.violations
        assert session.run("1").violations == ()
        again = session.run("try:\n    os.fork()\nexcept OSError:\n    pass")
        assert [dict(v) for v in again.violations] == [dict(v) for v in first.violations]


def test_exploring_is_the_childs_word_and_harmless() -> None:
    with csandbox.Session() as session:
        session.run("import math\nclass Bad:\n    def __dir__(self): raise ValueError\nbad = Bad()")
        assert ["sqrt", "function"] in session.explore("members", "math", "sq")["names"]
        assert session.explore("members", "bad", "") is None
        assert session.explore("members", "nothing", "") is None
        session.run("display = None")
        assert session.explore("members", "math", "sq") is None
        assert session.run("math.pi > 3").value_repr == "True"
