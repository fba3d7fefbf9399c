"""``csandbox grade`` and ``csandbox audit`` as a user calls them."""

import json

import pytest

RIGHT = "print(sum(map(int, input().split())))\n"


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "tests"
    made.mkdir()
    for name, text in (("1.in", "1 2"), ("1.out", "3\n"), ("2.in", "4 5"), ("2.out", "9\n")):
        (made / name).write_text(text)
    return made


def test_all_passed(cli, program, folder):
    done = cli("grade", program(RIGHT), "--tests", folder)
    assert done.returncode == 0 and done.stderr == ""
    assert "accepted: 2 of 2 tests passed, score 1" in done.stdout


def test_not_all_passed(cli, program, folder):
    done = cli("grade", program("print(3)"), "--tests", folder, "--json", "--seed", "1")
    assert done.returncode == 1
    report = json.loads(done.stdout)
    assert (report["score"], report["verdict"], report["seed"]) == (0.5, "wrong_answer", 1)
    assert "4 5" not in done.stdout  # hidden, unless said otherwise
    shown = cli("grade", program("print(3)"), "--tests", folder, "--visible", "--feedback", "full")
    assert "4 5" in shown.stdout and "expected '9'" in shown.stdout


def test_comparison_and_limits(cli, program, folder):
    spaced = program("print('', sum(map(int, input().split())))\n")
    assert cli("grade", spaced, "--tests", folder).returncode == 1
    assert cli("grade", spaced, "--tests", folder, "--compare", "tokens").returncode == 0
    done = cli("grade", program("while True: pass"), "--tests", folder, "--cpu", "200ms")
    assert done.returncode == 1 and "time_limit" in done.stdout


def test_assertions(cli, program, tmp_path):
    tests = tmp_path / "tests.py"
    tests.write_text("assert add(1, 2) == 3\nassert add('a', 'b') == 'ab'\n")
    source = program("def add(a, b):\n    return a + b\n")
    assert cli("grade", source, "--tests", tests).returncode == 0
    tests.write_text("assert add(1, 2) == 3\nfor x in add(0, 1):\n    assert x\n")
    done = cli("grade", source, "--tests", tests)
    assert done.returncode == 2 and "--allow-weak" in done.stderr and "line 2" in done.stderr


def test_an_input_without_an_output(cli, program, folder):
    (folder / "3.in").write_text("1")
    for words in ([], ["--allow-weak"]):  # there is no text that could be run beside it
        done = cli("grade", program(RIGHT), "--tests", folder, *words)
        assert done.returncode == 2 and "take them out" in done.stderr and "3.in" in done.stderr


def test_which_row(cli, program, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"test_list": ["assert f(1) == 1"]}\n{"test_list": ["assert f(1) == 2"]}\n')
    source = program("def f(x):\n    return x\n")
    done = cli("grade", source, "--tests", rows)
    assert done.returncode == 2 and "--row" in done.stderr
    codes = [cli("grade", source, "--tests", rows, "--row", row).returncode for row in "012"]
    assert codes == [0, 1, 2]


def test_a_wrong_comparison_is_one_mistake(cli, program, folder):
    words = ("--tests", folder, "--compare", "float(abs=1e999)")
    done = cli("grade", program(RIGHT), *words)
    assert done.returncode == 2 and done.stderr.count("abs must be finite") == 1
    assert "not a test" not in done.stderr


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--tests", "nowhere"], "cannot be read"),
        (["--tests", "TESTS", "--compare", "roughly"], "unknown comparison"),
        (["--tests", "EMPTY"], "no inputs"),
    ],
)
def test_usage(cli, program, folder, tmp_path, words, text):
    (tmp_path / "empty").mkdir()
    places = {"TESTS": folder, "EMPTY": tmp_path / "empty"}
    done = cli("grade", program(RIGHT), *(places.get(w, w) for w in words))
    assert done.returncode == 2 and text in done.stderr


def test_audit(cli, program, folder):
    done = cli("audit", folder, "--reference", program(RIGHT), "--cpu", "300ms")
    assert done.returncode == 0 and "0 accepted" in done.stdout
    wrong = cli("audit", folder, "--reference", program("print(3)"), "--cpu", "300ms", "--json")
    assert wrong.returncode == 1
    found = json.loads(wrong.stdout)["findings"]
    assert [f["code"] for f in found if f["severity"] == "error"] == ["reference-fails"]


def test_a_sandbox_that_fails_is_status_3(program, folder, monkeypatch, capsys):
    from csandbox import _errand, _flight
    from csandbox._cli import main
    from csandbox._result import Result

    broken = Result(verdict="internal_error", error="injected")
    monkeypatch.setattr(_errand, "carry", lambda _: (broken, []))
    monkeypatch.setattr(_flight.Flight, "_core_of", lambda *_: None)  # all by carry
    assert main(["grade", str(program(RIGHT)), "--tests", str(folder)]) == 3
    assert "there is no score" in capsys.readouterr().out
    assert main(["grade", str(program("print(3)")), "--tests", str(folder), "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["score"] is None
