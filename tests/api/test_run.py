"""``run`` as a user calls it: what a program sees, and how its end is told."""

import json
import os
import pickle
import subprocess
import sys

import pytest

import csandbox
from csandbox import OutcomeError, RejectedError, Report, Result
from csandbox._schema import FEATURES


def out(code, **keywords):
    """What the program prints; it must be accepted."""
    result = csandbox.run(code, **keywords)
    assert result.ok, (result, result.stderr)
    return result.stdout


def test_the_first_example():
    result = csandbox.run("print(6*7)")
    assert isinstance(result, Result)
    assert (result.ok, result.verdict, result.exit_code) == (True, "accepted", 0)
    assert (result.stdout, result.stdout_bytes, result.stderr) == ("42\n", b"42\n", "")
    assert result.usage.cpu_s > 0
    assert result.usage.wall_s > 0
    assert result.usage.peak_memory_bytes < 1 << 20  # what it adds to an idle interpreter
    assert result.profile == "compute"
    assert json.loads(json.dumps(result.to_dict()))["stdout"] == "42\n"
    assert pickle.loads(pickle.dumps(result)) == result


def test_every_layer_is_enforced_and_reported():
    result = csandbox.run("pass")
    assert set(result.isolation) == set(FEATURES)
    features = csandbox.probe()
    for name, state in result.isolation.items():
        there = features[name].available or not features[name].optional
        assert state.startswith("enforced" if there else "off: "), (name, state)


@pytest.mark.parametrize("profile", csandbox.Profile.builtin())
def test_every_builtin_profile_runs(profile):
    assert out("print(sum(range(10)))", profile=profile) == "45\n"


@pytest.mark.parametrize(
    "source", ["print('é')", "print('é')".encode(), b"\xef\xbb\xbfprint('\xc3\xa9')"]
)
def test_source_as_text_or_bytes(source):
    assert out(source) == "é\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_newlines_of_every_kind(newline):
    assert out(newline.join(["x = '''a", "b'''", "print(repr(x))"])) == "'a\\nb'\n"


def test_stdin_in_all_its_forms():
    assert out("print(input(), input())", stdin="a\nb") == "a b\n"
    assert out("import sys; print(sys.stdin.buffer.read())", stdin=b"\x00\xff") == "b'\\x00\\xff'\n"
    assert out("import sys; print([*sys.stdin])", stdin="é\n2\n") == "['é\\n', '2\\n']\n"
    assert out("print(open(0).read())", stdin="x") == "x\n"
    assert out("import sys; print(repr(sys.stdin.read()))") == "''\n"
    large = "x" * 3_000_000
    assert out("import sys; print(len(sys.stdin.read()))", stdin=large) == "3000000\n"


def test_stdin_that_nobody_reads_blocks_nothing():
    assert out("print(1)", stdin=b"x" * 5_000_000) == "1\n"


def test_arguments_and_name():
    code = "import sys; print(sys.argv, __name__); print('__file__' in globals())"
    assert out(code, args=["a", "é b", ""], filename="x/y.py") == (
        "['x/y.py', 'a', 'é b', ''] __main__\nFalse\n"
    )


def test_environment_is_the_profiles_and_the_runs_only(monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "tell-nobody")
    code = "import os; print(dict(os.environ))"
    seen = eval(out(code, env={"MINE": "é"}))
    assert seen["MINE"] == "é"
    assert seen["LANG"] == "C.UTF-8"
    assert "tell-nobody" not in seen.values()
    assert set(seen) <= {
        "MINE", "HOME", "TMPDIR", *csandbox.Profile.load("compute").env, "LC_CTYPE",
    }  # fmt: skip


def test_files_are_in_the_working_folder():
    code = "print(open('a.txt').read(), open('d/e/b.bin', 'rb').read())"
    assert out(code, files={"a.txt": "é", "d/e/b.bin": b"\xff"}) == "é b'\\xff'\n"


def test_scratch_is_private_and_gone_afterwards(tmp_path):
    code = (
        "import os, tempfile\n"
        "open('x', 'w').write('y'); os.mkdir('d'); os.symlink\n"
        "with tempfile.NamedTemporaryFile('w') as f: f.write('z')\n"
        "print(os.getcwd(), os.listdir())"
    )
    folder, _, listing = out(code).partition(" ")
    assert listing == "['x', 'd']\n" or listing == "['d', 'x']\n"
    assert not os.path.exists(folder)


