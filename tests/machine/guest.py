"""What is checked inside the emulated machine; started by its pid 1, talks to the console.

Prints `CSB ok NAME` or `CSB FAIL NAME: why` a check, the end of what pytest printed, and last
`CSB END failed=N`. tools/test_kernels.py reads that.
"""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

os.environ["PYTHONPATH"] = "/csandbox"
os.environ["CSANDBOX_TEST_EMULATED"] = "1"
sys.path.insert(0, "/csandbox")

import csandbox
from csandbox import _core, _selftest

STRANGER = 1000
COMMAND_LINE = dict(word.partition("=")[::2] for word in Path("/proc/cmdline").read_text().split())
EXPECTED_ABI = int(COMMAND_LINE["csb.abi"])
SUBSET = COMMAND_LINE.get("csb.pytest", "").split(",")
AS_ROOT = COMMAND_LINE.get("csb.pytest_root", "").split(",")
CGROUPS = Path("/sys/fs/cgroup")
DELEGATED = CGROUPS / "delegated"
CLONE_SWITCH = Path("/proc/sys/kernel/unprivileged_userns_clone")

failed: list[str] = []


def say(text: str) -> None:
    print(f"CSB {text}", flush=True)


def check(function: Callable[[], str | None]) -> None:
    """Run one check and say how it went."""
    try:
        said = function()
    except Exception as error:  # every failure is a line of the report
        failed.append(function.__name__)
        say(f"FAIL {function.__name__}: {type(error).__name__}: {error}")
        traceback.print_exc(file=sys.stdout)
    else:
        say(f"ok {function.__name__}{': ' + said if said else ''}")


# Into the delegated subtree while still root, then the user.
ENTER = f"""
import os, sys
user = int(sys.argv[1])
if user:
    open("{DELEGATED}/main/cgroup.procs", "w").write("0")
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
os.execv(sys.argv[2], sys.argv[2:])
"""


def as_user(user: int, *command: str) -> list[str]:
    """The command that runs another one as that user."""
    return [sys.executable, "-B", "-c", ENTER, str(user), *command]


