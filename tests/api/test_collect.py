"""Files that come back from a run."""

import pickle

import pytest

import csandbox
from csandbox import MiB

pytestmark = pytest.mark.both_modes


def test_files_come_back():
    code = (
        "import os, pathlib\n"
        "pathlib.Path('out').mkdir()\n"
        "pathlib.Path('out/a.txt').write_text('A')\n"
        "pathlib.Path('out/deep').mkdir()\n"
        "pathlib.Path('out/deep/b.bin').write_bytes(bytes(range(256)))\n"
        "pathlib.Path('c.txt').write_text(open('in.txt').read() * 2)\n"
        "pathlib.Path('other').write_text('x')\n"
    )
    result = csandbox.run(code, files={"in.txt": "I"}, collect=["*.txt", "out/**"])
    assert result.ok, result.stderr
    assert result.files == {
        "c.txt": b"II",
        "in.txt": b"I",
        "out/a.txt": b"A",
        "out/deep/b.bin": bytes(range(256)),
    }
    assert list(result.files) == sorted(result.files)
    assert result.files_skipped == {}
    assert result.to_dict()["files"]["out/deep/b.bin"] == 256
    assert pickle.loads(pickle.dumps(result)).files == result.files
    with pytest.raises(TypeError):
        result.files["x"] = b""


def test_nothing_comes_back_unasked():
    result = csandbox.run("open('a', 'w').write('x')")
    assert (result.files, result.files_skipped) == ({}, {})


@pytest.mark.parametrize(
    ("end", "verdict"),
    [("1/0", "runtime_error"), ("while True: pass", "time_limit"), ("pass", "accepted")],
)
def test_partial_files_come_with_every_verdict(end, verdict):
    code = f"with open('a', 'w') as f: f.write('so far')\n{end}"
    result = csandbox.run(code, collect=["a"], limits={"cpu_s": 0.3})
    assert (result.verdict, result.files) == (verdict, {"a": b"so far"})


def test_what_is_not_taken_is_named():
    code = (
        "import os\n"
        "for n in range(103): open(f'{n:03}', 'w').close()\n"
        "with open('big', 'wb') as f: f.truncate(65 << 20)\n"
        "os.mkdir('x'); open('x/\\x1b[2J', 'w').close()\n"
    )
    result = csandbox.run(
        code, profile="open", limits={"file_bytes": 80 * MiB}, collect=["*", "x/*"]
    )
    assert result.ok, result.stderr
    assert len(result.files) == 100
    assert result.files_skipped["102"] == "more files than may be collected"
    assert "control" in result.files_skipped["x/\x1b[2J"]
    alone = csandbox.run(code, profile="open", limits={"file_bytes": 80 * MiB}, collect=["big"])
    assert alone.files_skipped == {"big": "more than may be collected in sum"}


def test_a_fifo_and_modes_do_not_stop_it():
    code = (
        "import os\nwith open('a', 'w') as f: f.write('x')\n"
        "try: os.mkfifo('fifo')\nexcept OSError: pass\nos.chmod('a', 0)\n"
    )
    result = csandbox.run(code, profile="open", collect=["*"])
    assert result.files["a"] == b"x"


def test_nothing_comes_back_of_a_refused_program():
    result = csandbox.run("import ctypes", collect=["*"], files={"a": "x"})
    assert (result.verdict, result.files) == ("rejected", {})


@pytest.mark.parametrize(
    ("collect", "error", "words"),
    [
        ("*.txt", TypeError, "sequence of strings"),
        ([1], TypeError, "a pattern in collect"),
        (["/etc/passwd"], ValueError, "relative pattern"),
        (["../x"], ValueError, "relative pattern"),
        (["a/../x"], ValueError, "relative pattern"),
        (["a//x"], ValueError, "relative pattern"),
        (["./x"], ValueError, "relative pattern"),
        ([""], ValueError, "relative pattern"),
        (["a/"], ValueError, "relative pattern"),
        (["a\0"], ValueError, "NUL"),
        (["\ud800"], ValueError, "surrogate"),
    ],
)
def test_patterns_are_checked(collect, error, words):
    with pytest.raises(error, match=words):
        csandbox.run("pass", collect=collect)