def test_exit_codes_are_cpythons():
    for code, expected, err in (
        ("raise SystemExit", 0, ""),
        ("import sys; sys.exit(3)", 3, ""),
        ("import sys; sys.exit('bye')", 1, "bye\n"),
        ("exit(4)", 4, ""),
        ("import os; os._exit(5)", 5, ""),
    ):
        result = csandbox.run(code, profile="open")
        assert (result.exit_code, result.stderr) == (expected, err), code
        assert result.ok == (expected == 0)
        assert result.verdict == ("accepted" if expected == 0 else "runtime_error")


def test_traceback_is_the_programs_own():
    result = csandbox.run("import json\ndef f():\n    return 1/0\n\nf()", filename="my.py")
    assert result.verdict == "runtime_error"
    assert result.code == "CSR001"
    lines = result.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1] == '  File "my.py", line 5, in <module>'
    assert '  File "my.py", line 3, in f' in lines
    assert lines[-1] == "ZeroDivisionError: division by zero"
    assert "csandbox" not in result.stderr


def test_traceback_equals_that_of_plain_python(tmp_path):
    import subprocess

    code = "import json\ndef f(x):\n    return json.loads(x)\n\nprint('a')\nf('{')\n"
    path = tmp_path / "p.py"
    path.write_text(code)
    plain = subprocess.run(
        [csandbox._interpreter.interpreter().executable, "-I", "-S", str(path)],
        capture_output=True,
        text=True,
    )
    ours = csandbox.run(code, filename=str(path))
    assert (ours.stdout, ours.stderr, ours.exit_code) == (
        plain.stdout, plain.stderr, plain.returncode,
    )  # fmt: skip


@pytest.mark.parametrize(("number", "name"), [(11, "SIGSEGV"), (6, "SIGABRT"), (15, "SIGTERM")])
def test_a_signal_is_named(number, name):
    result = csandbox.run(f"import os; os.kill(os.getpid(), {number})", profile="open")
    assert (result.verdict, result.signal, result.exit_code) == ("runtime_error", number, None)
    assert result.signal_name == name
    assert name in result.summary()


def test_syntax_error_is_a_compile_error_and_nothing_runs():
    result = csandbox.run("print('ran')\nprint(1\n")
    # Both opinions: the finding of the parser, and what CPython itself says and ends with.
    assert (result.verdict, result.stdout, result.exit_code) == ("compile_error", "", 1)
    assert result.code == "CSR003"
    assert result.diagnostics[0].code == "CSB001"
    assert result.stderr.splitlines()[-1].startswith("SyntaxError: ")


def test_what_the_guard_refuses_is_not_run():
    result = csandbox.run("print('ran')\nimport socket\n")
    assert (result.verdict, result.stdout) == ("rejected", "")
    assert [d.code for d in result.diagnostics] == ["CSB101"]
    assert result.diagnostics[0].line == 2
    assert isinstance(result.report, Report)
    assert "socket" in str(result.report)
    assert result.usage.cpu_s == 0
    assert dict(result.isolation) == {}


def test_check_raises():
    assert csandbox.run("print(1)", check=True).ok
    with pytest.raises(OutcomeError, match="exit code 1") as caught:
        csandbox.run("1/0", check=True)
    assert "ZeroDivisionError" in caught.value.result.stderr
    with pytest.raises(RejectedError) as refused:
        csandbox.run("import socket", check=True)
    assert refused.value.report.diagnostics
    assert isinstance(refused.value, OutcomeError)
    assert pickle.loads(pickle.dumps(refused.value)).result.verdict == "rejected"


def test_integrity_holds_where_the_guard_is_off():
    assert csandbox.run("import socket", profile="open").ok
    result = csandbox.run(b"# coding: latin-1\nprint('\xe9')", profile="open")
    assert result.verdict == "rejected"
    assert result.diagnostics[0].code == "CSB004"


def test_observing_profile_runs_and_reports():
    result = csandbox.run("import socket\nprint(1)", profile="agent")
    assert (result.verdict, result.stdout) == ("accepted", "1\n")
    assert [d.severity for d in result.diagnostics if d.code == "CSB101"] == ["observed"]


def test_threads_asyncio_and_deep_recursion():
    assert (
        out(
            "import threading\nx = []\n"
            "ts = [threading.Thread(target=x.append, args=(i,)) for i in range(8)]\n"
            "[t.start() for t in ts]; [t.join() for t in ts]; print(sorted(x))"
        )
        == str(list(range(8))) + "\n"
    )
    assert (
        out(
            "import asyncio\nasync def f():\n    await asyncio.sleep(0.01)\n    return 1\n"
            "print(asyncio.run(f()))"
        )
        == "1\n"
    )
    recursive = (
        "import sys\nsys.setrecursionlimit(50000)\n"
        "def f(n): return 0 if n == 0 else 1 + f(n - 1)\nprint(f(20000))"
    )
    assert out(recursive, profile="contest") == "20000\n"
    stacked = (
        "import sys, threading\nsys.setrecursionlimit(10**6)\nthreading.stack_size(2**27)\n"
        "def f(n): return 0 if n == 0 else 1 + f(n - 1)\n"
        "t = threading.Thread(target=lambda: print(f(50000)))\nt.start(); t.join()"
    )
    assert out(stacked, profile="contest") == "50000\n"


