"""A session: state between cells, what a cell shows, its limits, interrupts, and its death."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

import csandbox
from csandbox import Session, SessionError


@pytest.fixture
def s() -> Iterator[Session]:
    with csandbox.Pool("open", workers=1, spares=1) as pool, pool.session() as made:
        yield made


def test_state_is_kept_and_the_last_expression_shown(s: Session) -> None:
    assert s.run("x = 1").value_repr is None
    assert s.run("x + 1").value_repr == "2"
    assert s.run("None").value_repr is None
    assert s.run("'text';").ok
    both = s.run("print('out')\n'shown'")
    assert (both.stdout, both.value_repr) == ("out\n", "'shown'")
    assert s.run("import math\ndef f(): return math.pi").ok
    assert s.run("round(f(), 2)").value_repr == "3.14"
    assert s.run("class A:\n    def __repr__(self): return 'an A'\nA()").value_repr == "an A"


def test_a_cell_that_raises_leaves_the_session_alive(s: Session) -> None:
    assert s.run("x = 5").ok
    failed = s.run("y = 1\n1 / 0")
    assert failed.verdict == "runtime_error" and failed.alive
    assert failed.raised is not None and failed.raised.name == "ZeroDivisionError"
    assert 'File "<cell 2>", line 2' in failed.raised.traceback
    assert s.run("x + y").value_repr == "6"
    wrong = s.run("x = (")
    assert wrong.verdict == "compile_error" and s.alive
    assert s.run("x").value_repr == "5"


def test_the_limits_are_those_of_each_cell(s: Session) -> None:
    limits = {"cpu_s": 1, "wall_s": 30}
    burn = "import time\nuntil = time.process_time() + 0.4\nwhile time.process_time() < until: pass"
    for _ in range(4):
        assert s.run(burn, limits=limits).ok
    ended = s.run("while True: pass", limits=limits)
    assert (ended.verdict, ended.limit_hit, ended.alive) == ("time_limit", "cpu", False)
    with pytest.raises(SessionError, match="time_limit"):
        s.run("1")
    s.reset()
    assert s.alive and s.run("1 + 1").value_repr == "2"


def test_reset_leaves_nothing(s: Session) -> None:
    s.run("x = 1\nopen('f', 'w').close()\nimport json\njson.spoilt = 1")
    s.reset()
    look = "import json, os\n('x' in globals(), os.listdir('.'), hasattr(json, 'spoilt'))"
    assert s.run(look).value_repr == "(False, [], False)"


def test_files_stay_between_cells(s: Session) -> None:
    s.run("open('f', 'w').write('text')")
    assert s.run("open('f').read()").value_repr == "'text'"


def test_interrupt_ends_the_cell_and_keeps_the_state(s: Session) -> None:
    s.run("x = 7")
    for source in ("while True: pass", "import time\ntime.sleep(60)"):
        threading.Timer(0.4, s.interrupt).start()
        stopped = s.run(source, limits={"cpu_s": 30, "wall_s": 60})
        assert stopped.raised is not None and stopped.raised.name == "KeyboardInterrupt"
        assert s.alive and s.run("x").value_repr == "7"


@pytest.mark.parametrize(
    "death",
    [
        "import os\nos._exit(3)",
        "import ctypes\nctypes.string_at(0)",
        "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
    ],
)
def test_death_is_told_and_nothing_replaces_it(s: Session, death: str) -> None:
    result = s.run(death)
    assert not result.alive and not s.alive and result.verdict == "runtime_error"
    with pytest.raises(SessionError):
        s.run("1")
    with pytest.raises(SessionError):
        s.get("x")


def test_exit_in_a_cell(s: Session) -> None:
    result = s.run("x = 3\nexit(4)")
    assert result.verdict in ("runtime_error", "accepted")
    if s.alive:
        assert s.run("x").value_repr == "3"


def test_values_go_in_and_out_as_data(s: Session) -> None:
    s.set(x=[1, {"a": (2.5, None)}], text="ä")
    assert s.run("x[1]['a'][0], text").value_repr == "(2.5, 'ä')"
    assert s.get("x") == [1, {"a": (2.5, None)}]
    s.run("def double(n): return n * 2\nclass A: pass\na = A()")
    assert s.call("double", (21,)).value == 42
    with pytest.raises(KeyError):
        s.get("no_such_name")
    with pytest.raises(TypeError):
        s.get("a")
    with pytest.raises((TypeError, ValueError)):
        s.set(f=object())


def test_what_is_shown_is_a_bundle_and_bounded(s: Session) -> None:
    rich = "class R:\n    def _repr_html_(self): return '<b>r</b>'\nR()"
    shown = s.run(rich)
    assert shown.value is not None and shown.value["text/html"] == "<b>r</b>"
    assert [dict(d)["text/plain"] for d in s.run("display(1)\ndisplay('b')").displays] == [
        "1",
        "'b'",
    ]
    many = s.run("for n in range(10000): display(n)")
    assert many.alive and len(many.displays) < 200
    huge = s.run("'x' * 10 ** 8")
    assert huge.value_repr is None or len(huge.value_repr) < 10**6
    assert s.alive
    bad = s.run("class B:\n    def __repr__(self): raise ValueError('no')\nB()")
    assert bad.verdict in ("runtime_error", "accepted") and s.alive


def test_a_figure_is_a_picture() -> None:
    if not find_spec("matplotlib"):
        pytest.skip("matplotlib is not installed here")
    with csandbox.Session("compute", limits={"wall_s": 60, "cpu_s": 30}) as session:
        result = session.run("from matplotlib import pyplot\npyplot.plot([1, 2])\npyplot.show()")
        assert result.ok, result.summary()
        pictures = [d["image/png"] for d in result.displays if "image/png" in d]
    assert pictures and pictures[0].startswith(b"\x89PNG")


def test_one_cell_at_a_time(s: Session) -> None:
    thread = threading.Thread(target=s.run, args=("import time\ntime.sleep(1)",))
    thread.start()
    time.sleep(0.3)
    with pytest.raises(SessionError, match="busy"):
        s.run("1")
    thread.join()
    assert s.run("1").ok


def test_the_guard_sees_each_cell() -> None:
    with csandbox.Session("compute") as session:
        assert session.run("x = 1").ok
        refused = session.run("import socket")
        assert refused.verdict == "rejected" and refused.alive
        assert session.run("x").value_repr == "1"


def test_containment_in_a_session(s: Session) -> None:
    assert "PermissionError" in str(s.run("open('/etc/passwd')").raised)
    assert "PermissionError" in str(s.run("import socket\nsocket.socket()").raised)
    assert s.run("1").isolation["landlock"].startswith("enforced")


def test_two_sessions_of_one_pool_share_nothing() -> None:
    with (
        csandbox.Pool("open", workers=1, spares=2) as pool,
        pool.session() as a,
        pool.session() as b,
    ):
        a.run("x = 1\nopen('f', 'w').close()")
        look = "import os\n('x' in globals(), os.listdir('.'))"
        assert b.run(look).value_repr == "(False, [])"
        assert pool.run("print(1)").ok  # sessions take no worker's place


def test_closed(s: Session) -> None:
    s.close()
    s.close()
    assert not s.alive
    with pytest.raises(SessionError):
        s.run("1")
    assert not s.interrupt()
