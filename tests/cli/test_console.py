"""Colour only where it is wanted, and hostile text never raw on a terminal."""

import io

import pytest

from csandbox._cli.console import emit_stream, one_line, paint, visible, wants_color


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        """Always."""
        return True


@pytest.mark.parametrize(
    ("choice", "env", "terminal", "color"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"FORCE_COLOR": "0"}, False, False),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ("auto", {"TERM": "dumb"}, True, False),
        ("auto", {"TERM": "dumb", "FORCE_COLOR": "1"}, False, True),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_color(monkeypatch, choice, env, terminal, color):
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert wants_color(choice, Terminal() if terminal else io.StringIO()) is color


def test_a_closed_stream_is_no_terminal(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    stream = io.StringIO()
    stream.close()
    assert wants_color("auto", stream) is False


def test_paint():
    assert paint("x", "red", True) == "\x1b[31mx\x1b[0m"
    assert paint("x", "red", False) == "x"


@pytest.mark.parametrize(
    "text", ["\x1b[2J", "\r", "\x07", "\x9b31m", "\u202e", "\u2066", "\u200b", "\u2028", "\ud800"]
)
def test_what_a_terminal_obeys_is_written_out(text):
    shown = visible(f"a{text}b\tc\n")
    assert shown.isascii()
    assert shown.startswith("a\\")
    assert shown.endswith("b\tc\n")
    assert "\n" not in one_line(f"a\n{text}")


def test_plain_text_is_untouched():
    assert visible("naïve 漢字 😀\tx\n") == "naïve 漢字 😀\tx\n"


def test_output_is_exact_into_a_pipe_and_harmless_on_a_terminal():
    content = b"\x1b[31mred\xff"
    pipe = io.TextIOWrapper(io.BytesIO())
    emit_stream(content, content.decode("utf-8", "replace"), pipe, raw=False)
    assert pipe.buffer.getvalue() == content
    terminal = Terminal()
    emit_stream(content, content.decode("utf-8", "replace"), terminal, raw=False)
    assert terminal.getvalue() == "\\x1b[31mred\ufffd\n"
    terminal = Terminal()
    emit_stream(content, "\x1b[31mred", terminal, raw=True)
    assert terminal.getvalue() == "\x1b[31mred"
