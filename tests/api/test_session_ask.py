"""Displays in their place and lines for ``input()``, while a cell runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import csandbox
from csandbox import Session

WIRE = (Path(__file__).resolve().parents[2] / "ext" / "wire.h").read_text(encoding="utf-8")
FRAMES = re.findall(r"^    CSB_FRAME_(\w+),", WIRE, re.MULTILINE)


def header(kind: str, length: int) -> str:
    """Source of a frame's head, for a cell that forges one."""
    return f"struct.pack('=QII', {length}, {FRAMES.index(kind)}, 0)"


@pytest.fixture
def s() -> Iterator[Session]:
    with Session("open") as session:
        yield session


def run(s: Session, code: str, **more: Any) -> tuple[csandbox.CellResult, list[str]]:
    """The result, and what came in which order."""
    order: list[str] = []
    cell = s.run(
        code,
        on_stdout=lambda data: order.append(data.decode()),
        on_display=lambda bundle: order.append(f"<{bundle.get('text/plain')}>"),
        **more,
    )
    return cell, order


def test_displays_come_in_their_place_and_are_in_the_result_too(s: Session) -> None:
    code = "print('a')\ndisplay(1)\nprint('b', end='')\ndisplay(2, 3)\nprint('c')"
    cell, order = run(s, code)
    assert (cell.verdict, "".join(order)) == ("accepted", "a\n<1>b<2><3>c\n")
    assert [b["text/plain"] for b in cell.displays] == ["1", "2", "3"]
    assert cell.stdout == "a\nbc\n"
    assert [b["text/plain"] for b in s.run("display(4)").displays] == ["4"]


def test_what_a_thread_shows_comes_at_the_end(s: Session) -> None:
    code = (
        "import threading\nt = threading.Thread(target=display, args=('t',))\n"
        "t.start(); t.join()\ndisplay('m')"
    )
    cell, order = run(s, code)
    assert order == ["<'m'>"]
    assert [b["text/plain"] for b in cell.displays] == ["'m'", "'t'"]


def test_more_than_a_session_passes_on_is_said_once(s: Session) -> None:
    cell, order = run(s, "for n in range(200): display(n)")
    assert len(order) == len(cell.displays) == 65
    assert order[-2:] == ["<63>", "<(more was shown than a session passes on)>"]
    _, order = run(s, "display('again')")
    assert order == ["<'again'>"]


def test_input(s: Session) -> None:
    asked: list[str] = []
    lines = iter(["Ada", "ä€\udcff", ""])

    def answer(prompt: str) -> str:
        asked.append(prompt)
        return next(lines)

    code = "print('first')\n[input('name? '), input(), input(3)]"
    cell, order = run(s, code, on_input=answer)
    assert cell.value_repr == "['Ada', 'ä€?', '']"
    assert (asked, order) == (["name? ", "", "3"], ["first\n"])


def test_input_ends_where_the_listener_says_so(s: Session) -> None:
    def answer(prompt: str) -> str:
        raise EOFError

    code = "for n in range(2):\n    try: input()\n    except EOFError as error: print(error)"
    cell = s.run(code, on_input=answer)
    assert cell.stdout == "EOF when reading a line\n" * 2


def test_input_without_a_listener_says_what_to_do(s: Session) -> None:
    cell = s.run("def f():\n    return input('? ')\nf()")
    assert cell.raised is not None and cell.raised.name == "EOFError"
    assert "put the text into a variable" in cell.raised.text
    assert cell.raised.traceback.count("File ") == 2 and "<csandbox>" not in cell.raised.traceback
    own = "import io, sys\nkept, sys.stdin = sys.stdin, io.StringIO('mine\\n')\n"
    assert s.run(own + "x = input()\nsys.stdin = kept\nx").value_repr == "'mine'"
    assert s.run("1 + 1").value_repr == "2"


def test_the_time_of_an_answer_is_not_the_cells(s: Session) -> None:
    import time

    def slow(prompt: str) -> str:
        time.sleep(0.6)
        return prompt

    cell = s.run("input('a') + input('b')", on_input=slow, limits={"wall_s": 1.0})
    assert (cell.verdict, cell.value_repr) == ("accepted", "'ab'")
    assert cell.usage.wall_s < 1.0


def test_nothing_runs_while_an_answer_is_awaited(s: Session) -> None:
    """A thread of the cell's stands still too."""
    import time

    seen: list[float] = []

    def answer(prompt: str) -> str:
        seen.append(time.monotonic())
        time.sleep(0.5)
        return ""

    code = """
import threading, time
ticks, on = [0], [True]
def count():
    while on[0]:
        ticks[0] += 1
        time.sleep(0.01)
t = threading.Thread(target=count)
t.start()
before = ticks[0]
input()
after = ticks[0]
on[0] = False
t.join()
after - before
"""
    cell = s.run(code, on_input=answer)
    assert cell.value_repr is not None and int(cell.value_repr) < 25, cell.value_repr


def test_an_interrupt_while_an_answer_is_awaited_is_the_cells(s: Session) -> None:
    def answer(prompt: str) -> str:
        s.interrupt()
        return "late"

    s.run("kept = 1")
    cell = s.run("input()\nkept = 2", on_input=answer)
    assert cell.raised is not None and cell.raised.name == "KeyboardInterrupt" and cell.alive
    assert s.run("kept").value_repr == "1"


def test_a_listener_that_raises_is_nobody(s: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    monkeypatch.setattr("sys.unraisablehook", lambda args: told.append(args.exc_type))

    def answer(prompt: str) -> str:
        raise ZeroDivisionError

    cell = s.run("input()", on_input=answer)
    assert cell.raised is not None and cell.raised.name == "EOFError" and cell.alive
    assert told == [ZeroDivisionError]


@pytest.mark.parametrize("data", [b"", b"d", b"d[1]", b"d{", b"x", b"i\xff", b"d" + b"[" * 5000])
def test_questions_that_make_no_sense(data: bytes) -> None:
    with Session("open") as s:
        s.run("ask = display.__globals__['question']")
        cell, order = run(s, f"print(ask({data!r}))", on_input=lambda prompt: "line")
        said = {b"d": "b''\n", b"i": "b'line\\n'\n"}.get(data[:1], "None\n")
        assert cell.ok and cell.stdout == said
        assert order[:-1] == (["<None>"] if data[:1] == b"d" else [])


def test_a_reply_to_what_was_not_read_ends_the_session() -> None:
    """What is unsent of a request is freed with it, so nothing may be left to send."""
    forged = f"import os, struct\nos.write(3, {header('REPLY', 0)})"
    with Session("open") as s:
        s.run(forged)
        s.call("len", ["x" * 4_000_000])
        assert not s.alive


def test_questions_without_end_are_only_the_cells_own_time() -> None:
    """One that asks and does not read the answer is ended."""
    forged = f"import os, struct\nframe = {header('ASK', 1)} + b'i'\nwhile True: os.write(3, frame)"
    with Session("open", limits={"cpu_s": 1, "wall_s": 20}) as s:
        cell = s.run(forged, on_input=lambda prompt: "x" * 100_000)
        assert not cell.ok and not s.alive
