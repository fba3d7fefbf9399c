"""``csandbox run`` as a user calls it."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest


def test_fine(cli, program):
    done = cli("run", program("print(6*7)"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "42\n", "")


def test_stdin_args_env_and_files(cli, program, tmp_path):
    (tmp_path / "data").write_bytes(b"D\xff")
    path = program(
        "import sys, os\nprint(input(), sys.argv[1:], os.environ['A'], open('in/d', 'rb').read())\n"
    )
    done = cli(
        "run", "--env", "A=b=c", "--file", f"in/d={tmp_path / 'data'}", path, "--", "-x", "--", "y",
        stdin="hello\n",
    )  # fmt: skip
    assert done.stdout == "hello ['-x', '--', 'y'] b=c b'D\\xff'\n"
    assert done.returncode == 0


def test_program_from_stdin(cli):
    done = cli("run", "-", stdin="import sys; print(repr(sys.stdin.read()))")
    assert (done.returncode, done.stdout) == (0, "''\n")


def test_no_stdin_and_stdin_from_a_file(cli, program, tmp_path):
    path = program("import sys; print(repr(sys.stdin.read()))")
    assert cli("run", "--no-stdin", path, stdin="x").stdout == "''\n"
    (tmp_path / "in").write_text("from file")
    assert cli("run", "--stdin", tmp_path / "in", path, stdin="x").stdout == "'from file'\n"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import sys; print('out'); sys.exit(3)", "runtime_error: exit code 3"),
        ("1/0", "runtime_error: exit code 1"),
        ("while True: pass", "time_limit: out of CPU time"),
    ],
)
def test_failing_code_is_one(cli, program, code, words):
    done = cli("run", "--cpu", "300ms", program(code))
    assert done.returncode == 1
    assert words in done.stderr.splitlines()[-1]


def test_the_traceback_is_the_programs(cli, program):
    done = cli("run", program("def f():\n    1/0\nf()\n"))
    assert 'prog.py", line 2, in f' in done.stderr
    assert "ZeroDivisionError" in done.stderr
    assert "csandbox/" not in done.stderr


def test_refused_code_is_shown_and_not_run(cli, program):
    done = cli("run", program("print('ran')\nimport socket\n"))
    assert done.returncode == 1
    assert done.stdout == ""
    assert "CSB101" in done.stderr
    assert "rejected" in done.stderr.splitlines()[-1]


def test_syntax_error(cli, program):
    done = cli("run", program("print(1\n"))
    assert done.returncode == 1
    assert "compile_error" in done.stderr.splitlines()[-1]


def test_quiet(cli, program):
    done = cli("run", "-q", program("raise SystemExit(4)"))
    assert (done.returncode, done.stderr) == (1, "")


def test_json(cli, program):
    done = cli("run", "--json", program("print('\\x1b[31m'); 1/0"))
    data = json.loads(done.stdout)
    assert done.returncode == 1
    assert "\x1b" not in done.stdout
    assert data["verdict"] == "runtime_error"
    assert data["exit_code"] == 1
    assert "ZeroDivisionError" in data["stderr"]
    assert data["isolation"]
    assert done.stderr == ""


def test_bytes_pass_through_exactly(program):
    path = program("import sys; sys.stdout.buffer.write(bytes(range(256)) * 100)")
    done = subprocess.run(
        [sys.executable, "-m", "csandbox", "run", str(path)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
    )
    assert done.stdout == bytes(range(256)) * 100


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run"], "FILE"),
        (["run", "/no/such/file.py"], "cannot be read"),
        (["run", "--cpu", "soon", "x.py"], "is not a time"),
        (["run", "--cpu", "2parsec", "x.py"], "unknown unit"),
        (["run", "--memory", "1k", "PROGRAM"], "at least"),
        (["run", "--profile", "computer", "PROGRAM"], "did you mean 'compute'"),
        (["run", "--env", "A", "PROGRAM"], "NAME=VALUE"),
        (["run", "--file", "../x=PROGRAM", "PROGRAM"], "relative path"),
        (["run", "--allow-degraded", "moon", "PROGRAM"], "invalid choice"),
        (["run", "--stdin", "-", "-"], "at once"),
        (["run", "--python", "/no/such/python", "PROGRAM"], "does not exist"),
        (["frobnicate"], "invalid choice"),
        ([], "name a command"),
    ],
)
def test_usage_is_two(cli, program, words, message):
    path = str(program("print(1)"))
    done = cli(*(word.replace("PROGRAM", path) for word in words))
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_infrastructure_is_three(program):
    script = (
        "import sys, csandbox._core as c, csandbox._cli as cli, csandbox\n"
        "def fail(*a): raise csandbox.UnsupportedError(feature='landlock', hint='h', message='m')\n"
        "c.run = fail\n"
        f"sys.exit(cli.main(['run', {str(program('print(1)'))!r}]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 3
    assert "csandbox: m (hint: h)" in done.stderr
    assert "doctor" in done.stderr


def test_exit_codes_are_documented(cli):
    for words in (["--help"], ["run", "--help"], ["check", "--help"], ["doctor", "--help"]):
        done = cli(*words)
        assert done.returncode == 0
        for text in ("exit codes:", "infrastructure", "usage"):
            assert text in done.stdout


def test_a_reader_that_goes_away_is_no_traceback(program):
    path = program("print('x' * 10**6)")
    done = subprocess.run(
        f'"{sys.executable}" -m csandbox run "{path}" < /dev/null | head -c 10',
        shell=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "x" * 10
    assert done.stderr == ""


def test_interrupt_ends_quietly_and_ends_the_child(program):
    path = program("import time\nprint('x', flush=True)\ntime.sleep(60)")
    process = subprocess.Popen(
        [sys.executable, "-m", "csandbox", "run", str(path)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while not children.read_text():  # until then it is at its own imports
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    _, err = process.communicate(timeout=20)
    assert time.monotonic() - begin < 5
    assert process.returncode == 130
    assert "Traceback" not in err


def test_on_a_terminal_the_output_cannot_command_it(program):
    path = program("print('\\x1b]0;owned\\x07' + 'plain')")
    master, slave = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "csandbox", "run", str(path)],
            stdin=subprocess.DEVNULL,
            stdout=slave,
            stderr=slave,
            timeout=60,
        )
        shown = os.read(master, 65536)
    finally:
        os.close(master)
        os.close(slave)
    assert done.returncode == 0
    assert b"\x1b]0" not in shown
    assert b"plain" in shown


def test_version(cli):
    done = cli("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("csandbox ")
    assert "kernel" in done.stdout


def test_audit_log(cli, program, tmp_path):
    log = tmp_path / "audit.jsonl"
    assert cli("run", "--audit-log", log, program("print(1)")).returncode == 0
    assert cli("run", "--audit-log", log, program("1/0")).returncode == 1
    records = [json.loads(line) for line in log.read_text().splitlines()]
    assert [record["verdict"] for record in records] == ["accepted", "runtime_error"]
    done = cli("run", "--audit-log", tmp_path / "no" / "log", program("print(1)"))
    assert (done.returncode, done.stdout) == (3, "")
    assert "audit log" in done.stderr


def test_collect_into_a_folder(cli, program, tmp_path):
    path = program(
        "import os\nos.mkdir('d')\nopen('d/a', 'w').write('A')\nopen('b', 'w').write('B')\n"
        "open('c\\x01', 'w').close()\n"
    )
    into = tmp_path / "new" / "folder"
    done = cli("run", "--collect", "**", "--into", into, path)
    assert done.returncode == 0
    assert (into / "d" / "a").read_text() == "A"
    assert (into / "b").read_text() == "B"
    assert sorted(p.name for p in into.iterdir()) == ["b", "d"]
    assert "not collected: c\\x01: its name" in done.stderr
    again = cli("run", "--collect", "**", "--into", into, path)
    assert (again.returncode, again.stdout) == (2, "")
    assert "not empty" in again.stderr
    alone = cli("run", "--collect", "**", path)
    assert "belong together" in alone.stderr
