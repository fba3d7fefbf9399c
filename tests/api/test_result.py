"""Result: text that never splits a character, one line for people, plain data for machines."""

import dataclasses
import json
import pickle
from types import MappingProxyType

import pytest

from csandbox import OutcomeError, Result, Usage
from csandbox._result import VERDICTS, decode_kept


def test_complete_text_is_decoded_as_it_is():
    assert decode_kept("aé€😀".encode(), 10, 5) == "aé€😀"
    assert decode_kept(b"\xff\xe2\x82", 3, 1) == "\ufffd\ufffd"


@pytest.mark.parametrize("char", ["a", "é", "€", "😀"])
def test_cut_text_never_splits_a_character(char):
    whole = (char * 40).encode()
    for head in range(13):
        for tail in range(13):
            kept = whole[:head] + whole[len(whole) - tail :]
            text = decode_kept(kept, len(whole), head)
            assert "\ufffd" not in text
            first, _, rest = text.partition("\n[… ")
            number, _, last = rest.partition(" bytes left out …]\n")
            shown = (first + last).encode()
            assert len(shown) + int(number) == len(whole)
            assert set(first + last) <= {char}
            assert len(first.encode()) > head - 4
            assert len(last.encode()) > tail - 4


def test_cut_text_with_undecodable_bytes_is_kept():
    assert decode_kept(b"\xff\xffab", 100, 2).startswith("\ufffd\ufffd\n[… 96 bytes")
    assert decode_kept(b"\x80" * 8, 100, 4).count("\ufffd") >= 4


def test_ok_is_one_word_only():
    assert [verdict for verdict in VERDICTS if Result(verdict).ok] == ["accepted"]


def test_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Result("accepted").verdict = "rejected"
    with pytest.raises(TypeError):
        Result("accepted").isolation["landlock"] = "enforced"


def full():
    return Result(
        "time_limit",
        limit_hit="cpu",
        signal=9,
        stdout_bytes=b"a\xff",
        stdout_total_bytes=2,
        usage=Usage(1.5, 2.5, 0.01, 4096),
        isolation=MappingProxyType({"landlock": "degraded: no", "seccomp": "enforced"}),
        violations=(MappingProxyType({"syscall": "socket", "count": 3}),),
        profile="compute",
    )


def test_to_dict_is_json():
    data = json.loads(json.dumps(full().to_dict()))
    assert data["verdict"] == "time_limit"
    assert data["code"] == "CSR011"
    assert data["stdout"] == "a\ufffd"
    assert data["usage"]["cpu_s"] == 1.5
    assert data["violations"] == [{"syscall": "socket", "count": 3}]
    assert data["isolation"]["landlock"] == "degraded: no"
    assert data["signal_name"] == "SIGKILL"


def test_pickle():
    twin = pickle.loads(pickle.dumps(full()))
    assert twin == full()
    assert hash(twin) == hash(full())
    with pytest.raises(TypeError):
        twin.isolation["x"] = "y"


@pytest.mark.parametrize("verdict", VERDICTS)
def test_repr_is_one_bounded_line(verdict):
    noise = "\n\x1b[2J\u202e" * 10**5
    result = dataclasses.replace(
        full(), verdict=verdict, stdout_bytes=noise.encode(), stdout_total_bytes=10**7, error=noise
    )
    text = repr(result)
    assert verdict in text
    assert "\n" not in text
    assert "\x1b" not in text
    assert len(text) <= 200


def test_repr_names_layers_that_do_not_hold():
    assert "not enforced: landlock" in repr(full())


def test_check_returns_or_raises():
    good = Result("accepted", exit_code=0)
    assert good.check() is good
    with pytest.raises(OutcomeError, match="out of CPU time") as caught:
        full().check()
    assert caught.value.result == full()


def test_every_outcome_has_a_page():
    from csandbox._rule_pages import PAGES

    limits = ("cpu", "wall", "memory", "output", "disk", "processes", "files", None)
    for verdict in VERDICTS:
        for limit in limits:
            code = Result(verdict, limit_hit=limit).code
            if verdict == "accepted" and limit is None:
                assert code is None
            elif code is not None:
                assert code in PAGES
    assert Result("runtime_error", signal=11).code == "CSR002"


def test_signal_names():
    assert Result("runtime_error", signal=11).signal_name == "SIGSEGV"
    assert Result("runtime_error", signal=63).signal_name == "signal 63"
    assert Result("runtime_error").signal_name is None