def test_a_package_that_is_not_named_is_not_there():
    code = (
        "import importlib.util\n"
        "try:\n    import pytest\nexcept ModuleNotFoundError as error:\n    print(error)\n"
        "print(importlib.util.find_spec('pytest'))"
    )
    assert out(code, profile="open") == (
        "No module named 'pytest' in profile open (csandbox explain CSB101)\nNone\n"
    )


@pytest.mark.parametrize("name", ["numpy", "scipy", "sympy", "pandas", "matplotlib.pyplot"])
def test_numeric_packages_work_when_installed(name):
    pytest.importorskip(name.partition(".")[0])
    code = {
        "numpy": "import numpy as n; print(int(n.linalg.inv(n.eye(3)).sum()))",
        "scipy": "import scipy.optimize as o; print(round(o.brentq(lambda x: x - 3, 0, 9)))",
        "sympy": "import sympy; print(sympy.integrate('3*x**2', ('x', 0, 1)) + 2)",
        "pandas": "import pandas as p; print(p.DataFrame({'a': [1, 2]})['a'].sum())",
        "matplotlib.pyplot": "import matplotlib.pyplot as p; p.plot([1]); p.savefig('x'); print(3)",
    }[name]
    assert out(code, limits={"cpu_s": 30}) == "3\n"


def test_another_interpreter():
    assert out("import sys; print(sys.version_info[:2])", python=sys.executable) == (
        f"{sys.version_info[:2]}\n"
    )


def test_a_profile_of_the_callers_own():
    profile = csandbox.Profile.load("minimal").replace(
        name="mine", guard={"imports": {"extend_allow": ["csv"]}}, env={"A": "b"}
    )
    result = csandbox.run("import csv; print(1)", profile=profile)
    assert (result.ok, result.profile) == (True, "mine")


def test_a_layer_that_may_be_missing_but_is_there_is_enforced():
    result = csandbox.run("print(1)", allow_degraded={"landlock"})
    assert result.ok
    assert result.isolation["landlock"].startswith("enforced")


# A host that is itself under a seccomp listener, as in some containers: the kernel allows one.
UNDER_A_LISTENER = """
import ctypes, platform, struct
import csandbox
libc = ctypes.CDLL(None, use_errno=True)
code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000))
program = struct.pack("HxxxxxxP", 1, ctypes.addressof(code))
number = {"x86_64": 317, "aarch64": 277}[platform.machine()]
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.syscall(number, 1, 8, program) >= 0
try:
    csandbox.run("print(1)", profile="open")
except csandbox.UnsupportedError as error:
    print(error.feature)
result = csandbox.run(
    "import os; print('ran'); os.fork()", profile="open", allow_degraded={"seccomp_notify"}
)
print(result.verdict, result.stdout.strip(), "PermissionError" in result.stderr)
print(result.isolation["seccomp"], result.isolation["seccomp_notify"].partition(":")[0])
"""


def test_only_the_callers_choice_weakens_and_the_result_says_so():
    done = subprocess.run(
        [sys.executable, "-c", UNDER_A_LISTENER], capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines() == [
        "seccomp_notify",
        "runtime_error ran True",
        "enforced degraded",
    ], done.stderr


def test_output_that_is_not_utf8():
    result = csandbox.run("import sys; sys.stdout.buffer.write(b'a\\xffb')")
    assert (result.stdout, result.stdout_bytes) == ("a\ufffdb", b"a\xffb")
    assert not result.stdout_truncated


def test_large_output_below_the_limit_is_complete():
    result = csandbox.run(
        "import sys; sys.stdout.write('é' * 2_000_000); print('e', file=sys.stderr)"
    )
    assert result.stdout == "é" * 2_000_000
    assert result.stderr == "e\n"
    assert result.stdout_total_bytes == 4_000_000


def test_no_folder_for_temporary_files_is_the_sandboxs_failure(monkeypatch):
    import tempfile

    def none() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found")

    csandbox._policy.clear_caches()
    monkeypatch.setattr(tempfile, "gettempdir", none)
    with pytest.raises(csandbox.SetupError, match="set TMPDIR") as caught:
        csandbox.run("print(1)")
    assert (caught.value.step, caught.value.errno) == ("scratch", 2)
