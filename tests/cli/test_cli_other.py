"""``csandbox check``, ``explain``, ``profiles`` and ``doctor`` as a user calls them."""

import json

import pytest


def test_check_clean(cli, program):
    done = cli("check", program("import math\nprint(math.pi)\n"))
    assert (done.returncode, done.stdout) == (0, "")
    assert "nothing to refuse" in done.stderr
    assert cli("check", "-q", program("print(1)")).stderr == ""


def test_check_findings_on_stdout_summary_on_stderr(cli, program):
    path = program("import socket\n")
    done = cli("check", path)
    assert done.returncode == 1
    assert "CSB101" in done.stdout
    assert f"{path}:1:8" in done.stdout
    assert "1 of 1 file not allowed by profile compute" in done.stderr


def test_check_several_files_and_stdin(cli, program):
    good, bad = program("print(1)", "good.py"), program("import socket", "bad.py")
    done = cli("check", good, bad, "-", stdin="import ctypes")
    assert done.returncode == 1
    assert "2 of 3 files" in done.stderr
    assert "<stdin>:1:8" in done.stdout


def test_check_json(cli, program):
    done = cli("check", "--json", program("print(1)", "a.py"), program("import socket", "b.py"))
    reports = json.loads(done.stdout)
    assert done.returncode == 1
    assert [report["ok"] for report in reports] == [True, False]
    assert reports[1]["diagnostics"][0]["code"] == "CSB101"
    assert done.stderr == ""


def test_check_formats(cli, program):
    path = program("import socket\nimport ctypes\n")
    done = cli("check", "--format", "concise", path)
    assert [line.split()[1] for line in done.stdout.splitlines()] == ["error[CSB101]"] * 2
    assert cli("check", "--format", "github", path).stdout.startswith("::error ")
    done = cli("check", "--format", "sarif", path, program("x = 1", "y.py"))
    log = json.loads(done.stdout)
    assert (done.returncode, log["version"], len(log["runs"])) == (1, "2.1.0", 2)
    assert len(log["runs"][0]["results"]) == 2


def test_rules(cli):
    done = cli("rules")
    assert done.returncode == 0
    assert "CSB101  import-not-allowed" in done.stdout
    rules = json.loads(cli("rules", "--json").stdout)
    assert {rule["family"] for rule in rules} >= {"integrity", "imports", "traversal", "builtins"}


def test_check_profile_makes_the_difference(cli, program):
    path = program("import threading")
    assert cli("check", "-p", "minimal", path).returncode == 1
    assert cli("check", "-p", "contest", path).returncode == 0


def test_check_color(cli, program):
    path = program("import socket")
    assert "\x1b[" not in cli("check", path).stdout
    assert "\x1b[" in cli("check", "--color", "always", path).stdout
    assert "\x1b[" in cli("check", path, env={"FORCE_COLOR": "1"}).stdout
    assert "\x1b[" not in cli("check", path, env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).stdout


@pytest.mark.parametrize("words", [["check"], ["check", "/no/such"], ["check", "-", "-"]])
def test_check_usage(cli, words):
    done = cli(*words)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_explain_a_rule_and_an_outcome(cli):
    for code in ("CSB101", "csr020"):
        done = cli("explain", code)
        assert done.returncode == 0
        assert done.stdout.startswith(f"# {code.upper()} ")


def test_explain_by_name(cli):
    assert cli("explain", "memory-limit").stdout == cli("explain", "CSR020").stdout


def test_explain_lists_all(cli):
    done = cli("explain")
    codes = [line.split()[0] for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert {"CSB001", "CSB101", "CSR001", "CSR070"} <= set(codes)
    assert codes == sorted(codes)
    entries = json.loads(cli("explain", "--json").stdout)
    assert [entry["code"] for entry in entries] == codes
    assert all(entry["name"] and entry["summary"] for entry in entries)


@pytest.mark.parametrize(
    "asked, said",
    [
        ("CSB2001", "Did you mean CSB001, CSB201? "),
        ("csb10", "Did you mean CSB101, CSB102, CSB103, CSB104, CSB105, ...? "),
        ("file-acess", "Did you mean CSB302 file-access? "),
        ("pickle", "About that are CSB307 unsafe-deserialisation. "),
        # Another number is another code, and a word that no page has is no rule.
        ("CSB999", ""),
        ("E501", ""),
        ("xyzzy", ""),
        ("", ""),
    ],
)
def test_explain_guesses_what_is_near_and_nothing_else(cli, asked, said):
    done = cli("explain", asked)
    assert done.returncode == 2
    assert f"no code {asked!r}. {said}`csandbox explain` lists all" in done.stderr


def test_profiles(cli):
    done = cli("profiles")
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        "minimal", "contest", "compute", "agent", "open",
    ]  # fmt: skip


def test_profiles_one(cli, tmp_path):
    done = cli("profiles", "contest")
    assert done.returncode == 0
    assert "[limits]\ncpu_s = 10.0" in done.stdout
    data = json.loads(cli("profiles", "contest", "--json").stdout)
    assert data["limits"]["cpu_s"] == 10.0
    assert len(data["digest"]) == 64


def test_profiles_checks_a_file(cli, tmp_path):
    pytest.importorskip("tomllib")
    path = tmp_path / "mine.toml"
    path.write_text('extends = "contest"\n[limits]\ncpu = 1\n')
    done = cli("profiles", path)
    assert done.returncode == 2
    assert "did you mean limits.cpu_s" in done.stderr


def test_doctor(cli):
    done = cli("doctor")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Every layer can be enforced and all" in done.stdout
    assert "FAIL" not in done.stdout
    for word in ("landlock", "seccomp", "fork", "socket", "kernel"):
        assert word in done.stdout


def test_doctor_json(cli):
    done = cli("doctor", "--json")
    data = json.loads(done.stdout)
    assert done.returncode == 0
    assert data["missing"] == []
    assert len(data["self_test"]) > 15
    assert all(finding["held"] for finding in data["self_test"])
