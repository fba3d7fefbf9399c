"""The command where it was started in an odd way: closed streams, odd names, no current folder.

Whatever that is, exit code 1 stays a judgement of the code, and nobody sees a traceback of ours.
"""

import os
import subprocess
import sys

import pytest

CSANDBOX = f'"{sys.executable}" -m csandbox'


def shell(line, **options):
    done = subprocess.run(
        ["/bin/sh", "-c", line],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        timeout=120,
        **options,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


@pytest.mark.parametrize(
    ("program", "redirect", "code", "out", "err"),
    [
        ("print(6*7)", ">&-", 0, "", ""),
        ("print(6*7)", "2>&-", 0, "42\n", ""),
        ("print(6*7)", "<&- >&- 2>&-", 0, "", ""),
        ("exit(3)", ">&-", 1, "", "csandbox: runtime_error: exit code 3\n"),
        # with stderr closed, what is for it must not come to lie among the program's output
        ("print(6*7); exit(3)", "2>&-", 1, "42\n", ""),
        ("import socket", "2>&-", 1, "", ""),
        ("print(input())", "<&- 2>&-", 1, "", ""),
    ],
)  # fmt: skip
def test_a_closed_stream_takes_nothing(program, redirect, code, out, err, tmp_path):
    (tmp_path / "a.py").write_text(program)
    done = shell(f"{CSANDBOX} run '{tmp_path}/a.py' {redirect}")
    assert (done.returncode, done.stdout, done.stderr) == (code, out, err)


@pytest.mark.parametrize(
    "words", ["check FILE", "explain CSB101", "profiles", "rules", "--version"]
)
def test_every_command_with_stdout_closed(words, tmp_path):
    (tmp_path / "a.py").write_text("print(1)")
    done = shell(f"{CSANDBOX} {words} >&-".replace("FILE", str(tmp_path / "a.py")))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("words", ["run -", "check -"])
def test_a_program_from_a_closed_stdin_is_usage(words):
    done = shell(f"{CSANDBOX} {words} <&-")
    assert (done.returncode, done.stderr) == (2, "csandbox: cannot read stdin: it is closed\n")


@pytest.mark.parametrize("command", ["check", "run"])
@pytest.mark.parametrize(
    ("name", "env", "shown"),
    [
        (b"\xff.py", {}, "\\xff.py"),
        ("é.py".encode(), {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, "é.py"),
    ],
)
def test_a_file_name_that_is_no_text_of_the_locale(command, name, env, shown, tmp_path):
    """Python gives such bytes to us as lone surrogates; they are shown, not stumbled over."""
    path = os.fsencode(tmp_path) + b"/" + name
    with open(path, "wb") as file:
        file.write(b"import socket\n")
    done = subprocess.run(
        [sys.executable, "-m", "csandbox", command, path],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **env},
        timeout=120,
    )
    said = (done.stdout + done.stderr).decode()
    assert done.returncode == 1, said
    assert f"{tmp_path}/{shown}:1:8" in said
    assert "CSB101" in said
    assert "Traceback" not in said


def test_a_stream_whose_encoding_lacks_a_character(tmp_path):
    (tmp_path / "a.py").write_text("import ö, socket\n")
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = shell(f"{CSANDBOX} check '{tmp_path}/a.py'", env=env)
    assert done.returncode == 1
    assert "import \\xf6, socket" in done.stdout


GONE = "mkdir gone && cd gone && rmdir ../gone && "


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("run FILE", 0, ""),
        ("check FILE", 0, "nothing to refuse"),
        ("run a.py", 2, "a.py: cannot be read"),
        ("run FILE --profile ./mine.toml", 2, "profile is relative"),
        ("run FILE --python python3", 2, "python is relative"),
        ("check FILE --profile ./mine.toml", 2, "profile is relative"),
    ],
)
def test_the_current_folder_was_removed(words, code, message, tmp_path):
    (tmp_path / "file.py").write_text("print(1)")
    words = words.replace("FILE", str(tmp_path / "file.py"))
    done = shell(f"{GONE}{CSANDBOX} {words}", cwd=tmp_path)
    assert (done.returncode, message in done.stderr) == (code, True), done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "--memory", "9" * 5000, "PROGRAM"], "too large"),
        (["run", "--cpu", "9" * 5000, "PROGRAM"], "too large"),
        (["run", "--cpu", "x" * 5000, "PROGRAM"], "is not a time"),
        (["run", "--file", "a=PROGRAM", "--file", "a=PROGRAM", "PROGRAM"], "one name"),
        (["run", "--profile", "a\ud800.toml", "PROGRAM"], "surrogate"),
        (["run", "--profile", "computer" * 9000, "PROGRAM"], "no built-in profile"),
        (["explain", "CSB" * 30_000], "no code"),
        (["call", "--adapt", "9" * 5000 + "=ListNode", "PROGRAM", "f"], "csandbox: "),
    ],
)
def test_huge_words_are_usage_at_once(words, message, program, capfd):
    """In this process, so that a word can be longer and odder than exec(2) lets it be."""
    from csandbox._cli import main

    path = str(program("print(1)"))
    try:
        code = main([word.replace("PROGRAM", path) for word in words])
    except SystemExit as end:
        code = end.code
    err = capfd.readouterr().err
    assert code == 2, err
    assert message in err
    assert "Traceback" not in err


def test_a_defect_of_ours_is_three_and_not_a_judgement(program):
    script = (
        "import sys, csandbox._cli as cli, csandbox._cli.run as run\n"
        "def fail(*a, **k): raise KeyError('ours')\n"
        "run.run = fail\n"
        f"sys.exit(cli.main(['run', {str(program('print(1)'))!r}]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 3
    assert "KeyError: 'ours'" in done.stderr  # whoever reports it needs the place
    assert "says nothing about the code" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    "words", ["run -", "check -", "run FILE", "run FILE --stdin /dev/zero", "run /dev/zero"]
)
def test_what_never_ends_does_not_fill_memory(words, tmp_path):
    (tmp_path / "a.py").write_text("print(1)")
    line = f"ulimit -v 4000000; {CSANDBOX} {words} </dev/zero"
    done = shell(line.replace("FILE", str(tmp_path / "a.py")))
    assert done.returncode == 2
    assert done.stderr.endswith(": larger than 256 MiB\n")


def test_a_small_program_is_read_with_little_memory(tmp_path):
    (tmp_path / "a.py").write_text("print(1)")
    done = shell(f"ulimit -v 200000; {CSANDBOX} check '{tmp_path}/a.py'")
    assert done.returncode == 0, done.stderr