def as_stranger(code: str) -> str:
    """Run Python code as an unprivileged user; its output."""
    done = subprocess.run(
        as_user(STRANGER, sys.executable, "-B", "-c", code),
        cwd="/tmp",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def delegate() -> str:
    """A subtree as a service manager would hand it out: ours, with our process in a leaf of it."""
    (CGROUPS / "cgroup.subtree_control").write_text("+memory +pids")
    (DELEGATED / "main").mkdir(parents=True)
    for folder in (DELEGATED, DELEGATED / "main"):
        os.chown(folder, STRANGER, STRANGER)
        for name in ("cgroup.procs", "cgroup.subtree_control", "cgroup.threads"):
            os.chown(folder / name, STRANGER, STRANGER)
    offered = (DELEGATED / "cgroup.controllers").read_text().strip()
    assert {"memory", "pids"} <= set(offered.split()), offered
    return offered


DEGRADED: tuple[str, ...] = () if EXPECTED_ABI else ("landlock",)
PRINT = (
    "import csandbox\n"
    # The guard's time (250 ms of CPU time for a small source) is not meant for a processor that is
    # emulated and sees its code for the first time.
    "for _ in range(20):\n"
    "    r = csandbox.run('print(6 * 7)', profile='open', limits=dict(startup_s=300),"
    f" allow_degraded={DEGRADED!r}, namespaces={{0}})\n"
    "    if r.verdict != 'rejected': break\n"
    "assert r.stdout == '42\\n', (r.verdict, r.stderr, r.diagnostics)\n"
    "print(r.isolation['namespaces'])\n"
    "assert r.isolation['cgroup'].startswith('enforced'), r.isolation"
)


def patient_run(source: str, **options: object) -> csandbox.Result:
    """As in PRINT: again when the guard had no time."""
    for _ in range(20):
        result = csandbox.run(source, **options)  # type: ignore[arg-type]
        if result.verdict != "rejected":
            break
    return result


def landlock_version() -> str:
    """The kernel has the ABI that its version promises."""
    detail = str(_core.probe()["landlock"]["detail"])
    if EXPECTED_ABI < 0:  # a kernel that is newer than this list
        return detail
    assert detail.split()[1].rstrip(";") == str(EXPECTED_ABI), detail
    return detail


def features() -> str:
    """Every layer, for the report."""
    for name, data in _core.probe().items():
        say(f"   {name}: {'yes' if data['available'] else 'no'}; {data['detail']}")
    return f"Linux {os.uname().release}, Python {sys.version.split()[0]}"


def a_required_layer_is_missing() -> str | None:
    """Without Landlock nothing starts unless the caller says so."""
    if EXPECTED_ABI:
        return "not on this kernel: Landlock is there"
    try:
        csandbox.run("print(1)")
    except csandbox.UnsupportedError as error:
        assert error.feature == "landlock"
        return str(error)
    raise AssertionError("a run without Landlock was not refused")


def run_as_root() -> str:
    """One program, and every layer by name."""
    result = patient_run(
        "print(6 * 7)", profile="open", allow_degraded=DEGRADED, limits={"startup_s": 300}
    )
    assert (result.stdout, result.verdict) == ("42\n", "accepted"), result.stderr
    assert result.isolation["cgroup"].startswith("enforced"), result.isolation["cgroup"]
    for name, state in result.isolation.items():
        say(f"   {name}: {state}")
    return f"{result.usage.wall_s:.2f} s"


def run_as_a_user() -> str:
    """The same without any privilege, namespaces included."""
    state = as_stranger(PRINT.format("'auto'"))
    assert state.startswith("enforced"), state
    return state


def namespaces_refused() -> str:
    """Debian's switch is found out and named; "require" fails closed."""
    if not CLONE_SWITCH.exists():
        return "no such switch here"
    CLONE_SWITCH.write_text("0")
    try:
        state = as_stranger(PRINT.format("'auto'"))
        assert state == "off: kernel.unprivileged_userns_clone=0", state
        refused = as_stranger(
            "import csandbox\n"
            f"try: csandbox.run('1', namespaces='require', allow_degraded={DEGRADED!r})\n"
            "except csandbox.UnsupportedError as error: print(error.feature, error)"
        )
        assert refused.startswith("namespaces "), refused
    finally:
        CLONE_SWITCH.write_text("1")
    return state


#: What no other layer stops.
LANDLOCKS = {
    "read a file of the host",
    "list the root folder",
    "write outside the scratch folder",
}


def attacks() -> str:
    """The self-test of `csandbox doctor`."""
    held = 0
    # Emulation is slow: the usual limits would stop every attempt before its layer does.
    _selftest._LIMITS = csandbox.Limits(cpu_s=300, wall_s=300, startup_s=300)
    _selftest.run = patient_run
    chosen = [a for a in _selftest.ATTEMPTS if a.name.split()[0] not in ("loop", "sleep", "eat")]
    for finding in _selftest.self_test(chosen, allow_degraded=DEGRADED):
        expected = finding.held or (DEGRADED and finding.name in LANDLOCKS)
        if not finding.held:
            say(f"   not held: {finding.name}: {finding.how}")
        assert expected, finding.name
        say(f"   {finding.name}: {finding.how}")
        if finding.result.verdict == "rejected":  # by nothing that this is about
            say(f"   {finding.result.diagnostics}")
            failed.append(finding.name)
        held += finding.held
    return f"{held} attempts stopped"


def tests_as(user: int, chosen: list[str]) -> str:
    """The pytest files named on the kernel's command line; "-warm" is pytest's -k "not warm"."""
    words = [word for word in chosen if word]
    if not words:
        return "none chosen"
    left_out = " and ".join(f"not {word[1:]}" for word in words if word[0] == "-")
    pytest = [sys.executable, "-B", "-m", "pytest", "-q", "--no-header", "--tb=short"]
    pytest += ["-p", "no:cacheprovider", "-p", "tests.machine.told"]
    pytest += [word for word in words if word[0] != "-"] + (["-k", left_out] if left_out else [])
    os.environ["CSANDBOX_TEST_DEGRADED"] = " ".join(DEGRADED)
    console = os.dup(1)
    os.environ["CSANDBOX_TEST_CONSOLE"] = str(console)
    done = subprocess.run(
        as_user(user, *pytest), stdout=subprocess.DEVNULL, pass_fds=[console], check=False
    )
    os.close(console)
    assert done.returncode == 0, f"pytest ended with {done.returncode}"
    return " ".join(words)


def tests_as_root() -> str:
    return tests_as(0, AS_ROOT)


def tests_as_a_user() -> str:
    return tests_as(STRANGER, SUBSET)


def main() -> None:
    """All checks, in an order in which the first ones explain the others."""
    for function in (
        delegate,
        features,
        landlock_version,
        a_required_layer_is_missing,
        run_as_root,
        run_as_a_user,
        namespaces_refused,
        attacks,
        tests_as_root,
        tests_as_a_user,
    ):
        check(function)
    say(f"END failed={len(failed)}")


main()
