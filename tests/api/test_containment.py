"""Forbidden things, tried for real without the guard: each must be stopped by the kernel."""

import os

import pytest

import csandbox
from csandbox._selftest import ATTEMPTS, EFFECT, Attempt, self_test

pytestmark = pytest.mark.both_modes


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt.name.replace(" ", "-"))
def test_attempt_is_stopped(attempt):
    (finding,) = self_test([attempt])
    assert finding.held, (finding, finding.result.stdout, finding.result.stderr)


def test_the_self_test_can_fail():
    (finding,) = self_test([Attempt("print", f"print({EFFECT!r})")])
    assert not finding.held
    (finding,) = self_test([Attempt("no loop", "pass", "time_limit")])
    assert not finding.held
    assert finding.how.startswith("accepted")


@pytest.mark.parametrize(
    "attempt",
    [a for a in ATTEMPTS if a.limit is None and "written" not in a.body and "chmod" not in a.body],
    ids=lambda attempt: attempt.name.replace(" ", "-"),
)
def test_each_attempt_says_effect_when_nothing_holds(attempt):
    """An attempt that could never succeed would prove nothing: it must name its effect."""
    assert EFFECT in attempt.body
    compile(attempt.body, attempt.name, "exec")


def test_denials_are_counted_and_named():
    code = (
        "import socket\n"
        "for _ in range(3):\n"
        "    try: socket.socket()\n"
        "    except PermissionError: pass\n"
    )
    result = csandbox.run(code, profile="open")
    assert result.ok
    assert [(v["syscall"], v["count"]) for v in result.violations] == [("socket", 3)]


def test_on_denied_kill_is_a_verdict():
    profile = csandbox.Profile.load("open").replace(syscalls={"on_denied": "kill"})
    result = csandbox.run("import socket; socket.socket(); print('on')", profile=profile)
    assert (result.verdict, result.code) == ("security_violation", "CSR040")
    assert "on" not in result.stdout


def test_read_names_a_path_of_the_host(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "x").write_text("readable")
    (tmp_path / "secret").write_text("not readable")
    for path in (tmp_path, *tmp_path.parents):
        if path.stat().st_uid == os.getuid() and path != path.parent:
            path.chmod(path.stat().st_mode | 0o055) if str(path).startswith("/tmp/") else None
    profile = csandbox.Profile.load("open").replace(files={"read": [str(tmp_path / "data")]})
    code = f"print(open({str(tmp_path / 'data' / 'x')!r}).read())"
    assert csandbox.run(code, profile=profile).stdout == "readable\n"
    assert not csandbox.run(code, profile="open").ok
    code = f"print(open({str(tmp_path / 'secret')!r}).read())"
    assert "PermissionError" in csandbox.run(code, profile=profile).stderr
    code = f"open({str(tmp_path / 'data' / 'x')!r}, 'w')"
    assert "PermissionError" in csandbox.run(code, profile=profile).stderr


def test_read_of_a_path_that_is_not_there_is_an_error():
    profile = csandbox.Profile.load("open").replace(files={"read": ["/no/such/data"]})
    with pytest.raises(csandbox.ProfileError, match="/no/such/data") as caught:
        csandbox.run("print(1)", profile=profile)
    assert caught.value.key == "files.read"


def test_runs_do_not_see_each_other():
    code = (
        "import os\nprint(os.listdir('.'), os.path.exists(PREVIOUS))\n"
        "open('mine', 'w').write('x')\nprint(os.getcwd())"
    )
    first = csandbox.run("PREVIOUS = '/nowhere'\n" + code).stdout.splitlines()
    second = csandbox.run(f"PREVIOUS = {first[1] + '/mine'!r}\n" + code).stdout.splitlines()
    assert first[0] == second[0] == "[] False"
    assert first[1] != second[1]
