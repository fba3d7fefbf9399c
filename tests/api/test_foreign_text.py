"""What hostile code makes of its words: text that cannot be encoded, JSON that costs much."""

from __future__ import annotations

import json

import pytest

import csandbox
from csandbox._ask import DISPLAYS, Answers
from csandbox._foreign import opened, printable

ODD = "a\ud800b\udfff"
SHOWN = "a\\ud800b\\udfff"


def test_lone_surrogates_are_written_out() -> None:
    assert printable(ODD) == SHOWN
    assert printable("ä😀\u202e") == "ä😀\u202e"


@pytest.mark.parametrize(
    "said",
    [
        json.dumps({"a": ODD, ODD: [ODD, {"x": ODD}], "n": 1}).encode(),
        json.dumps({"a": "😀", "b": ["ä", None, True, 0.5]}).encode(),
        json.dumps({"a": "\\ud800"}).encode(),
    ],
)
def test_what_was_opened_can_be_encoded(said: bytes) -> None:
    data = opened(said)
    assert data is not None
    text = json.dumps(data, ensure_ascii=False)
    assert text.encode() and json.loads(text) == data
    assert data == json.loads(said) or data["a"] == SHOWN and data[SHOWN][1] == {"x": SHOWN}


@pytest.mark.parametrize(
    "said",
    [
        b"", b"[]", b"1", b"{", b'{"a": \xff}', b"\xed\xa0\x80",
        b"[" * 1_000_000,
        b'{"a": ' * 500_000,
        b'{"a": ' + b"9" * 5_000_000 + b"}",
        b'{"a": -' + b"9" * 4301 + b"}",
    ],
    ids=range(10),
)  # fmt: skip
def test_what_is_no_object_is_none(said: bytes) -> None:
    assert opened(said) is None


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert opened(b'{"a": "\xed\xa0\x80\xff"}') == {"a": "\ufffd\ufffd\ufffd\ufffd"}
    assert opened(b'{"a": ' + b"9" * 4300 + b"}") == {"a": 10**4300 - 1}


def test_what_is_shown_is_bounded_in_number_and_in_sum() -> None:
    seen: list[object] = []
    answers = Answers(seen.append, None)
    ask = answers.ask
    assert ask is not None
    small = b'd{"text/plain": "x"}'
    assert [ask(small) for _ in range(DISPLAYS + 5)] == [b""] * DISPLAYS + [None] * 5
    assert len(seen) == DISPLAYS
    ask = Answers(seen.append, None).ask
    assert ask is not None
    large = b'd{"text/plain": "' + b"x" * (5 << 20) + b'"}'
    assert [ask(large) for _ in range(4)] == [b"", b"", None, None]


PATCHED = "import json\njson.dumps = lambda *a, **k: {!r}\n'something'"


def test_a_cell_that_forges_its_answer() -> None:
    with csandbox.Session("open") as session:
        cell = session.run("class A:\n    def __repr__(self): return 'a\\ud800b\\udfff'\nA()")
        assert cell.value_repr == SHOWN
        assert cell.summary().encode() and str(cell.to_dict()).encode()
        cell = session.run("raise ValueError('a\\ud800b\\udfff')")
        assert cell.raised is not None and cell.raised.text == SHOWN
        assert cell.summary().encode()
        cell = session.run("display({'text/plain': 'a\\ud800b\\udfff'}, raw=True)")
        assert cell.displays == ({"text/plain": SHOWN},)
        cell = session.run(PATCHED.format('{"value_repr": ' + "9" * 100_000 + "}"))
        assert cell.verdict == "runtime_error" and cell.value_repr is None
    with csandbox.Session("open") as session:
        cell = session.run(PATCHED.format("[" * 100_000))
        assert cell.verdict == "runtime_error"
        cell = session.run("1")
        assert cell.verdict == "runtime_error"  # it is patched for good, and lives


def test_the_words_of_a_call() -> None:
    source = "class E(Exception): __qualname__ = 'E'\ndef f(): raise E('a\\ud800b\\udfff')"
    result = csandbox.call(source, "f", profile="open")
    assert SHOWN in result.message and result.message.encode() and result.summary().encode()
    # a value is data, and stays what it is
    assert csandbox.call("def f(): return 'a\\ud800b\\udfff'", "f", profile="open").value == ODD
